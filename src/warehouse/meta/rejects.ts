/** `meta.rejected_values` and `meta.rejected_records`: what did not fit, as it was sent. */
import { literal } from "../sql.ts"

export type RejectTable = "rejected_values" | "rejected_records"

/** Values that this run rejected before: SQL for a relation with all columns of the table. */
export const valuesRejectedBy = (run: string, location: string): string =>
  `(FROM meta.rejected_values WHERE run_id = ${literal(run)} AND location_id = ${literal(location)})`

export const rejectedRecordsSql = "meta.rejected_records"

/** `from`: a relation with the columns of the table. */
export const insertRejects = (table: RejectTable, from: string): string =>
  `INSERT INTO meta.${table} BY NAME FROM ${from}`
