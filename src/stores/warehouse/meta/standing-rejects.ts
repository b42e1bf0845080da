/** What was rejected and is not mended yet, whichever run has rejected it. */
import * as Effect from "effect/Effect"
import type { Resource } from "../../../catalog/resource.ts"
import { keyOf, tablesOf } from "../../../catalog/tables.ts"
import { query, queryTexts } from "../query.ts"
import { literal, name, together } from "../sql.ts"

export type StandingRejects = Effect.Success<ReturnType<typeof standingRejects>>[number]

/**
 * A value, or an item inside a record, stands until its record has a later version. A record without a key has no versions: it
 * stands until a whole reading of the list does not find it any more.
 */
export const standingRejects = Effect.fn("warehouse.standingRejects")(function* (resources: ReadonlyArray<Resource>) {
  const found = yield* queryTexts(
    "SELECT DISTINCT table_name FROM (SELECT table_name FROM meta.rejected_values UNION ALL SELECT table_name FROM meta.rejected_records)"
  )
  const tables = new Set(found)
  const affected = resources.filter((resource) => tablesOf(resource).some((table) => tables.has(table.name)))
  if (affected.length === 0) return []
  const rows = yield* query(
    {
      location: String,
      resource: String,
      /** Values whose row has no later version and is not deleted, and records that have no row. */
      rejected: Number,
      /** Rows that are not deleted. */
      rows: Number
    },
    `${together(affected.map(standingSql))} ORDER BY ALL`
  )
  return rows.filter(({ rejected }) => rejected > 0)
})

const standingSql = (resource: Resource): string => {
  const { table } = resource
  const owned = `table_name IN (${tablesOf(resource)
    .map((one) => literal(one.name))
    .join(", ")})`
  const key = keyOf(resource)
  const keyOfRow = `concat_ws('/', ${key.map((column) => `c.${name(column)}`).join(", ")})`
  // The key of a child is that of its record with its place behind it.
  const keyOfRecord = `array_to_string(string_split(r.key, '/')[1:${key.length}], '/')`
  const isItem = "contains(reason, '; in ')"
  return `SELECT location_id AS location, ${literal(table)} AS resource, sum(rejected) AS rejected,
      (SELECT count(*) FROM crm.${name(table)} AS c WHERE c.location_id = s.location_id AND c._deleted_at IS NULL) AS rows
    FROM (
      SELECT r.location_id, count(*) AS rejected FROM (
        SELECT location_id, table_name, column_name, key, max(run_id) AS run_id FROM meta.rejected_values WHERE ${owned} GROUP BY ALL
        UNION ALL
        SELECT location_id, table_name, record, regexp_extract(reason, '; in (.*)$', 1, 's'), max(run_id)
        FROM meta.rejected_records WHERE ${owned} AND ${isItem} GROUP BY ALL
      ) AS r
      LEFT JOIN crm.${name(table)} AS c ON c.location_id = r.location_id AND ${keyOfRow} = ${keyOfRecord}
      WHERE c.location_id IS NULL OR (c._deleted_at IS NULL AND c._run_id <= r.run_id)
      GROUP BY ALL
      UNION ALL
      SELECT r.location_id, greatest(
          count(*) FILTER (whole.run_id IS NULL OR r.last_run > whole.run_id),
          coalesce(least(count(*) FILTER (r.first_run <= whole.run_id), max(whole.dropped)), 0)
            + count(*) FILTER (whole.run_id IS NULL OR r.first_run > whole.run_id))
      FROM (SELECT location_id, ${sameRecord(resource)} AS record, min(run_id) AS first_run, max(run_id) AS last_run FROM meta.rejected_records
        WHERE table_name = ${literal(table)} AND NOT ${isItem} GROUP BY ALL) AS r
      LEFT JOIN (${lastWholeReading(table)}) AS whole USING (location_id)
      GROUP BY ALL
    ) AS s GROUP BY location_id`
}

/** SQL for a record without its cursor, which depends on the order in which a list is read. */
const sameRecord = ({ full = [] }: Resource): string => {
  const cursors = full.flatMap(({ paging }) => (paging.kind === "lastRecord" ? [[paging.field, null]] : []))
  if (cursors.length === 0) return "record"
  const without = JSON.stringify(Object.fromEntries(cursors))
  return `if(json_valid(record), json_merge_patch(record, ${literal(without)})::VARCHAR, record)`
}

/** The run that ended it, and the records without a key that it found; an interrupted reading takes several runs. */
const lastWholeReading = (table: string): string =>
  `SELECT location_id, max(run_id) AS run_id, sum(dropped_records) AS dropped FROM (
     SELECT *, count(*) FILTER (status LIKE 'complete%') OVER (PARTITION BY location_id ORDER BY run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reading
     FROM meta.run_resources WHERE resource = ${literal(table)} AND mode = 'full'
   ) GROUP BY location_id, reading HAVING bool_or(status LIKE 'complete%')
   QUALIFY row_number() OVER (PARTITION BY location_id ORDER BY reading DESC) = 1`
