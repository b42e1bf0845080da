/** Checks that the warehouse can be read, and its state: watermarks, times, rejects and statuses. */
import { Clock, Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { snakeCase } from "../../catalog/fields.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { stateText } from "../../values/state.ts"
import { countedRejectsSql, wrongStatuses } from "../../stores/warehouse/meta/run-resources.ts"
import { allWatermarks } from "../../stores/warehouse/meta/watermarks.ts"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { presentTime } from "../../values/present-time.ts"
import { runsNewestFirst } from "../../stores/warehouse/meta/runs.ts"
import { query, queryNumber } from "../../stores/warehouse/query.ts"
import { numbers } from "../../values/rows.ts"
import { instantOf, literal, name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type VerifyFinding, counted, failureText, note, wrong } from "../../values/finding.ts"
import { type Known, findingsOfEach, shownKey } from "./existing-tables.ts"
import { warehouseName } from "../../output/paths.ts"

/** No watermark is later than the read that set it, and no row was read in the future. */
export const checkTimes = Effect.fn("verify.times")(function* (
  { tables }: Known,
  counts: ReadonlyMap<string, KeyCounts> | undefined
) {
  const now = instantOf(presentTime(yield* Clock.currentTimeMillis, yield* runsNewestFirst(undefined, 1000)))
  const watermarks = yield* allWatermarks()
  const findings: Array<VerifyFinding> = []
  for (const { location, resource, watermark, completeAt: readAt, isAhead } of watermarks) {
    // Watermarks are times of the service. If its clock is ahead, rows have such times too.
    const highest = isAhead && highestChange(tables, resource, location)
    const [row] = highest
      ? yield* query(
          { isShown: Boolean },
          `SELECT max(changed_at) >= ${literal(watermark)} AS isShown FROM (${highest})`
        )
      : []
    if (isAhead && !row?.isShown)
      findings.push(
        wrong(
          resource,
          `its watermark ${watermark} is later than its last read at ${readAt}; the next sync misses changes between them`
        )
      )
  }
  const future = yield* findingsOfEach(
    tables.filter(({ current, isEmpty }) => (counts === undefined ? !isEmpty : counts.get(current)?.future)),
    ({ current, table }) =>
      `SELECT count(*) AS n, min(${shownKey(table, "t")}) AS example FROM ${current} AS t WHERE _synced_at > ${now}`,
    ({ table }, { n, example }) =>
      wrong(table.name, `${counted(n, "row")} with _synced_at in the future, for example ${example}`)
  )
  return {
    looked: `${counted(watermarks.length, "watermark")}, ${counted(tables.length, "table")}`,
    findings: [...findings, ...future]
  }
})

/** SQL for every time of change in the current rows of a resource and in their earlier versions. */
const highestChange = (tables: Known["tables"], resource: string, location: string): string | undefined => {
  const known = tables.find(({ table }) => table.name === resource)
  const { changes } = known?.resource ?? {}
  const fields = [changes?.field, changes?.fallback?.field].map((field) => snakeCase(field ?? ""))
  const columns = known?.columns.filter(({ name: column }) => fields.includes(column)) ?? []
  return known && columns.length > 0
    ? [known.current, known.history]
        .flatMap((from) => columns.map((column) => `SELECT ${name(column.name)} AS changed_at FROM ${from}`))
        .map((select) => `${select} WHERE location_id = ${literal(location)}`)
        .join(" UNION ALL ")
    : undefined
}

/**
 * No run stored more rejects than it counted. Rows are stored before they are counted, so the count of an interrupted run is
 * too low until the next sync: that is no error while entries of the vault wait.
 */
export const checkRejects = Effect.fn("verify.rejects")(function* ({ resources }: Catalogue, entriesWait: boolean) {
  const owners = resources.flatMap((resource) =>
    tablesOf(resource).map((table) => `(${literal(table.name)}, ${literal(resource.table)})`)
  )
  const findings: Array<VerifyFinding> = []
  let count = 0
  for (const kind of ["rejected_values", "rejected_records"] as const) {
    const runs = yield* query(
      { run: String, resource: String, ...numbers("stored", "counted") },
      `WITH stored AS (
         SELECT run_id, location_id, owners.resource, count(*) AS stored FROM meta.${kind}
         JOIN (VALUES ${owners.join(", ")}) AS owners (table_name, resource) USING (table_name) GROUP BY ALL
       ), counted AS (
         ${countedRejectsSql(kind)}
       )
       SELECT run_id AS run, resource, stored, coalesce(counted, 0)::BIGINT AS counted FROM stored
       LEFT JOIN counted USING (run_id, location_id, resource) ORDER BY ALL`
    )
    count += runs.reduce((sum, { stored }) => sum + stored, 0)
    for (const { run, resource, stored, counted } of runs.filter((one) => one.counted < one.stored))
      findings.push(
        (entriesWait ? note : wrong)(
          resource,
          `run ${run} counts ${counted} ${kind.replace("_", " ")}; meta.${kind} has ${stored}`
        )
      )
  }
  return { looked: counted(count, "reject"), findings }
})

/** Every status follows from what its reading found. */
export const checkStatuses = Effect.fn("verify.statuses")(function* () {
  const readings = yield* queryNumber("SELECT count(*) FROM meta.run_resources WHERE status IS NOT NULL")
  const findings = (yield* wrongStatuses()).map(({ run, resource, status, follows }) =>
    wrong(resource, `run ${run} calls it ${stateText(status)}; what the run found makes it ${stateText(follows)}`)
  )
  return { looked: counted(readings, "reading"), findings }
})

/** What one look at a table counts beside reading it. */
export interface KeyCounts {
  readonly rows: number
  /** Rows with NULL in the key. */
  readonly nulls: number
  /** Keys without NULL, by their hashes. */
  readonly keys: number
  /** Rows that were read in the future. */
  readonly future: number
}

/**
 * Reads every value of every table, because DuckDB checks the checksum of a block only when it reads the block, and counts the
 * keys on the way. `counts`: by table; absent if a table cannot be read.
 */
export const readTables = Effect.fn("verify.blocks")(function* ({ tables: known }: Known) {
  const warehouse = yield* Warehouse
  const rows = yield* query(
    { schema: String, table: String, size: Number },
    `SELECT schema_name AS "schema", table_name AS "table", estimated_size AS size FROM duckdb_tables() WHERE database_name = current_database() ORDER BY ALL`
  )
  const now = instantOf(yield* Clock.currentTimeMillis)
  const keyOf = new Map(known.map(({ current, table }) => [current, table.key]))
  const tables = rows.map(({ schema, table, size }) => ({ table: `${schema}.${name(table)}`, size }))
  const filled = tables.filter(({ size }) => size > 0)
  const sumSql = ({ table }: (typeof tables)[number]) => {
    const key = keyOf.get(table) ?? []
    const isWhole = ["true", ...key.map((column) => `${name(column)} IS NOT NULL`)].join(" AND ")
    return `SELECT bit_xor(hash(t)) AS sum, count(*) AS rows, count(*) FILTER (NOT (${isWhole})) AS nulls,
      ${key.length === 0 ? "0" : `count(DISTINCT hash(${names(key)})) FILTER (${isWhole})`} AS keys,
      ${key.length === 0 ? "0" : `count(*) FILTER (_synced_at > ${now})`} AS future FROM ${table} AS t`
  }
  const findings: Array<VerifyFinding> = []
  // The failure of tables that are read together does not name the damaged one.
  const oneByOne = Effect.forEach(filled, (one) =>
    Effect.catch(warehouse.rows(sumSql(one)), (failure) =>
      Effect.sync(() => findings.push(wrong(warehouseName, `${one.table}: ${failureText(failure)}`)))
    )
  )
  const counts = yield* rowsOfEach(numbers("rows", "nulls", "keys", "future"), filled, sumSql).pipe(
    Effect.map((found) => new Map(found.map(([{ table }, counted]): [string, KeyCounts] => [table, counted]))),
    Effect.catch(() => Effect.as(oneByOne, undefined))
  )
  return { blocks: { looked: counted(tables.length, "table"), findings }, counts }
})
