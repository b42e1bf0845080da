/** What the service sends otherwise than defined: told once with its first sample, and counted from then on. */
import { type SchemaPolicies, isRefused } from "../catalog/policy.ts"
import { literal } from "../warehouse/sql.ts"
import { wellFormed } from "./convert.ts"
import { countedIn } from "./gone.ts"
import { type Lines, readLines } from "./lines.ts"
import type { Group } from "./spool.ts"

/** Everything that a batch has to tell, one line each. */
export const writeDrift = (lines: Lines, groups: ReadonlyArray<Group>): void => {
  for (const { drift, location, run, at } of groups)
    for (const { table, field, kind, sample, count } of drift.values())
      lines.push(wellFormed({ _n: lines.length, location, table, field, kind, sample, run, _at: at, _count: count }))
}

/**
 * One statement for all of them: an account may send thousands of fields that no definition names, and each statement of
 * a transaction that writes into a table with a key takes DuckDB some kilobytes until it is committed.
 */
export const driftStatements = (lines: Lines): ReadonlyArray<string> =>
  lines.length === 0
    ? []
    : [
        `INSERT INTO meta.schema_changes
         SELECT location, "table", field, kind, arg_min(sample, _n), arg_min(run, _n), to_timestamp(min(_at) / 1000), sum(_count)
         FROM ${readLines(lines, `_n: 'BIGINT', location: 'VARCHAR', "table": 'VARCHAR', field: 'VARCHAR', kind: 'VARCHAR', sample: 'VARCHAR', run: 'VARCHAR', _at: 'BIGINT', _count: 'BIGINT'`)}
         GROUP BY ALL ON CONFLICT DO UPDATE SET seen = seen + excluded.seen`
      ]

/** What a frozen resource must not send is noted where its verdict will be. */
export const frozenStatements = (group: Group, policies: SchemaPolicies): ReadonlyArray<string> => {
  const refused = [...group.drift.values()].filter(({ table, field }) =>
    isRefused(policies, group.resource, table, field)
  )
  const places = refused.map(({ table, field }) => literal(`${table}.${field}`))
  return places.length === 0
    ? []
    : [
        `UPDATE meta.run_resources SET frozen_out = list_sort(list_distinct(list_concat(frozen_out, [${places.join(", ")}])))
         WHERE ${countedIn(group)}`
      ]
}
