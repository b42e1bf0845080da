/** Pages from the vault to the files a transaction reads: normalised rows, rejects, and the state that goes with them. */
import { hash } from "node:crypto"
import { at as valueAt, parseExact } from "../catalog/body.ts"
import type { Resource } from "../catalog/resource.ts"
import type { Decoded, PageEntry } from "../vault/frame.ts"
import { type Normalise, type Normalised, normaliserOf, wellFormed } from "./normalise.ts"

/** What one transaction takes in for one resource of one location, in lines of NDJSON. */
export interface Group {
  readonly resource: Resource
  readonly location: string
  readonly run: string
  readonly kind: PageEntry["kind"]
  /** When the last page came, epoch milliseconds. */
  at: number
  pages: number
  records: number
  rejectedValueCount: number
  rejectedRecordCount: number
  readonly rows: Array<string>
  readonly parents: Array<string>
  readonly rejectedValues: Array<string>
  readonly rejectedRecords: Array<string>
}

export class Spool {
  readonly groups = new Map<string, Group>()
  private readonly resourceByTable: ReadonlyMap<string, Resource>
  private readonly normaliserByTable = new Map<string, Normalise>()
  private lines = 0

  constructor(resources: ReadonlyArray<Resource>) {
    this.resourceByTable = new Map(resources.map((resource) => [resource.table, resource]))
  }

  /** Pages of a resource whose definition is gone stay in the vault and are passed over. */
  add(entry: PageEntry, body: string): void {
    const resource = this.resourceByTable.get(entry.resource)
    if (!resource) return
    const group = this.groupOf(resource, entry)
    const found = body === "" ? [] : valueAt(parseExact(body, entry.long), entry.records)
    const records = Array.isArray(found) ? found : found === undefined || found === null ? [] : [found]
    const normalise = this.normaliserOf(resource)
    const results = records.map((record) => normalise(record, { location: entry.location, parent: entry.parent?.id }))
    group.pages++
    group.records += records.length
    group.at = entry.at
    for (const result of results) this.addRow(group, result)
    if (entry.parent)
      group.parents.push(
        JSON.stringify({
          parent_id: entry.parent.id,
          parent_state: entry.parent.state,
          content_hash: results.length === 1 && results[0]?.row ? results[0].hash : hash("sha256", body),
          fetched_ms: entry.at,
          _n: this.lines++
        })
      )
  }

  private addRow(group: Group, { row, hash: fingerprint, id, rejectedValues, rejectedRecords }: Normalised): void {
    const n = this.lines++
    if (row !== undefined) group.rows.push(`{"_n":${n},"_at":${group.at},"_row_hash":"${fingerprint}",${row.slice(1)}`)
    for (const value of rejectedValues) group.rejectedValues.push(wellFormed({ ...value, id, _n: n }))
    for (const record of rejectedRecords) group.rejectedRecords.push(wellFormed(record))
    group.rejectedValueCount += rejectedValues.length
    group.rejectedRecordCount += rejectedRecords.length
  }

  private groupOf(resource: Resource, { location, run, kind, at }: PageEntry): Group {
    const key = JSON.stringify([resource.table, location, run, kind])
    const known = this.groups.get(key)
    if (known) return known
    const group: Group = {
      resource,
      location,
      run,
      kind,
      at,
      pages: 0,
      records: 0,
      rejectedValueCount: 0,
      rejectedRecordCount: 0,
      rows: [],
      parents: [],
      rejectedValues: [],
      rejectedRecords: []
    }
    this.groups.set(key, group)
    return group
  }

  private normaliserOf(resource: Resource): Normalise {
    const known = this.normaliserByTable.get(resource.table) ?? normaliserOf(resource)
    this.normaliserByTable.set(resource.table, known)
    return known
  }
}

/** Last state of each pass, and the ends, among frames in their order. */
export const statesOf = (frames: ReadonlyArray<Decoded>) => {
  const passes = new Map<string, PageEntry>()
  const ends = []
  for (const { entry } of frames) {
    if (entry.kind === "end") {
      ends.push(entry)
      for (const [key, pass] of passes)
        if (pass.resource === entry.resource && pass.location === entry.location) passes.delete(key)
    } else if (!entry.parent) passes.set(JSON.stringify([entry.location, entry.resource, entry.pass]), entry)
  }
  return { passes: [...passes.values()], ends }
}
