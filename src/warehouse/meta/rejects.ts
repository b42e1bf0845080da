/** `meta.rejected_values` and `meta.rejected_records`: values and records that do not fit the tables, as sent. */
import { literal } from "../sql.ts"

export type RejectTable = "rejected_values" | "rejected_records"

/** SQL for the values that a run has rejected so far: a relation with all columns of the table. */
export const valuesRejectedBy = (run: string, location: string): string =>
  `(FROM meta.rejected_values WHERE run_id = ${literal(run)} AND location_id = ${literal(location)})`

export const rejectedRecordsSql = "meta.rejected_records"

/** `from`: a relation with the columns of the table. */
export const insertRejects = (table: RejectTable, from: string): string =>
  `INSERT INTO meta.${table} BY NAME FROM ${from}`
