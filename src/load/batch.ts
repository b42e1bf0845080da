/** A batch of the vault made ready: files that DuckDB reads and the statements that take them in. */
import { Effect } from "effect"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Resource, backfillOf, withinOf } from "../catalog/resource.ts"
import { idColumn, tablesOf } from "../catalog/tables.ts"
import { type Failure, diskFailure } from "../failure.ts"
import type { Decoded, EndEntry, Entry, WindowEntry } from "../vault/frame.ts"
import type { Position } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import { positionStatements } from "../warehouse/meta/vault-offset.ts"
import { frozenDoubt } from "../warehouse/runs.ts"
import { instantOf, literal, name } from "../warehouse/sql.ts"
import { type Statement, Warehouse } from "../warehouse/warehouse.ts"
import { wellFormed } from "./convert.ts"
import { driftStatements, frozenStatements, writeDrift } from "./drift.ts"
import { countedIn, goneStatements } from "./gone.ts"
import { Lines, readLines } from "./lines.ts"
import { mergeStatements } from "./merge.ts"
import { rejectStatements } from "./rejects.ts"
import { type Group, type Loaded, Spool } from "./spool.ts"
import { dropStage } from "./stage.ts"
import { type Pass, statesOf } from "./states.ts"

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
export type More = (place: Position, bytes: number) => Effect.Effect<boolean>

/** Reads and normalises what stands at a place of the vault; `undefined` where there is no more. */
export const prepareBatch = Effect.fn("load.prepare")(function* (
  loaded: Loaded,
  temporary: string,
  from: Position,
  more: More
): Effect.fn.Return<Batch | undefined, Failure, Vault | Warehouse> {
  const { resources, policies } = loaded
  const vault = yield* Vault
  const bytesMax = batchBytes((yield* Warehouse).memoryMb)
  const onDisk = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) => diskFailure(`Temporary files in ${temporary} could not be written`, cause)
    })
  const spool = new Spool(loaded, temporary)
  const entries: Array<Entry> = []
  // What was found to be gone may come back later: nothing after it is taken in with it.
  let gone: Decoded | undefined
  let [next, bytes] = [from, 0]
  /** Details meet the whole row that is there, so each is in memory two or three times more. */
  let detailBytes = 0
  while (bytes + 2 * detailBytes < bytesMax && spool.records < batchRecordsMax && !gone && (yield* more(next, bytes))) {
    const read = yield* vault.read(next, readBytes)
    next = read.next
    if (read.bytes === 0) continue
    if (bytes === 0) yield* onDisk(() => emptied(temporary))
    gone = read.frames.find(({ entry }) => entry.kind === "gone")
    const frames = gone ? read.frames.slice(0, read.frames.indexOf(gone) + 1) : read.frames
    for (const { entry, ...page } of frames) {
      entries.push(entry)
      if (entry.kind !== "page" && entry.kind !== "detail") continue
      if (entry.kind === "detail") detailBytes += page.body.length
      // Other work must not wait for a whole page: requests are being timed meanwhile.
      for (const _ of spool.add(entry, page)) yield* Effect.yieldNow
      yield* onDisk(() => spool.write())
    }
    next = { ...next, offset: frames.at(-1)!.end }
    bytes += read.bytes - (read.next.offset - next.offset)
  }
  if (bytes === 0) return undefined
  yield* onDisk(() => spool.write(true))
  const groups = [...spool.groups.values()]
  const drift = new Lines(join(temporary, "drift.ndjson"))
  writeDrift(drift, groups)
  yield* onDisk(() => writeFile(drift.path, drift.take(true), { mode: 0o600 }))
  const { passes, ends, windows } = statesOf(entries)
  const parts = inTransactions(groups)
  return {
    next,
    bytes,
    transactions: [
      ...parts.slice(0, -1).map((some) => some.flatMap(groupStatements)),
      [
        ...(parts.at(-1) ?? []).flatMap(groupStatements),
        ...(gone ? goneStatements(resources, gone) : []),
        ...namedFields(resources, groups),
        ...groups.flatMap(countStatements),
        ...driftStatements(drift),
        ...groups.flatMap((group) => frozenStatements(group, policies)),
        ...passes.flatMap(passStatements),
        ...ends.flatMap((end) => [end, ...endsWithin(resources, end)]).flatMap(endStatements),
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
  const { location, run, label } = group
  const origin = `${literal(run)}, ${literal(location)}`
  return [
    `INSERT INTO meta.run_resources (run_id, location_id, resource) VALUES (${origin}, ${literal(label)}) ON CONFLICT DO NOTHING`,
    ...(group.rows.length + group.parents.length === 0
      ? []
      : mergeStatements({
          ...group,
          counted: countedIn(group),
          rows: (columns) => readLines(group.rows, columns),
          slices: Math.max(1, Math.ceil((group.rows.length * group.rows.longest) / sliceBytes)),
          parents: group.parents.length > 0 ? (columns) => readLines(group.parents, columns) : undefined
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
  `UPDATE meta.run_resources SET pages = pages + ${group.pages}, records = records + ${group.records},
     lost_records = lost_records + ${group.lostCount},
     finished_at = ${instantOf(group.at)}
   WHERE ${countedIn(group)}`
]

const passStatements = ({ reading, entry: { location, pass, progress } }: Pass): ReadonlyArray<string> => [
  `INSERT OR REPLACE INTO meta.passes VALUES (${[location, reading, pass, wellFormed(progress)].map(literal).join(", ")})`
]

const windowStatements = ({ run, location, resource, window: [from, to] }: WindowEntry): ReadonlyArray<string> => [
  `DELETE FROM meta.passes WHERE location_id = ${literal(location)} AND resource = ${literal(backfillOf(resource))}`,
  `INSERT INTO meta.backfilled VALUES (${[location, resource].map(literal).join(", ")}, ${instantOf(from)}, ${instantOf(to)}, ${literal(run)})`
]

/** Tables that are read within the pages of another end with it. */
const endsWithin = (resources: ReadonlyArray<Resource>, { outcome, ...end }: EndEntry): ReadonlyArray<EndEntry> => {
  const { mode, verdict, doubts } = outcome
  return withinOf(resources, end.resource).map(({ table }) => ({
    ...end,
    resource: table,
    outcome: { mode, verdict, doubts, requests: 0 }
  }))
}

/**
 * A reading that ended completely moves the watermark; one that did not leaves it where it is, and its passes too, unless
 * it came to the end of its list.
 */
const endStatements = ({ run, location, resource, at, outcome }: EndEntry): ReadonlyArray<string> => {
  const { mode, verdict, doubts, requests, finished, since, watermark, total, way } = outcome
  const here = `location_id = ${literal(location)} AND resource = ${literal(resource)}`
  const when = (milliseconds: number | undefined) => (milliseconds === undefined ? "NULL" : instantOf(milliseconds))
  return [
    `INSERT INTO meta.run_resources (run_id, location_id, resource) VALUES (${[run, location, resource].map(literal).join(", ")}) ON CONFLICT DO NOTHING`,
    `UPDATE meta.run_resources SET mode = ${literal(mode)}, verdict = ${literal(verdict)}, doubts = [${doubts.map(literal).join(", ")}],
       requests = requests + ${requests}, since = ${when(since)}, finished_at = ${instantOf(at)} WHERE run_id = ${literal(run)} AND ${here}`,
    `UPDATE meta.run_resources SET verdict = 'complete with doubts',
       doubts = list_append(doubts, lost_records || ' records have no key and are among the rejected records')
     WHERE run_id = ${literal(run)} AND ${here} AND verdict <> 'incomplete' AND lost_records > 0`,
    `UPDATE meta.run_resources SET verdict = 'incomplete', doubts = list_append(doubts, ${frozenDoubt("frozen_out")})
     WHERE run_id = ${literal(run)} AND ${here} AND len(frozen_out) > 0`,
    ...(finished || (verdict !== "incomplete" && mode !== "window")
      ? [`DELETE FROM meta.passes WHERE ${here}`, `DELETE FROM meta.seen WHERE ${here}`]
      : []),
    // A window of the past says nothing of what is new.
    ...(verdict === "incomplete" || mode === "window"
      ? []
      : [
          `INSERT INTO meta.watermarks VALUES (${literal(location)}, ${literal(resource)}, ${when(watermark)}, ${instantOf(at)},
             ${mode === "full" ? instantOf(at) : "NULL"}, ${literal(total ?? null)}, ${requests}, ${literal(way === undefined ? null : JSON.stringify(way))})
           ON CONFLICT DO UPDATE SET watermark = greatest(watermark, excluded.watermark), complete_at = excluded.complete_at,
             full_complete_at = coalesce(excluded.full_complete_at, full_complete_at), total = coalesce(excluded.total, total),
             requests = excluded.requests, way = coalesce(excluded.way, way)`
        ])
  ]
}
