/** A batch of the vault made ready: files that DuckDB reads and the statements that take them in. */
import { Effect } from "effect"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Resource, backfillOf, embeddedResourcesOf } from "../catalog/resource.ts"
import { idColumn, tablesOf } from "../catalog/tables.ts"
import { isComplete } from "../values/status.ts"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import type { EndEntry, Entry, WindowEntry } from "../vault/entry.ts"
import type { Decoded } from "../vault/frame.ts"
import type { Position } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import { positionStatements } from "../warehouse/meta/vault-offset.ts"
import { addWindow } from "../warehouse/meta/backfilled-windows.ts"
import { deleteCheckpoints, replaceCheckpoint } from "../warehouse/meta/checkpoints.ts"
import { addCounts, ensureRow, setEnd, setFinished } from "../warehouse/meta/run-resources.ts"
import { deleteSeenKeys } from "../warehouse/meta/seen-keys.ts"
import { advanceWatermark } from "../warehouse/meta/watermarks.ts"
import { literal, name } from "../warehouse/sql.ts"
import { type Statement, Warehouse } from "../warehouse/warehouse.ts"
import { wellFormed } from "./normalise/convert.ts"
import { driftStatements, blockedStatements, writeDrift } from "./merge/schema-drift.ts"
import { deletedStatements } from "./merge/deletions.ts"
import { NdjsonFile, readNdjson } from "./ndjson-file.ts"
import { mergeStatements } from "./merge/merge.ts"
import { rejectStatements } from "./merge/rejects.ts"
import { type Group, type Loaded, StagingFiles } from "./staging-files.ts"
import { dropStage } from "./merge/staging-table.ts"
import { type Partition, statesOf } from "./checkpoints.ts"

export interface Batch {
  /** Rows first; the last one carries the state of all, so that an interruption only makes some rows come again. */
  readonly transactions: ReadonlyArray<ReadonlyArray<Statement>>
  /** Place in the vault behind it. */
  readonly next: Position
  /** What it takes of the vault. */
  readonly bytes: number
}

/**
 * Tables of one transaction, child tables among them: each costs DuckDB a megabyte or two until it is committed, however
 * few its rows.
 */
const tablesMax = 12
/** Of one transaction: enough to fill whole row groups. */
const batchBytesMax = 24 * 1024 * 1024
const batchRecordsMax = 50_000

/** Raw bytes of one transaction, by what DuckDB may hold, MB: reading lines takes 32 MB of it, staged rows, with their child rows, four times their size. */
const batchBytes = (memoryMb: number) => Math.min(batchBytesMax, Math.max(1, (memoryMb - 40) / 8) * 1024 * 1024)

/** Of rows whose unknown fields are brought together at a time: as a map they take some fifty times the text. */
const sliceBytes = 512 * 1024

/** Raw bytes of it in memory at a time, twice over: as they are and parsed. */
const readBytes = 1024 * 1024

/** Asked before each reading, with its place and the bytes in the batch: waits until there is more, or ends the batch. */
export type ShouldContinue = (place: Position, bytes: number) => Effect.Effect<boolean>

/** Reads and normalises what stands at a place of the vault; `undefined` where there is no more. */
export const prepareBatch = Effect.fn("load.prepare")(function* (
  loaded: Loaded,
  temporary: string,
  from: Position,
  more: ShouldContinue
): Effect.fn.Return<Batch | undefined, Failure, Vault | Warehouse> {
  const { resources, policies } = loaded
  const vault = yield* Vault
  const bytesMax = batchBytes((yield* Warehouse).memoryMb)
  const write = <A>(work: () => Promise<A>) => onDisk(temporary, "written", work)
  const staging = new StagingFiles(loaded, temporary)
  const entries: Array<Entry> = []
  // What was found to be gone may come back later: nothing after it is taken in with it.
  let deletion: Decoded | undefined
  let [next, bytes] = [from, 0]
  /** Details meet the whole row that is there, so each is in memory two or three times more. */
  let detailBytes = 0
  while (
    bytes + 2 * detailBytes < bytesMax &&
    staging.records < batchRecordsMax &&
    !deletion &&
    (yield* more(next, bytes))
  ) {
    const read = yield* vault.read(next, readBytes)
    next = read.next
    if (read.bytes === 0) continue
    if (bytes === 0) yield* write(() => emptied(temporary))
    deletion = read.frames.find(({ entry }) => entry.kind === "deleted")
    const frames = deletion ? read.frames.slice(0, read.frames.indexOf(deletion) + 1) : read.frames
    for (const { entry, ...page } of frames) {
      entries.push(entry)
      if (entry.kind !== "page" && entry.kind !== "detail") continue
      if (entry.kind === "detail") detailBytes += page.body.length
      // Other work must not wait for a whole page: requests are being timed meanwhile.
      for (const _ of staging.add(entry, page)) yield* Effect.yieldNow
      yield* write(() => staging.write())
    }
    next = { ...next, offset: frames.at(-1)!.end }
    bytes += read.bytes - (read.next.offset - next.offset)
  }
  if (bytes === 0) return undefined
  yield* write(() => staging.write(true))
  const groups = [...staging.groups.values()]
  const drift = new NdjsonFile(join(temporary, "drift.ndjson"))
  writeDrift(drift, groups)
  yield* write(() => writeFile(drift.path, drift.take(true), { mode: 0o600 }))
  const { partitions, ends, windows } = statesOf(entries)
  const parts = inTransactions(groups)
  return {
    next,
    bytes,
    transactions: [
      ...parts.slice(0, -1).map((some) => some.flatMap(groupStatements)),
      [
        ...(parts.at(-1) ?? []).flatMap(groupStatements),
        ...(deletion ? deletedStatements(resources, deletion) : []),
        ...namedFields(resources, groups),
        ...groups.flatMap(countStatements),
        ...driftStatements(drift),
        ...groups.flatMap((group) => blockedStatements(group, policies)),
        ...partitions.flatMap(checkpointStatements),
        ...ends.flatMap((end) => [end, ...endsOfEmbedded(resources, end)]).flatMap(endStatements),
        ...windows.flatMap(windowStatements),
        ...positionStatements(next)
      ]
    ].map((statements) => [...statements, ...dropStage])
  }
})

const emptied = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Groups that one transaction takes in. */
const inTransactions = (groups: ReadonlyArray<Group>): ReadonlyArray<ReadonlyArray<Group>> => {
  const transactions: Array<Array<Group>> = []
  let tables = tablesMax
  for (const group of groups) {
    const own = tablesOf(group.resource).length
    if (tables + own > tablesMax) {
      transactions.push([])
      tables = 0
    }
    transactions.at(-1)!.push(group)
    tables += own
  }
  return transactions
}

const groupStatements = (group: Group): ReadonlyArray<Statement> => {
  return [
    ensureRow(group),
    ...(group.rows.length + group.parents.length === 0
      ? []
      : mergeStatements({
          ...group,
          rows: (columns) => readNdjson(group.rows, columns),
          slices: Math.max(1, Math.ceil((group.rows.length * group.rows.longest) / sliceBytes)),
          parents: group.parents.length > 0 ? (columns) => readNdjson(group.parents, columns) : undefined
        })),
    ...rejectStatements(group)
  ]
}

/** Custom values that name their field by its key get its id, as soon as both are here; earlier versions too. */
const namedFields = (resources: ReadonlyArray<Resource>, groups: ReadonlyArray<Group>): ReadonlyArray<string> =>
  resources.flatMap(({ table: parent, wide }) => {
    const concerns = ({ resource: { table } }: Group) => table === parent || table === "custom_fields"
    if (!wide?.byKey || !groups.some(concerns)) return []
    const [field, parentId] = [name(wide.field), name(idColumn(parent))]
    const named = (schema: string, sameVersion: string) => {
      const values = `${schema}.${name(wide.table)}`
      return `UPDATE ${values} AS v SET ${field} = f.id FROM crm.custom_fields AS f
       WHERE v.${field} NOT IN (SELECT id FROM crm.custom_fields)
         AND f.location_id = v.location_id AND f.field_key IN (v.${field}, ${literal(`${wide.model}.`)} || v.${field})
         AND NOT EXISTS (FROM ${values} AS o WHERE o.location_id = v.location_id AND o.${parentId} = v.${parentId} AND o.${field} = f.id${sameVersion})`
    }
    return [named("crm", ""), named("crm_history", " AND o._valid_from = v._valid_from")]
  })

/** Pages and records count where the state is: once. */
const countStatements = (group: Group): ReadonlyArray<string> => [
  addCounts(group, { pages: group.pages, records: group.records, dropped_records: group.droppedCount }),
  setFinished(group, group.at)
]

const checkpointStatements = ({
  reading,
  entry: { location, partition, checkpoint }
}: Partition): ReadonlyArray<string> => [replaceCheckpoint(location, reading, partition, wellFormed(checkpoint))]

const windowStatements = ({ run, location, resource, window }: WindowEntry): ReadonlyArray<string> => [
  deleteCheckpoints(location, backfillOf(resource)),
  addWindow(run, location, resource, window)
]

/** Tables that are read within the pages of another end with it. */
const endsOfEmbedded = (resources: ReadonlyArray<Resource>, { outcome, ...end }: EndEntry): ReadonlyArray<EndEntry> => {
  const { mode, shortfalls, warnings } = outcome
  return embeddedResourcesOf(resources, end.resource).map(({ table }) => ({
    ...end,
    resource: table,
    outcome: { mode, shortfalls, warnings, requests: 0 }
  }))
}

/**
 * A complete reading moves the watermark. An incomplete one leaves it where it is, and its checkpoints too, unless it came
 * to the end of its list. A window of the past says nothing of what is new.
 */
const endStatements = ({ run, location, resource, at, outcome }: EndEntry): ReadonlyArray<string> => {
  const { mode, finished, watermark, total, requests, capabilities } = outcome
  const row = { run, location, label: resource }
  const isRead = isComplete(outcome) && mode !== "window"
  return [
    ensureRow(row),
    setEnd(row, { ...outcome, at }),
    ...(finished || isRead ? [deleteCheckpoints(location, resource), deleteSeenKeys(row)] : []),
    ...(isRead
      ? [
          advanceWatermark({
            location,
            resource,
            at,
            isFull: mode === "full",
            watermark,
            total,
            requests,
            capabilities
          })
        ]
      : [])
  ]
}
