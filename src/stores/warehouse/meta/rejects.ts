/** `meta.rejected_values`, `meta.rejected_records`, `meta.rounded_values`: what does not fit the tables, or not exactly. */
import { literal } from "../sql.ts"
import type { Counted } from "./run-changes.ts"

export type RejectTable = "rejected_values" | "rejected_records"

/** SQL for the values that a run has rejected so far: a relation with all columns of the table. */
export const valuesRejectedBy = (run: string, location: string): string =>
  `(FROM meta.rejected_values WHERE run_id = ${literal(run)} AND location_id = ${literal(location)})`

/** SQL for the records that any run has rejected there: two locations may send the same record without a key. */
export const recordsRejectedIn = (location: string): string =>
  `(FROM meta.rejected_records WHERE location_id = ${literal(location)})`

/** Counts the numbers that a reading has rounded. `from`: a relation with the table and column of each. */
export const insertRounded = ({ run, location, label }: Counted, from: string): string =>
  `INSERT INTO meta.rounded_values (run_id, location_id, resource, table_name, column_name, rounded)
   SELECT ${[run, location, label].map(literal).join(", ")}, "table", "column", count(*) FROM ${from} GROUP BY ALL`

/** `from`: a relation with the columns of the table. */
export const insertRejects = (table: RejectTable, from: string): string =>
  `INSERT INTO meta.${table} BY NAME FROM ${from}`
