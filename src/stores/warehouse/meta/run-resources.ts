/** `meta.run_resources`: counts and status of each resource in each run. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Resource } from "../../../catalog/resource.ts"
import type { Failure } from "../../../values/failure.ts"
import type { Mode, RunResource } from "../../../values/run-resource.ts"
import { Reason, textReason } from "../../../values/reason.ts"
import type { Status } from "../../../values/state.ts"
import { type Facts, reasonsOf, sentencesOf, statusOf } from "../../../values/status.ts"
import { isAny, query, queryNumber, queryTexts } from "../query.ts"
import { type RowOf, numbers, orNull, wordOf } from "../../../values/rows.ts"
import { instantOf, literal, selected, stringOf } from "../sql.ts"
import { unfinishedLists } from "./checkpoints.ts"
import { eachSync } from "./runs.ts"
import type { Counted } from "./run-changes.ts"
import { existingMetaTables } from "./tables.ts"
import { Warehouse } from "../warehouse.ts"

/** Adds fields and values that a frozen schema does not accept, as `table.field`, to an existing row. */
export const addBlockedFields = ({ run, location, label }: Counted, fields: ReadonlyArray<string>): string =>
  `UPDATE meta.run_resources SET blocked_fields = list_sort(list_distinct(list_concat(blocked_fields, [${fields.map(literal).join(", ")}])))
   WHERE run_id = ${literal(run)} AND location_id = ${literal(location)} AND resource = ${literal(label)}`

/** Of a reading that has ended; `reading`: what it found, as JSON. */
const factColumns = { reading: stringOf, droppedRecords: Number, blockedFields: selected<ReadonlyArray<string>> }

/** The ended readings, with the facts from which their status follows. */
const endedReadings = Effect.fnUntraced(function* (condition: string) {
  const rows = yield* query(
    { run: String, location: String, resource: String, status: stringOf, ...factColumns },
    `SELECT run_id AS run, location_id AS location, resource, status, reading, dropped_records AS droppedRecords,
       to_json(coalesce(blocked_fields, []))::VARCHAR AS blockedFields
     FROM meta.run_resources WHERE reading IS NOT NULL AND (${condition})`
  )
  return rows.map((row) => ({ row, facts: factsIn(row) }))
})

const Reasons = Schema.Array(Reason)
const decodeReading = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ shortfalls: Reasons, warnings: Reasons }))
)
/** Nothing says that such a reading was complete. */
const unreadable = { shortfalls: [textReason("what the reading found cannot be read")], warnings: [] }

/** What a reading and the load of its pages found, from the row of a reading that has ended. */
const factsIn = ({ blockedFields, droppedRecords, reading }: RowOf<typeof factColumns>): Facts => {
  const { shortfalls, warnings } = Option.getOrElse(decodeReading(reading), () => unreadable)
  return { shortfalls, warnings, droppedRecords, blockedFields }
}

/** Why a reading is not complete, or complete with warnings. A masked release has only sentences. */
const reasonsIn = (row: StoredReading): ReadonlyArray<Reason> => {
  if (row.reading === undefined) return row.warnings.map(textReason)
  return row.status === null ? [] : reasonsOf(factsIn(row))
}

/** Readings whose status does not follow from what they found. */
export const wrongStatuses = Effect.fnUntraced(function* () {
  const ended = yield* endedReadings("status IS NOT NULL")
  return ended.flatMap(({ row: { resource, run, status = "" }, facts }) => {
    const follows = statusOf(facts)
    return status === follows ? [] : [{ run, resource, status, follows }]
  })
})

/** Sets the status of every reading that has ended without one, including readings of runs that were killed before this. */
export const setStatuses = Effect.fnUntraced(function* () {
  const values = (yield* endedReadings("status IS NULL")).map(({ row, facts }) => {
    const key = [row.run, row.location, row.resource].map(literal).join(", ")
    return `(${key}, ${literal(statusOf(facts))}, [${sentencesOf(facts).map(literal).join(", ")}]::VARCHAR[])`
  })
  const statements: Array<string> = []
  for (let from = 0; from < values.length; from += rowsPerStatement)
    statements.push(
      `UPDATE meta.run_resources AS r SET status = v.status, warnings = v.warnings
       FROM (VALUES ${values.slice(from, from + rowsPerStatement).join(", ")}) AS v (run_id, location_id, resource, status, warnings)
       WHERE r.run_id = v.run_id AND r.location_id = v.location_id AND r.resource = v.resource`
    )
  if (statements.length > 0) yield* (yield* Warehouse).transaction(statements)
})

/** Limits the length of a statement: after a rebuild there may be thousands of rows. */
const rowsPerStatement = 500

/** What a run did for each resource. */
export const resourcesOf = (run: string) => resourcesWhere(`run_id = ${literal(run)}`)

/**
 * What a sync did for each resource, and what syncs did that were stopped between the last one that ended and this one. The
 * requests of a reading that was stopped are not stored: at least one for each of its pages.
 */
export const resourcesSinceEnd = (run: string, resources: ReadonlyArray<Resource>) => {
  const isStopped = `reading IS NULL AND ${isOwnPage(resources)}`
  const earlier = `SELECT run_id FROM meta.runs WHERE command LIKE 'sync%' AND run_id < ${literal(run)}`
  return resourcesWhere(
    `run_id = ${literal(run)} OR (run_id IN (${earlier})
       AND run_id > coalesce((SELECT max(run_id) FROM (${earlier} AND status <> 'interrupted')), ''))`,
    `if(${isStopped}, greatest(pages, requests), requests)`
  )
}

const resourcesWhere = Effect.fnUntraced(function* (condition: string, requests = "requests") {
  const rows = yield* query(
    storedColumns,
    `SELECT * REPLACE (${requests} AS requests) FROM (${runResourcesSql})
     WHERE ${condition} ORDER BY location_id, resource, run_id`
  )
  return rows.map(runResourceOf)
})

/** The records of an embedded resource are in the pages of another one. */
const isOwnPage = (resources: ReadonlyArray<Resource>): string =>
  `resource NOT IN (${["", ...resources.flatMap((one) => (one.embeddedIn ? [one.table] : []))].map(literal).join(", ")})`

/**
 * What the last run that read it did for each resource of each location, and its state. Backfills do not count. A list that
 * has a checkpoint is interrupted, unless its reading ended incomplete and keeps the checkpoint for the next one.
 */
export const lastReadings = Effect.fnUntraced(function* () {
  // A release has no checkpoints.
  const hasCheckpoints = (yield* existingMetaTables(yield* Warehouse)).has("checkpoints")
  const keyOf = ({ location, resource }: Pick<RunResource, "location" | "resource">) => `${location}\n${resource}`
  const unfinished = new Set(hasCheckpoints ? (yield* unfinishedLists()).map(keyOf) : [])
  const rows = yield* query(
    storedColumns,
    `${runResourcesSql} WHERE mode IS DISTINCT FROM 'window'
       AND NOT (mode IS NULL AND run_id IN (SELECT run_id FROM meta.runs WHERE command = 'backfill'))
     QUALIFY row_number() OVER (PARTITION BY location_id, resource ORDER BY run_id DESC) = 1
     ORDER BY location_id, resource`
  )
  return rows.map((row) => {
    const one = runResourceOf(row)
    // The run that was stopped has set no statuses; readings that had ended before that have their facts.
    const facts = row.status === null && row.reading !== undefined ? factsIn(row) : undefined
    const status = facts ? statusOf(facts) : one.status
    return {
      ...one,
      status: unfinished.has(keyOf(one)) && status !== "incomplete" ? "interrupted" : status,
      ...(facts && { warnings: sentencesOf(facts) }),
      /** The facts of `warnings`. */
      reasons: facts ? reasonsOf(facts) : reasonsIn(row)
    }
  })
})

/** By how many the service's total exceeded the records of the last full reading before the day of a time, if it did. */
export const differenceBefore = (location: string, resource: string, now: number) =>
  queryNumber(
    `SELECT coalesce((SELECT (reading->>'$.shortfalls[0].total')::BIGINT - (reading->>'$.shortfalls[0].read')::BIGINT FROM meta.run_resources
       WHERE location_id = ${literal(location)} AND resource = ${literal(resource)} AND mode = 'full' AND reading IS NOT NULL
         AND finished_at::DATE < ${instantOf(now)}::DATE
       ORDER BY run_id DESC LIMIT 1), 0)`
  )

/**
 * When the last full sync began, epoch milliseconds, by children or details that neither it nor a later run has read
 * completely and without a warning: what it could not read is due until then.
 */
export const unfinishedRefreshes = Effect.fnUntraced(function* (location: string) {
  const rows = yield* query(
    { resource: String, at: Number },
    `SELECT resource, epoch_ms(max(started_at) FILTER (command = ${literal(eachSync)})) AS at,
       max(run_id) FILTER (command = ${literal(eachSync)}) AS last_full, max(run_id) FILTER (status = 'complete') AS last_complete
     FROM (SELECT r.run_id, r.resource, r.status, n.command, n.started_at FROM meta.run_resources AS r JOIN meta.runs AS n USING (run_id)
       WHERE location_id = ${literal(location)})
     GROUP BY resource HAVING last_full > coalesce(last_complete, '')`
  )
  return new Map(rows.map(({ at, resource }) => [resource, at]))
})

/** When a run last found that nothing more of each resource was due, epoch milliseconds. Backfills do not count. */
export const completeRuns = () =>
  query(
    { location: String, resource: String, checkedAt: Number },
    `SELECT location_id AS location, resource, epoch_ms(max(finished_at)) AS checkedAt FROM meta.run_resources
     WHERE status LIKE 'complete%' AND mode <> 'window' AND finished_at IS NOT NULL GROUP BY ALL`
  )

/** Requests of a run that has not stored its count: at least one for each page that was loaded. */
export const pagesOf = (run: string, resources: ReadonlyArray<Resource>) =>
  queryNumber(
    `SELECT coalesce(sum(pages), 0)::BIGINT FROM meta.run_resources WHERE run_id = ${literal(run)} AND ${isOwnPage(resources)}`
  )

const runResourcesSql = `SELECT r.* EXCLUDE (warnings, blocked_fields), run_id AS run, location_id AS location,
    new_rows AS newRows, changed_rows AS changedRows, deleted_rows AS deletedRows, rejected_values + rejected_records AS rejected,
    coalesce(v.rounded, 0) AS rounded, dropped_records AS droppedRecords,
    to_json(coalesce(warnings, []))::VARCHAR AS warnings, to_json(coalesce(blocked_fields, []))::VARCHAR AS blockedFields
  FROM meta.run_resources AS r
  LEFT JOIN (SELECT run_id, location_id, resource, sum(rounded) AS rounded FROM meta.rounded_values GROUP BY ALL) AS v
    USING (run_id, location_id, resource)`

const storedColumns = {
  ...factColumns,
  ...numbers("requests", "records", "newRows", "changedRows", "deletedRows", "rejected", "rounded"),
  run: String,
  location: String,
  resource: String,
  mode: orNull(wordOf<Mode>),
  status: orNull(wordOf<Status>),
  warnings: selected<ReadonlyArray<string>>
}
type StoredReading = RowOf<typeof storedColumns>

const runResourceOf = ({
  blockedFields: _b,
  droppedRecords: _d,
  mode,
  reading: _r,
  status,
  ...counts
}: StoredReading): RunResource => ({
  ...counts,
  ...(mode !== null && { mode }),
  status: status ?? "interrupted"
})

/** The latest status of each reading of a table: of its list, and as children of other tables, but not of its details. */
export const lastStatuses = (location: string, table: string) =>
  queryTexts(
    `SELECT arg_max(status, run_id) FROM meta.run_resources
     WHERE location_id = ${literal(location)} AND status IS NOT NULL AND mode <> 'window'
       AND (resource = ${literal(table)} OR (starts_with(resource, ${literal(`${table}/`)}) AND resource <> ${literal(`${table}/details`)}))
     GROUP BY resource`
  ) as Effect.Effect<ReadonlyArray<Status>, Failure, Warehouse> // A run stores no other text.

/** Whether any row was ever written: each transaction that writes rows also counts them. */
export const isAnythingLoaded = () => isAny("meta.run_resources")

/** Records of all runs that were loaded from the vault. */
export const recordCount = () => queryNumber("SELECT sum(records) FROM meta.run_resources")

/** Resources with rows that runs after this one changed. */
export const changedSince = (run: string) =>
  queryTexts(
    `SELECT DISTINCT split_part(resource, '/', 1) FROM meta.run_resources
     WHERE run_id > ${literal(run)} AND new_rows + changed_rows + deleted_rows > 0`
  )

/** Runs whose pages were loaded, oldest first. */
export const loadedRuns = () =>
  queryTexts("SELECT DISTINCT run_id FROM meta.run_resources WHERE pages > 0 ORDER BY run_id")

/** Locations that any run has read. */
export const loadedLocations = () => queryTexts("SELECT DISTINCT location_id FROM meta.run_resources")

export type LeftLocation = Effect.Success<ReturnType<typeof leftLocations>>[number]

/**
 * Locations with rows that no setting names any more. None if the settings name no location that was read into this output:
 * more likely they are wrong.
 */
export const leftLocations = Effect.fnUntraced(function* (named: ReadonlySet<string>) {
  const read = yield* query(
    // When it was last read.
    { location: String, readAt: (cell) => new Date(Number(cell)).toISOString() },
    `SELECT location_id AS location, epoch_ms(max(finished_at)) AS readAt FROM meta.run_resources
     WHERE finished_at IS NOT NULL GROUP BY ALL ORDER BY ALL`
  )
  const left = read.filter(({ location }) => !named.has(location))
  return left.length < read.length ? left : []
})

/** SQL for the count of rejects of a kind by run_id, location_id and resource. */
export const countedRejectsSql = (kind: "rejected_values" | "rejected_records"): string =>
  `SELECT run_id, location_id, split_part(resource, '/', 1) AS resource, sum(${kind}) AS counted
   FROM meta.run_resources GROUP BY ALL`
