/** Versions of rows: one after the other, without overlap and without a hole. */
import { Effect } from "effect"
import type { Failure } from "../failure.ts"
import { name, names } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, countedRows, wrong } from "./finding.ts"
import { type Known, type KnownTable, shownKey } from "./existing-tables.ts"

/**
 * The rule: a version begins exactly where the one before it ends, and the current row begins where its newest version
 * ends. A version that is marked deleted may begin later: the mark takes the place of a row without leaving a version.
 */
const fault = `CASE
  WHEN ends <= starts THEN 'ending no later than they begin'
  WHEN former_end > starts THEN 'beginning before the former ended'
  WHEN former_end < starts AND _deleted_at IS NULL THEN 'beginning after the former ended'
  END`

export const checkHistory = Effect.fn("verify.history")(function* ({
  tables
}: Known): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const findings: Array<Finding> = []
  let versions = 0
  for (const known of tables) {
    const { table, history } = known
    const [row] = yield* warehouse.rows(`SELECT count(*) AS n FROM ${history}`)
    if (Number(row?.["n"]) === 0) continue
    versions += Number(row?.["n"])
    const queries = table.parentColumn === undefined ? chainQueries(known) : childQueries(known, table.parentColumn)
    for (const query of queries)
      for (const found of yield* warehouse.rows(query)) {
        const { n, example } = countedRows(found)
        if (n > 0)
          findings.push(
            wrong(`history of ${table.name}`, `${counted(n, "version")} ${found["fault"]}, for example ${example}`)
          )
      }
  }
  return { part: "warehouse", check: "history", looked: counted(versions, "version"), findings }
})

const chainQueries = (known: KnownTable): ReadonlyArray<string> => {
  const { table, current, history } = known
  const key = names(table.key)
  const columns = [...table.key, "_deleted_at"].map((column) => `t.${name(column)}`).join(", ")
  return [
    `WITH versions AS (
       SELECT ${columns}, _valid_from AS starts, _valid_to AS ends FROM ${history} AS t
       UNION ALL SELECT ${columns}, _synced_at, 'infinity'::TIMESTAMPTZ FROM ${current} AS t SEMI JOIN ${history} AS h USING (${key})
     ), chains AS (
       SELECT *, lag(ends) OVER (PARTITION BY ${key} ORDER BY ends, starts) AS former_end FROM versions
     )
     SELECT ${fault} AS fault, count(*) AS n, min(${shownKey(table, "chains")}) AS example
     FROM chains WHERE fault IS NOT NULL GROUP BY ALL ORDER BY ALL`,
    `SELECT 'of no row' AS fault, count(*) AS n, min(${shownKey(table, "t")}) AS example
     FROM ${history} AS t ANTI JOIN ${current} AS c USING (${key})`
  ]
}

/** Child rows are kept with the version of the row they belong to, all at once; so its chain is theirs. */
const childQueries = ({ table, parent, history }: KnownTable, parentColumn: string): ReadonlyArray<string> => {
  const key = names(table.key)
  return [
    `SELECT 'of no version in ${parent.name}' AS fault, count(*) AS n, min(${shownKey(table, "t")}) AS example
     FROM ${history} AS t ANTI JOIN crm_history.${name(parent.name)} AS p ON p.location_id = t.location_id
     AND p.id = t.${name(parentColumn)} AND p._valid_from = t._valid_from AND p._valid_to = t._valid_to`,
    `SELECT 'there twice' AS fault, count(*) AS n, min(${shownKey(table, "t")}) AS example
     FROM (SELECT ${key} FROM ${history} GROUP BY ${key}, _valid_from HAVING count(*) > 1) AS t`
  ]
}
