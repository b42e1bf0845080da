/** `meta.wide_columns`: the column of a wide view that each custom field has. */
import { literal } from "../sql.ts"

export interface FieldOfLocation {
  readonly location: string
  readonly field: string
}
export interface FieldColumn extends FieldOfLocation {
  readonly view: string
  readonly column: string
}

/** SQL for the columns of a view, with `place`, the order in which they were named. */
export const columnsOfViewSql = (view: string): string =>
  `SELECT location_id, field, column_name, rowid AS place FROM meta.wide_columns WHERE view_name = ${literal(view)}`

/** Stores the columns of fields, in place of earlier ones. */
export const nameColumnsStatements = (named: ReadonlyArray<FieldColumn>): ReadonlyArray<string> => {
  if (named.length === 0) return []
  const keys = named.map(({ view, location, field }) => [view, location, field].map(literal).join(", "))
  const rows = named.map(({ column }, index) => `(${keys[index]}, ${literal(column)})`)
  return [
    `DELETE FROM meta.wide_columns WHERE (view_name, location_id, field) IN (${keys.map((key) => `(${key})`).join(", ")})`,
    `INSERT INTO meta.wide_columns (view_name, location_id, field, column_name) VALUES ${rows.join(", ")}`
  ]
}
