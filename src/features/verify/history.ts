/** Checks that the versions of each row follow each other without an overlap and without a gap. */
import { Effect } from "effect"
import { rowsOfEach } from "../../stores/warehouse/groups.ts"
import { name, names, stringOf } from "../../stores/warehouse/sql.ts"
import { type VerifyFinding, counted, wrong } from "../../values/finding.ts"
import { type Known, type KnownTable, countedRows, shownKey } from "./existing-tables.ts"

/**
 * A version begins exactly when the previous one ends, and the current row begins when its newest version ends. A version
 * with `_deleted_at` may begin later: marking a row as deleted changes it without archiving a version.
 */
const problem = `CASE
  WHEN ends <= starts THEN 'with _valid_to not after _valid_from, because the clock was wrong when a run began or ended it'
  WHEN previous_end > starts THEN 'overlapping the previous version'
  WHEN previous_end < starts AND _deleted_at IS NULL THEN 'with a gap after the previous version'
  END`

export const checkHistory = Effect.fn("verify.history")(function* ({ tables }: Known) {
  const findings: Array<VerifyFinding> = []
  let versions = 0
  const found = yield* rowsOfEach(
    { problem: stringOf, ...countedRows },
    tables.filter(({ hasVersions }) => hasVersions),
    (known) => {
      const { history, table } = known
      const queries = table.parentColumn === undefined ? chainQueries(known) : childQueries(known, table.parentColumn)
      const all = `SELECT NULL AS problem, count(*) AS n, NULL AS example FROM ${history}`
      return [all, ...queries].map((query) => `(${query})`).join(" UNION ALL ")
    }
  )
  for (const [{ table }, { problem, n, example }] of found) {
    if (problem === undefined) versions += n
    else if (n > 0)
      findings.push(wrong(`history of ${table.name}`, `${counted(n, "version")} ${problem}, for example ${example}`))
  }
  return { looked: counted(versions, "version"), findings }
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
       SELECT *, lag(ends) OVER (PARTITION BY ${key} ORDER BY ends, starts) AS previous_end FROM versions
     )
     SELECT ${problem} AS problem, count(*) AS n, min(${shownKey(table, "chains")}) AS example
     FROM chains WHERE problem IS NOT NULL GROUP BY ALL ORDER BY ALL`,
    `SELECT 'without a row' AS problem, count(*) AS n, min(${shownKey(table, "t")}) AS example
     FROM ${history} AS t ANTI JOIN ${current} AS c USING (${key})`
  ]
}

/** Child rows are archived together with the version of their parent row, so they have its period. */
const childQueries = ({ table, parent, history }: KnownTable, parentColumn: string): ReadonlyArray<string> => {
  const key = names(table.key)
  return [
    `SELECT 'without a version in ${parent.name}' AS problem, count(*) AS n, min(${shownKey(table, "t")}) AS example
     FROM ${history} AS t ANTI JOIN crm_history.${name(parent.name)} AS p ON p.location_id = t.location_id
     AND p.id = t.${name(parentColumn)} AND p._valid_from = t._valid_from AND p._valid_to = t._valid_to`,
    `SELECT 'stored twice' AS problem, count(*) AS n, min(${shownKey(table, "t")}) AS example
     FROM (SELECT ${key} FROM ${history} GROUP BY ${key}, _valid_from HAVING count(*) > 1) AS t`
  ]
}
