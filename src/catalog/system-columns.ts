/** The columns that sluice adds to those of the records. */
import type { Column } from "./tables.ts"

export const systemColumn = (name: string, sql: string, description: string): Column => ({
  name,
  type: "system",
  sql,
  description,
  personal: "none",
  detail: false
})
export const referenceColumn = (name: string, table: string, how: string): Column => ({
  ...systemColumn(name, "VARCHAR", `Row of ${table} ${how}`),
  references: table,
  role: "identifier"
})
export const locationColumn: Column = {
  ...systemColumn("location_id", "VARCHAR", "Location the row was read from"),
  references: "locations",
  role: "identifier"
}
export const extraColumn: Column = {
  ...systemColumn("_extra", "JSON", "Fields the service sent that have no column, as sent"),
  // Nobody has looked at these fields.
  personal: "direct"
}
export const runColumns = [
  systemColumn("_synced_at", "TIMESTAMPTZ", "When the page that brought this version of the row was read"),
  { ...systemColumn("_run_id", "VARCHAR", "Run that loaded it; see meta.runs"), role: "identifier" as const }
]
