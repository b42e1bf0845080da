/** Schema drift: fields and types that differ from the definition. Recorded once with a sample, then counted. */
import { type SchemaPolicies, isBlocked } from "../../../catalog/schema-policy.ts"
import { addSchemaChanges } from "../../../stores/warehouse/meta/schema-changes.ts"
import { wellFormed } from "../../../catalog/convert.ts"
import { type NdjsonFile, readNdjson } from "../ndjson-file.ts"
import type { Group } from "../staging-files.ts"

/** Writes the schema drift of a batch, one line per table, field and kind. */
export const writeDrift = (lines: NdjsonFile, groups: ReadonlyArray<Group>): void => {
  for (const { drift, location, run, at } of groups)
    for (const { table, field, kind, sample, key, count } of drift.values())
      lines.push(
        wellFormed({ _n: lines.length, location, table, field, kind, sample, key, run, _at: at, _count: count })
      )
}

/**
 * One statement for all lines: an account may send thousands of undefined fields, and each statement that writes to a table
 * with a key costs DuckDB some kilobytes until the commit.
 */
export const driftStatements = (lines: NdjsonFile): ReadonlyArray<string> =>
  lines.length === 0
    ? []
    : [
        addSchemaChanges(
          readNdjson(
            lines,
            `_n: 'BIGINT', location: 'VARCHAR', "table": 'VARCHAR', field: 'VARCHAR', kind: 'VARCHAR', sample: 'VARCHAR', key: 'VARCHAR', run: 'VARCHAR', _at: 'BIGINT', _count: 'BIGINT'`
          )
        )
      ]

/** Fields that a frozen resource does not accept. */
export const blockedFields = ({ drift, resource }: Group, policies: SchemaPolicies): ReadonlyArray<string> =>
  [...drift.values()]
    .filter(({ table, field }) => isBlocked(policies, resource, table, field))
    .map(({ table, field }) => `${table}.${field}`)
