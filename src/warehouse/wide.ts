/**
 * Custom fields as columns: beside each long table of values a view with a column for each field, typed by the field's
 * definition. A field keeps the column it got when it was first seen, whatever it is called later.
 */
import { Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { Resource, Wide } from "../catalog/resource.ts"
import { idColumn, snakeCase, wideName } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { literal, name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** What DuckDB can still show side by side; further fields stay in the long table. */
const columnsMax = 1000

/** Makes the views anew. Fields of all locations share one view. */
export const refreshWide = Effect.fn("warehouse.refreshWide")(function* ({
  resources
}: Catalogue): Effect.fn.Return<void, Failure, Warehouse> {
  for (const resource of resources) if (resource.wide) yield* refreshView(resource, resource.wide)
})

interface WideColumn {
  readonly column: string
  readonly fields: Array<string>
  /** As the field's definition says; unknown to some keys of answers. */
  readonly dataType: string | undefined
  readonly label: string
}

const refreshView = Effect.fnUntraced(function* (resource: Resource, wide: Wide) {
  const warehouse = yield* Warehouse
  const view = literal(wideName(resource))
  const fields = yield* warehouse.rows(
    `SELECT f.location_id, f.field, c.field_key, c.data_type, c.name, w.column_name FROM (${fieldsOf(wide)}) AS f
     LEFT JOIN crm.custom_fields AS c ON c.location_id = f.location_id AND c.id = f.field
     LEFT JOIN meta.wide_columns AS w ON w.view_name = ${view} AND w.location_id = f.location_id AND w.field = f.field
     ORDER BY w.column_name IS NULL, f.location_id, c.position, f.field`
  )
  const columns = new Map<string, WideColumn>()
  const known: Array<string> = []
  for (const row of fields) {
    const field = String(row["field"])
    const dataType = row["data_type"] === null ? undefined : String(row["data_type"])
    const key = String(row["field_key"] ?? field).replace(/^(contact|opportunity)\./, "")
    const column =
      row["column_name"] === null ? freeName(columns, wide.prefix + plain(key), dataType) : String(row["column_name"])
    if (!columns.has(column) && columns.size >= columnsMax) continue
    const same = columns.get(column) ?? { column, fields: [], dataType, label: String(row["name"] ?? field) }
    same.fields.push(field)
    columns.set(column, same)
    if (row["column_name"] === null)
      known.push(`(${view}, ${[String(row["location_id"]), field, column].map(literal).join(", ")})`)
  }
  yield* warehouse.transaction([
    ...(known.length > 0 ? [`INSERT INTO meta.wide_columns VALUES ${known.join(", ")}`] : []),
    ...viewStatements(resource, wide, [...columns.values()])
  ])
})

/** Fields that are defined, and those that were ever filled. */
const fieldsOf = ({ table, field, model }: Wide) =>
  `SELECT DISTINCT location_id, ${name(field)} AS field FROM crm.${name(table)}
   ${model === undefined ? "" : `UNION SELECT location_id, id FROM crm.custom_fields WHERE model = ${literal(model)}`}`

/** The same key in two locations shares a column, if it means the same kind of value. */
const freeName = (columns: ReadonlyMap<string, WideColumn>, wanted: string, dataType: string | undefined): string => {
  for (let n = 1; ; n++) {
    const column = n === 1 ? wanted : `${wanted}_${n}`
    const taken = columns.get(column)
    if (!taken || (taken.dataType === dataType && dataType !== undefined)) return column
  }
}

const plain = (key: string) =>
  snakeCase(key)
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "")
    .slice(0, 60) || "field"

const viewStatements = (resource: Resource, wide: Wide, columns: ReadonlyArray<WideColumn>): ReadonlyArray<string> => {
  const view = `crm.${name(wideName(resource))}`
  const parent = name(idColumn(resource.table))
  const values = columns.map(({ column, fields, dataType }) => {
    const here = `FILTER (${name(wide.field)} IN (${fields.map(literal).join(", ")}))`
    return `${typed(dataType, `max(value_text) ${here}`, `max(value::VARCHAR) ${here}`)} AS ${name(column)}`
  })
  return [
    values.length === 0
      ? `CREATE OR REPLACE VIEW ${view} AS FROM crm.${name(resource.table)}`
      : `CREATE OR REPLACE VIEW ${view} AS SELECT t.*, w.* EXCLUDE (location_id, ${parent}) FROM crm.${name(resource.table)} AS t
         LEFT JOIN (SELECT location_id, ${parent}, ${values.join(", ")} FROM crm.${name(wide.table)} GROUP BY ALL) AS w
         ON w.location_id = t.location_id AND w.${parent} = t.id`,
    `COMMENT ON VIEW ${view} IS ${literal(`${resource.table} with a column for each field of ${wide.table}`)}`,
    ...columns.map(
      ({ column, label, dataType }) =>
        `COMMENT ON COLUMN ${view}.${name(column)} IS ${literal(`${label}${dataType ? ` (${dataType})` : ""}`)}`
    )
  ]
}

/** A value that does not fit the field's type is NULL here; the long table holds it as it was sent. */
const typed = (dataType: string | undefined, text: string, json: string): string => {
  switch (dataType) {
    case "MONETORY":
    case "MONETARY":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{1,14}(\\.[0-9]{1,4}0*)?') THEN (${text})::DECIMAL(18,4) END`
    case "NUMERICAL":
    case "FLOAT":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{1,20}(\\.[0-9]{1,18}0*)?') THEN (${text})::DECIMAL(38,18) END`
    case "DATE":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{11,15}') THEN epoch_ms((${text})::BIGINT)::DATE
        ELSE coalesce(try_cast(left(${text}, 10) AS DATE), try_strptime(left(${text}, 10), ${dayFormats})::DATE) END`
    case "DATE_TIME":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{11,15}') THEN to_timestamp((${text})::BIGINT / 1000)
        ELSE try_cast(${text} AS TIMESTAMPTZ) END`
    case "CHECKBOX":
    case "MULTIPLE_OPTIONS":
      return `CASE WHEN ${json} LIKE '[%' THEN try_cast((${json})::JSON AS VARCHAR[]) WHEN ${text} <> '' THEN [${text}] END`
    case "FILE_UPLOAD":
    case "SIGNATURE":
    case "TEXTBOX_LIST":
      return `(${json})::JSON`
    default:
      return text
  }
}
const dayFormats = "['%Y/%m/%d', '%m/%d/%Y', '%m-%d-%Y', '%Y.%m.%d', '%m.%d.%Y', '%Y_%m_%d', '%m_%d_%Y']"
