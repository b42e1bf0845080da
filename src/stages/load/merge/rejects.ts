/**
 * Records what does not fit the definitions: rejects, a value once per version of its row and a record once until it
 * changes; and schema drift, once with a sample, then counted.
 */
import * as Effect from "effect/Effect"
import {
  type RejectTable,
  insertRejects,
  insertRounded,
  recordsRejectedIn,
  valuesRejectedBy
} from "../../../stores/warehouse/meta/rejects.ts"
import { instantOf, literal } from "../../../stores/warehouse/sql.ts"
import { type NdjsonFile, readNdjson } from "../ndjson-file.ts"
import type { Transaction } from "../../../stores/warehouse/transaction.ts"
import type { Group } from "../staging-files.ts"
import type { Changes } from "./changes.ts"
import { type SchemaPolicies, isBlocked } from "../../../catalog/schema-policy.ts"
import { addSchemaChanges } from "../../../stores/warehouse/meta/schema-changes.ts"
import { wellFormed } from "../../../catalog/convert.ts"

/** `stage` has the rows of the group. */
export const storeRejects = Effect.fnUntraced(function* (tx: Transaction, group: Group, changes: Changes) {
  yield* recordRejects(
    tx,
    group,
    changes,
    "rejected_values",
    group.rejectedValues,
    `"table" AS table_name, key, "column" AS column_name, value, reason`,
    // A value is not stored again with every sync, and not twice if both list and detail return it.
    `${readNdjson(group.rejectedValues, `"table": 'VARCHAR', key: 'VARCHAR', "column": 'VARCHAR', value: 'VARCHAR', reason: 'VARCHAR', _n: 'BIGINT'`)} AS sent
     ANTI JOIN ${valuesRejectedBy(group.run, group.location)} AS known
       ON known.table_name = sent."table" AND known.key = sent.key AND known.column_name = sent."column" AND known.value = sent.value
     ${ofStored(group)}`
  )
  yield* recordRejects(
    tx,
    group,
    changes,
    "rejected_records",
    group.rejectedRecords,
    `"table" AS table_name, record, reason`,
    `${readNdjson(group.rejectedRecords, `"table": 'VARCHAR', record: 'VARCHAR', reason: 'VARCHAR'`)} AS sent
     ANTI JOIN ${recordsRejectedIn(group.location)} AS known
       ON known.table_name = sent."table" AND known.record = sent.record AND known.reason = sent.reason`
  )
  if (group.roundedValues.length > 0)
    tx.run(
      insertRounded(
        group,
        `(FROM ${readNdjson(group.roundedValues, `"table": 'VARCHAR', "column": 'VARCHAR', _n: 'BIGINT'`)} ${ofStored(group)})`
      )
    )
})

/** WHERE clause: what was found in rows that are stored. The merge has dropped others from `stage`. */
const ofStored = ({ stagedRows }: Group): string =>
  `WHERE _n IS NULL${stagedRows.rows.length === 0 ? "" : " OR _n IN (SELECT _n FROM stage)"}`

const recordRejects = Effect.fnUntraced(function* (
  tx: Transaction,
  group: Group,
  changes: Changes,
  kind: RejectTable,
  lines: NdjsonFile,
  columns: string,
  from: string
) {
  if (lines.length === 0) return
  const [run, location, at] = [literal(group.run), literal(group.location), instantOf(group.at)]
  const rows = yield* tx.write(
    insertRejects(
      kind,
      `(SELECT DISTINCT ${run} AS run_id, ${location} AS location_id, ${columns}, ${at} AS rejected_at FROM ${from})`
    )
  )
  changes.counts.add(group, { [kind]: rows })
})

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
