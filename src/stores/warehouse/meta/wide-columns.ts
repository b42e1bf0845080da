/** `meta.wide_columns`: the column of a wide view that each custom field has. */
import { literal } from "../sql.ts"

export interface FieldOfLocation {
  readonly location: string
  readonly field: string
}
export interface FieldColumn extends FieldOfLocation {
  readonly column: string
}

/** SQL for the columns of a view, with `place`, the order in which they were named. */
export const columnsOfViewSql = (view: string): string =>
  `SELECT location_id, field, column_name, rowid AS place FROM meta.wide_columns WHERE view_name = ${literal(view)}`

/** Stores the columns of fields, in place of earlier ones. */
export const nameColumnsStatements = (view: string, named: ReadonlyArray<FieldColumn>): ReadonlyArray<string> =>
  named.length === 0
    ? []
    : [
        `DELETE FROM meta.wide_columns WHERE view_name = ${literal(view)}
         AND (location_id, field) IN (${named.map(({ location, field }) => `(${literal(location)}, ${literal(field)})`).join(", ")})`,
        `INSERT INTO meta.wide_columns (view_name, location_id, field, column_name) VALUES ${named
          .map(({ location, field, column }) => `(${[view, location, field, column].map(literal).join(", ")})`)
          .join(", ")}`
      ]
