/** Records rejects and counts them once: a value once per version of its row, a record once until it changes. */
import {
  type RejectTable,
  insertRejects,
  insertRounded,
  rejectedRecordsSql,
  valuesRejectedBy
} from "../../../stores/warehouse/meta/rejects.ts"
import { instantOf, literal } from "../../../stores/warehouse/sql.ts"
import { type NdjsonFile, readNdjson } from "../ndjson-file.ts"
import type { Statement } from "../../../stores/warehouse/warehouse.ts"
import type { Group } from "../staging-files.ts"
import type { Changes } from "./changes.ts"

/** `stage` has the rows of the group. */
export const rejectStatements = (group: Group, changes: Changes): ReadonlyArray<Statement> => [
  ...recordRejects(
    group,
    changes,
    "rejected_values",
    group.rejectedValues,
    `"table" AS table_name, key, "column" AS column_name, value, reason`,
    // Not again with every sync, and not twice if both list and detail return the value.
    `${readNdjson(group.rejectedValues, `"table": 'VARCHAR', key: 'VARCHAR', "column": 'VARCHAR', value: 'VARCHAR', reason: 'VARCHAR', _n: 'BIGINT'`)} AS sent
     ANTI JOIN ${valuesRejectedBy(group.run, group.location)} AS known
       ON known.table_name = sent."table" AND known.key = sent.key AND known.column_name = sent."column" AND known.value = sent.value
     ${ofStored(group)}`
  ),
  ...recordRejects(
    group,
    changes,
    "rejected_records",
    group.rejectedRecords,
    `"table" AS table_name, record, reason`,
    `${readNdjson(group.rejectedRecords, `"table": 'VARCHAR', record: 'VARCHAR', reason: 'VARCHAR'`)} AS sent
     ANTI JOIN ${rejectedRecordsSql} AS known
       ON known.table_name = sent."table" AND known.record = sent.record AND known.reason = sent.reason`
  ),
  ...(group.roundedValues.length === 0
    ? []
    : [
        insertRounded(
          group,
          `(FROM ${readNdjson(group.roundedValues, `"table": 'VARCHAR', "column": 'VARCHAR', _n: 'BIGINT'`)} ${ofStored(group)})`
        )
      ])
]

/** WHERE clause: what was found in rows that are stored. The merge has dropped others from `stage`. */
const ofStored = ({ rows }: Group): string =>
  `WHERE _n IS NULL${rows.length === 0 ? "" : " OR _n IN (SELECT _n FROM stage)"}`

const recordRejects = (
  group: Group,
  changes: Changes,
  kind: RejectTable,
  lines: NdjsonFile,
  columns: string,
  from: string
): ReadonlyArray<Statement> => {
  const [run, location, at] = [literal(group.run), literal(group.location), instantOf(group.at)]
  return lines.length === 0
    ? []
    : [
        {
          sql: insertRejects(
            kind,
            `(SELECT DISTINCT ${run} AS run_id, ${location} AS location_id, ${columns}, ${at} AS rejected_at FROM ${from})`
          ),
          next: (rows) => {
            changes.counts.add(group, { [kind]: rows })
            return []
          }
        }
      ]
}
