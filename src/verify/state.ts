/** What the warehouse says about itself: how far it was read, when, and what was rejected. */
import { Clock, Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import { snakeCase, tablesOf } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { countedRejectsSql } from "../warehouse/meta/run-resources.ts"
import { allWatermarks } from "../warehouse/meta/watermarks.ts"
import { instantOf, literal, name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, countedRows, note, wrong } from "./finding.ts"
import { type Known, shownKey } from "./existing-tables.ts"

/** Nothing is known from later than it was read, and nothing was read later than now. */
export const checkTimes = Effect.fn("verify.times")(function* ({
  tables
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const now = instantOf(yield* Clock.currentTimeMillis)
  const marks = yield* allWatermarks()
  const findings: Array<Finding> = []
  for (const { location, resource, watermark, completeAt: readAt, isAhead } of marks) {
    // Watermarks are the service's time: where its clock is ahead of ours, rows show it.
    const highest = isAhead && highestChange(tables, resource, location)
    const [row] = highest
      ? yield* warehouse.rows(`SELECT max(moment) >= ${literal(watermark)} AS shown FROM (${highest})`)
      : []
    if (isAhead && row?.["shown"] !== true)
      findings.push(
        wrong(
          resource,
          `its watermark ${watermark} is ahead of ${readAt}, when it was read; changes in between will be missed`
        )
      )
  }
  for (const { table, current } of tables) {
    const later = countedRows(
      (yield* warehouse.rows(
        `SELECT count(*) AS n, min(${shownKey(table, "t")}) AS example FROM ${current} AS t WHERE _synced_at > ${now}`
      ))[0]
    )
    if (later.n > 0)
      findings.push(wrong(table.name, `${counted(later.n, "row")} read later than now, for example ${later.example}`))
  }
  return {
    part: "warehouse",
    check: "times",
    looked: `${counted(marks.length, "watermark")}, ${counted(tables.length, "table")}`,
    findings
  }
})

/** SQL for every moment of change that the rows of a resource show, now and earlier. */
const highestChange = (tables: Known["tables"], resource: string, location: string): string | undefined => {
  const known = tables.find(({ table }) => table.name === resource)
  const { changes } = known?.resource ?? {}
  const fields = [changes?.field, changes?.fallback?.field].map((field) => snakeCase(field ?? ""))
  const columns = known?.columns.filter(({ name: column }) => fields.includes(column)) ?? []
  return known && columns.length > 0
    ? [known.current, known.history]
        .flatMap((from) => columns.map((column) => `SELECT ${name(column.name)} AS moment FROM ${from}`))
        .map((select) => `${select} WHERE location_id = ${literal(location)}`)
        .join(" UNION ALL ")
    : undefined
}

/**
 * No run rejected more than it counted. Rows are taken in before they are counted, so after a stopped run the count is
 * behind until the next sync: no fault while entries of the vault wait.
 */
export const checkRejects = Effect.fn("verify.rejects")(function* (
  { resources }: Catalogue,
  entriesWait: boolean
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const owners = resources.flatMap((resource) =>
    tablesOf(resource).map((table) => `(${literal(table.name)}, ${literal(resource.table)})`)
  )
  const findings: Array<Finding> = []
  let looked = 0
  for (const kind of ["rejected_values", "rejected_records"] as const) {
    const runs = yield* warehouse.rows(
      `WITH kept AS (
         SELECT run_id, location_id, owners.resource, count(*) AS kept FROM meta.${kind}
         JOIN (VALUES ${owners.join(", ")}) AS owners (table_name, resource) USING (table_name) GROUP BY ALL
       ), counted AS (
         ${countedRejectsSql(kind)}
       )
       SELECT run_id, resource, kept, coalesce(counted, 0)::BIGINT AS counted FROM kept
       LEFT JOIN counted USING (run_id, location_id, resource) ORDER BY ALL`
    )
    looked += runs.reduce((sum, row) => sum + Number(row["kept"]), 0)
    for (const row of runs.filter((row) => Number(row["counted"]) < Number(row["kept"])))
      findings.push(
        (entriesWait ? note : wrong)(
          String(row["resource"]),
          `run ${row["run_id"]} counts ${row["counted"]} ${kind.replace("_", " ")}, and ${row["kept"]} are kept`
        )
      )
  }
  return { part: "warehouse", check: "rejects", looked: counted(looked, "reject"), findings }
})
