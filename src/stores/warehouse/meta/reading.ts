/** What the tables of the state have in common: a row, or some, for each list or for the children of each parent table. */
import { query } from "../query.ts"
import { literal } from "../sql.ts"

export interface Reading {
  readonly location: string
  /** A resource, the label of its children, or that of its backfill. */
  readonly label: string
}

/** WHERE clause: the rows of these readings. */
export const isOneOf = (readings: ReadonlyArray<Reading>): string =>
  `(location_id, resource) IN (VALUES ${readings.map(({ location, label }) => `(${literal(location)}, ${literal(label)})`).join(", ")})`

/** The readings that have a row in the table. */
export const readingsIn = (table: "parent_state" | "missing_children") =>
  query(
    { location: String, label: String },
    `SELECT DISTINCT location_id AS location, resource AS label FROM meta.${table}`
  )
