/** The run history in `meta.runs`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Failure, exitCodes } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import { instantOf, literal } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

export interface RunRecord {
  readonly id: string
  /** Epoch milliseconds. */
  readonly startedAt: number
}

export const beginRun = Effect.fnUntraced(function* (
  command: string,
  plannedRequests: number | undefined
): Effect.fn.Return<RunRecord, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const startedAt = yield* Clock.currentTimeMillis
  const [row] = yield* warehouse.rows("SELECT max(run_id) AS last FROM meta.runs")
  const id = idAfter(startedAt, row?.["last"] as string | null)
  yield* warehouse.transaction([
    `UPDATE meta.runs SET outcome = 'interrupted' WHERE outcome IS NULL`,
    `INSERT INTO meta.runs (run_id, command, started_at, planned_requests)
     VALUES (${literal(id)}, ${literal(command)}, ${instantOf(startedAt)}, ${literal(plannedRequests)})`
  ])
  return { id, startedAt }
})

/** Sorts by time, and after every run there was: the clock may have been ahead when one of them began. */
const idAfter = (time: number, last: string | null): string => {
  const id = idOf(time)
  if (last === null || last < id) return id
  const [, year, month, day, hour, minute, second, milli] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(last) ?? []
  return year === undefined
    ? `${last}0`
    : idOf(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milli}Z`) + 1)
}
const idOf = (time: number): string => new Date(time).toISOString().replaceAll(/[-:.]/g, "")

export const endRun = Effect.fnUntraced(function* (
  run: RunRecord,
  outcome: string,
  exitCode: number,
  requests: number
): Effect.fn.Return<void, Failure, Warehouse> {
  yield* (yield* Warehouse).transaction([
    `UPDATE meta.runs SET finished_at = ${instantOf(yield* Clock.currentTimeMillis)}, outcome = ${literal(outcome)},
       exit_code = ${exitCode}, requests = ${requests} WHERE run_id = ${literal(run.id)}`
  ])
})

/** What `meta.runs` calls a sync that reads everything again. */
export const fullSync = "sync --full"
/** Long enough for a new day of requests, too short for two readings to be taken for one. */
const goesOnMs = 2 * 86_400_000

/** When the reading of everything began that earlier runs left unfinished, if a run goes on with it now; epoch milliseconds. */
export const unfinishedFull = Effect.fnUntraced(function* (): Effect.fn.Return<number | undefined, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT epoch_ms(started_at) AS started, epoch_ms(coalesce(finished_at, started_at)) AS finished,
       coalesce(exit_code, ${exitCodes.later}) = ${exitCodes.later} AS unfinished
     FROM meta.runs WHERE command = ${literal(fullSync)} ORDER BY run_id DESC`
  )
  let begun: number | undefined
  const now = yield* Clock.currentTimeMillis
  let next = now
  for (const row of rows) {
    if (row["unfinished"] !== true || next - Number(row["finished"]) > goesOnMs) break
    // Our clock was ahead then.
    if (Number(row["started"]) > now) break
    begun = next = Number(row["started"])
  }
  return begun
})

export interface RunResource {
  readonly location: string
  readonly resource: string
  readonly requests: number
  readonly records: number
  readonly newRows: number
  readonly changedRows: number
  readonly deletedRows: number
  /** Values and records. */
  readonly rejected: number
  readonly verdict: string
  readonly doubts: ReadonlyArray<string>
}

/** What a run did, resource by resource. */
export const resourcesOf = Effect.fnUntraced(function* (
  run: string
): Effect.fn.Return<ReadonlyArray<RunResource>, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT *, to_json(doubts)::VARCHAR AS told FROM meta.run_resources WHERE run_id = ${literal(run)} ORDER BY location_id, resource`
  )
  return rows.map((row) => ({
    location: String(row["location_id"]),
    resource: String(row["resource"]),
    requests: Number(row["requests"]),
    records: Number(row["records"]),
    newRows: Number(row["new_rows"]),
    changedRows: Number(row["changed_rows"]),
    deletedRows: Number(row["deleted_rows"]),
    rejected: Number(row["rejected_values"]) + Number(row["rejected_records"]),
    verdict: String(row["verdict"] ?? "interrupted"),
    doubts: row["told"] === null ? [] : (JSON.parse(String(row["told"])) as ReadonlyArray<string>)
  }))
})

/** How the readings of a table, of its list and under other rows, ended when they were last tried. */
export const lastVerdicts = Effect.fnUntraced(function* (
  location: string,
  table: string
): Effect.fn.Return<ReadonlyArray<Outcome["verdict"]>, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT arg_max(verdict, run_id) AS verdict FROM meta.run_resources
     WHERE location_id = ${literal(location)} AND verdict IS NOT NULL AND mode <> 'window'
       AND (resource = ${literal(table)} OR (starts_with(resource, ${literal(`${table}/`)}) AND resource <> ${literal(`${table}/details`)}))
     GROUP BY resource`
  )
  return rows.map((row) => String(row["verdict"]) as Outcome["verdict"])
})

/** SQL for what is said of a frozen resource; `places` is SQL for the list of what is new. */
export const frozenDoubt = (places: string): string =>
  `'the schema is frozen, and the service sent what is new: ' || array_to_string(${places}[:5], ', ')
   || CASE WHEN len(${places}) > 5 THEN ' and ' || len(${places}) - 5 || ' more' ELSE '' END
   || '. New fields are in the vault and in no table. To accept it, write accepted = ' || to_json(${places}[:5])
   || ' under [schema] in the settings file, or another policy, then ./sluice rebuild'`

/** What the service sent otherwise than defined, as `table.field (kind)` or `table.column = word`. */
export interface Drift {
  /** Sent for the first time in this run: fields, types, and words of columns for which the documents name none. */
  readonly changes: ReadonlyArray<string>
  /** Words that the documents do not name, met in this run; those told by the fewest runs first. */
  readonly unknownWords: ReadonlyArray<string>
}

/**
 * What this run has to tell. New words make the resource incomplete that `frozen` names for their place; they stand in
 * the rows, as their column is there.
 */
export const driftOf = Effect.fnUntraced(function* (
  run: string,
  frozen: (table: string, field: string) => string | undefined
): Effect.fn.Return<Drift, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const field = "w.column_name || ' = ' || w.word"
  yield* warehouse.transaction([
    // Where the documents name no words, one is news if the column was read before.
    `INSERT INTO meta.schema_changes SELECT w.location_id, w.table_name, ${field}, 'new word', w.word, w.first_run_id, now(), 1
     FROM meta.known_words AS w SEMI JOIN (FROM meta.known_words WHERE first_run_id < ${literal(run)}) AS before
       USING (location_id, table_name, column_name) WHERE w.first_run_id = ${literal(run)} ON CONFLICT DO NOTHING`,
    // Those of a run that was interrupted are told by the next.
    `INSERT INTO meta.schema_changes SELECT w.location_id, w.table_name, ${field}, 'unknown word', w.word, ${literal(run)}, now(), 1
     FROM meta.unknown_words AS w ON CONFLICT DO UPDATE SET seen = seen + 1`
  ])
  const unknownWords = yield* warehouse.rows(
    `SELECT table_name || '.' || field AS change FROM meta.schema_changes
     WHERE kind = 'unknown word' AND (location_id, table_name, field) IN (SELECT (location_id, table_name, ${field}) FROM meta.unknown_words AS w)
     GROUP BY ALL ORDER BY min(seen), change`
  )
  const words = yield* warehouse.rows(
    `SELECT location_id, table_name, field FROM meta.schema_changes WHERE kind LIKE '% word' AND first_run_id = ${literal(run)}`
  )
  const incomplete = words.flatMap((row) => {
    const [table, field] = [String(row["table_name"]), String(row["field"])]
    const resource = frozen(table, field)
    return resource === undefined
      ? []
      : `UPDATE meta.run_resources SET verdict = 'incomplete', doubts = list_append(doubts, ${frozenDoubt(`[${literal(`${table}.${field}`)}]`)})
         WHERE run_id = ${literal(run)} AND location_id = ${literal(String(row["location_id"]))} AND resource = ${literal(resource)}`
  })
  yield* warehouse.transaction([...incomplete, "DELETE FROM meta.unknown_words"])
  const changes = yield* warehouse.rows(
    `SELECT DISTINCT table_name || '.' || field || ' (' || kind || ')' AS change FROM meta.schema_changes
     WHERE first_run_id = ${literal(run)} AND kind <> 'unknown word' ORDER BY 1`
  )
  const texts = (rows: typeof changes) => rows.map((row) => String(row["change"]))
  return { changes: texts(changes), unknownWords: texts(unknownWords) }
})

/** Locations in the order in which they should be read: never read first, then the one read longest ago. */
export const oldestFirst = Effect.fnUntraced(function* (): Effect.fn.Return<
  (location: string) => number,
  Failure,
  Warehouse
> {
  const rows = yield* (yield* Warehouse).rows(
    "SELECT location_id, epoch_ms(min(complete_at)) AS at FROM meta.watermarks GROUP BY ALL"
  )
  const freshness = new Map(rows.map((row) => [String(row["location_id"]), Number(row["at"])]))
  return (location) => freshness.get(location) ?? 0
})

/** The company that owns a location, once the location is loaded. */
export const companyOf = Effect.fnUntraced(function* (
  location: string
): Effect.fn.Return<string | undefined, Failure, Warehouse> {
  const [row] = yield* (yield* Warehouse).rows(`SELECT company_id FROM crm.locations WHERE id = ${literal(location)}`)
  return row?.["company_id"] === null || row === undefined ? undefined : String(row["company_id"])
})
