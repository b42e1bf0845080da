/**
 * Custom fields as columns: beside each long table of values a view with a column for each field, typed by the field's
 * definition. A field keeps the column that its key gave it first, whatever it is called later; without a key, the column is
 * called after the field's name, or its id, until there is one.
 */
import { Effect } from "effect"
import { decimalSql } from "../catalog/decimals.ts"
import type { Catalogue } from "../catalog/discover.ts"
import type { Resource, Wide } from "../catalog/resource.ts"
import { idColumn, snakeCase, wideName } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { type FieldColumn, columnsOfViewSql, nameColumnsStatements } from "./meta/wide-columns.ts"
import { literal, name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** What DuckDB can still show side by side; further fields stay in the long table. */
const columnsMax = 1000

/** A table with a column for each custom field beside its own. */
export interface WideView {
  /** Name of the view. */
  readonly view: string
  /** Table whose rows it shows. */
  readonly table: string
  /** Table with the values. */
  readonly values: string
  /** SELECT of the rows between two places of the table: DuckDB spills none of the values it brings together. */
  readonly rows: (schema: string, first: number, last: number) => string
  /** Statements that make the view. */
  readonly statements: (schema: string) => ReadonlyArray<string>
  /** Statements that keep the names of new columns for good. */
  readonly keep: ReadonlyArray<string>
}

/** Makes the views anew. */
export const refreshWide = Effect.fn("warehouse.refreshWide")(function* (
  catalogue: Catalogue
): Effect.fn.Return<ReadonlyArray<WideView>, Failure, Warehouse> {
  const views = yield* wideViews(catalogue)
  yield* (yield* Warehouse).transaction(views.flatMap(({ keep, statements }) => [...keep, ...statements("crm")]))
  return views
})

/** As they would be made now. Fields of all locations share one view. */
export const wideViews = ({ resources }: Catalogue) =>
  Effect.forEach(
    resources.flatMap((resource) => (resource.wide ? [[resource, resource.wide] as const] : [])),
    ([resource, wide]) => Effect.map(columnsOf(resource, wide), (found) => viewOf(resource, wide, found))
  )

interface WideColumn {
  readonly column: string
  readonly fields: Array<string>
  /** As the field's definition says; unknown to some keys of answers. */
  readonly dataType: string | undefined
  readonly label: string
}
interface Found {
  readonly columns: ReadonlyArray<WideColumn>
  /** Columns that fields have from now on. */
  readonly named: ReadonlyArray<FieldColumn>
}

const columnsOf = Effect.fnUntraced(function* (
  resource: Resource,
  wide: Wide
): Effect.fn.Return<Found, Failure, Warehouse> {
  // Those that have their name stay where they are.
  const fields = yield* (yield* Warehouse).rows(
    `SELECT f.location_id, f.field, c.field_key, c.data_type, c.name, w.column_name FROM (${fieldsOf(wide)}) AS f
     LEFT JOIN crm.custom_fields AS c ON c.location_id = f.location_id AND c.id = f.field
     LEFT JOIN (${columnsOfViewSql(wideName(resource))}) AS w ON w.location_id = f.location_id AND w.field = f.field
     ORDER BY w.place NULLS LAST, f.location_id, c.position, f.field`
  )
  const columns = new Map<string, WideColumn>()
  const named: Array<FieldColumn> = []
  for (const row of fields) {
    const field = String(row["field"])
    const dataType = row["data_type"] === null ? undefined : String(row["data_type"])
    const key = String(row["field_key"] ?? row["name"] ?? field).replace(/^(contact|opportunity)\./, "")
    const kept = row["column_name"] === null ? undefined : String(row["column_name"])
    // Given by the id, before there was a definition.
    const isPassing = row["field_key"] !== null && isNamedAs(kept, wide.prefix + plain(field))
    const column = kept === undefined || isPassing ? freeName(columns, wide.prefix + plain(key), dataType) : kept
    if (!columns.has(column) && columns.size >= columnsMax) continue
    const same = columns.get(column) ?? { column, fields: [], dataType, label: String(row["name"] ?? field) }
    same.fields.push(field)
    columns.set(column, same)
    // Fields of no model are called by their keys where they are no custom fields.
    if (column !== kept && (row["field_key"] !== null || wide.model === undefined))
      named.push({ location: String(row["location_id"]), field, column })
  }
  return { columns: [...columns.values()], named }
})

/** Fields that are defined, and those that were ever filled. A folder of fields is listed among them and has no values. */
const fieldsOf = ({ table, field, model }: Wide) =>
  `SELECT DISTINCT location_id, ${name(field)} AS field FROM crm.${name(table)}
   ${model === undefined ? "" : `UNION SELECT location_id, id FROM crm.custom_fields AS c WHERE model = ${literal(model)} AND ${isField}`}`
/** Whether the definition has a column for the type or not. */
const isField = `coalesce(to_json(c)->>'document_type', _extra->>'documentType') IS DISTINCT FROM 'folder'`

const isNamedAs = (column: string | undefined, wanted: string): boolean =>
  column === wanted || column?.replace(/_\d+$/, "") === wanted

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

/**
 * All values of a row are brought together once and picked from: an aggregate for each column is a multiple of the work
 * and of the memory.
 */
const viewOf = (resource: Resource, wide: Wide, { columns, named }: Found): WideView => {
  const [view, parent] = [wideName(resource), name(idColumn(resource.table))]
  const values = columns.map(({ column, fields, dataType }) => {
    const picked = (list: string) =>
      `coalesce(${fields.map((field) => `w.${list}[list_position(w.fields, ${literal(field)})]`).join(", ")})`
    return `${typed(dataType, picked("texts"), picked("jsons"))} AS ${name(column)}`
  })
  const select = (table: string, from: string) =>
    values.length === 0
      ? `SELECT * FROM ${table}`
      : `SELECT t.*, ${values.join(", ")} FROM ${table} AS t
         LEFT JOIN (SELECT location_id, ${parent}, list(${name(wide.field)}) AS fields, list(value_text) AS texts, list(value::VARCHAR) AS jsons
           FROM ${from} GROUP BY ALL) AS w ON w.location_id = t.location_id AND w.${parent} = t.id`
  return {
    view,
    table: resource.table,
    values: wide.table,
    rows: (schema, first, last) => {
      const rows = `(FROM ${schema}.${name(resource.table)} WHERE rowid BETWEEN ${first} AND ${last})`
      return select(rows, `${schema}.${name(wide.table)} WHERE ${parent} IN (SELECT id FROM ${rows})`)
    },
    statements: (schema) => [
      `CREATE OR REPLACE VIEW ${schema}.${name(view)} AS ${select(`${schema}.${name(resource.table)}`, `${schema}.${name(wide.table)}`)}`,
      `COMMENT ON VIEW ${schema}.${name(view)} IS ${literal(`${resource.table} with a column for each field of ${wide.table}`)}`,
      ...columns.map(
        ({ column, label, dataType }) =>
          `COMMENT ON COLUMN ${schema}.${name(view)}.${name(column)} IS ${literal(`${label}${dataType ? ` (${dataType})` : ""}`)}`
      )
    ],
    keep: nameColumnsStatements(view, named)
  }
}

/** A value that does not fit the field's type is NULL here; the long table holds it as it was sent. */
const typed = (dataType: string | undefined, text: string, json: string): string => {
  switch (dataType) {
    case "MONETORY":
    case "MONETARY":
    case "NUMERICAL":
    case "FLOAT":
      return decimalSql(text)
    case "DATE":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{11,15}') THEN epoch_ms((${text})::BIGINT)::DATE
        ELSE coalesce(try_cast(left(${text}, 10) AS DATE), try_strptime(left(${text}, 10), ${dayFormats})::DATE) END`
    case "DATE_TIME":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{11,15}') THEN to_timestamp((${text})::BIGINT / 1000)
        WHEN regexp_matches(${text}, '[0-9]:[0-9]{2}.*([Zz]|[+-][0-9:]+)$') THEN try_cast(${text} AS TIMESTAMPTZ)
        ELSE try_cast(${text} AS TIMESTAMP) AT TIME ZONE 'UTC' END`
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
