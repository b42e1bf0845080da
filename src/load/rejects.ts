/** What did not fit, told and counted once: a value for each version of its row, a record as long as it stays as it is. */
import { instantOf, literal } from "../warehouse/sql.ts"
import { countedIn } from "./gone.ts"
import { type Lines, readLines } from "./lines.ts"
import type { Group } from "./spool.ts"

export const rejectStatements = (group: Group): ReadonlyArray<string> => [
  ...tell(
    group,
    "rejected_values",
    group.rejectedValues,
    `"table" AS table_name, key, "column" AS column_name, value, reason`,
    // Not once a night; and list and detail may both show it.
    `${readLines(group.rejectedValues, `"table": 'VARCHAR', key: 'VARCHAR', "column": 'VARCHAR', value: 'VARCHAR', reason: 'VARCHAR', _n: 'BIGINT'`)} AS sent
     SEMI JOIN stage USING (_n)
     ANTI JOIN (FROM meta.rejected_values WHERE run_id = ${literal(group.run)} AND location_id = ${literal(group.location)}) AS known
       ON known.table_name = sent."table" AND known.key = sent.key AND known.column_name = sent."column" AND known.value = sent.value`
  ),
  ...tell(
    group,
    "rejected_records",
    group.rejectedRecords,
    `"table" AS table_name, record, reason`,
    `${readLines(group.rejectedRecords, `"table": 'VARCHAR', record: 'VARCHAR', reason: 'VARCHAR'`)} AS sent
     ANTI JOIN meta.rejected_records AS known
       ON known.table_name = sent."table" AND known.record = sent.record AND known.reason = sent.reason`
  )
]

const tell = (
  group: Group,
  kind: "rejected_values" | "rejected_records",
  lines: Lines,
  columns: string,
  from: string
): ReadonlyArray<string> => {
  const [run, location, at] = [literal(group.run), literal(group.location), instantOf(group.at)]
  return lines.length === 0
    ? []
    : [
        `CREATE OR REPLACE TEMP TABLE rejects AS
         SELECT DISTINCT ${run} AS run_id, ${location} AS location_id, ${columns}, ${at} AS rejected_at FROM ${from}`,
        `INSERT INTO meta.${kind} BY NAME FROM rejects`,
        `UPDATE meta.run_resources SET ${kind} = ${kind} + (SELECT count(*) FROM rejects) WHERE ${countedIn(group)}`
      ]
}
