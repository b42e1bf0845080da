/** What the service sends otherwise than defined: told once with its first sample, and counted from then on. */
import { type SchemaPolicies, isRefused } from "../../catalog/schema-policy.ts"
import { addBlockedFields } from "../../warehouse/meta/run-resources.ts"
import { addSchemaChanges } from "../../warehouse/meta/schema-changes.ts"
import { wellFormed } from "../normalise/convert.ts"
import { type NdjsonFile, readNdjson } from "../ndjson-file.ts"
import type { Group } from "../staging-files.ts"

/** Everything that a batch has to tell, one line each. */
export const writeDrift = (lines: NdjsonFile, groups: ReadonlyArray<Group>): void => {
  for (const { drift, location, run, at } of groups)
    for (const { table, field, kind, sample, count } of drift.values())
      lines.push(wellFormed({ _n: lines.length, location, table, field, kind, sample, run, _at: at, _count: count }))
}

/**
 * One statement for all of them: an account may send thousands of fields that no definition names, and each statement of
 * a transaction that writes into a table with a key takes DuckDB some kilobytes until it is committed.
 */
export const driftStatements = (lines: NdjsonFile): ReadonlyArray<string> =>
  lines.length === 0
    ? []
    : [
        addSchemaChanges(
          readNdjson(
            lines,
            `_n: 'BIGINT', location: 'VARCHAR', "table": 'VARCHAR', field: 'VARCHAR', kind: 'VARCHAR', sample: 'VARCHAR', run: 'VARCHAR', _at: 'BIGINT', _count: 'BIGINT'`
          )
        )
      ]

/** What a frozen resource does not accept. */
export const blockedStatements = (group: Group, policies: SchemaPolicies): ReadonlyArray<string> =>
  addBlockedFields(
    group,
    [...group.drift.values()]
      .filter(({ table, field }) => isRefused(policies, group.resource, table, field))
      .map(({ table, field }) => `${table}.${field}`)
  )
