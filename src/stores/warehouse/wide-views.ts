/**
 * Wide views show custom fields as columns: for each table with custom values, a view has one column for each field,
 * with the type that the field's definition says. The column is named after the key of the field (`wide-names.ts`) and keeps
 * this name, even if the key changes. While a field has no key, its column is named after the name of the field, or its id.
 */
import { type Limit, Limits } from "../../values/limits.ts"
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Catalogue } from "../../catalog/discover.ts"
import { type CustomFieldClasses, type PersonalData, worstOf } from "../../catalog/personal-data.ts"
import type { Resource, Wide } from "../../catalog/resource.ts"
import { firstWide, idColumn, tablesOf, wideName } from "../../catalog/tables.ts"
import { wideDictionaryStatements } from "./meta/columns.ts"
import { contentVersions, forgetViews, storeViewVersions } from "./meta/content-versions.ts"
import { type ReachedLimit, reachedLimits, storeLimits } from "./meta/limits.ts"
import type { FieldColumn, FieldOfLocation, WideColumn, WideView } from "./wide-view.ts"
import { columnsOfViewSql, nameColumnsStatements, readValuesSql } from "./meta/wide-readings.ts"
import { readingFunction, readingOf, readingStatements } from "./meta/wide-readings.ts"
import { query, queryTexts } from "./query.ts"
import { type RowOf } from "../../values/rows.ts"
import { literal, name, numberOf, stringOf } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"
import { nameAfter, nameColumns } from "./wide-names.ts"
import { typed } from "./wide-types.ts"

/**
 * Recreates the wide views whose fields have changed, and describes their columns in `meta.columns`. The warehouse has no
 * comments on them.
 */
export const refreshWide = Effect.fn("warehouse.refreshWide")(function* (
  catalogue: Catalogue,
  classes: CustomFieldClasses = {}
) {
  const views = yield* wideViews(catalogue, classes)
  const versions = yield* contentVersions()
  // The readings follow from the views and the values.
  const content = views.map(({ definition, table }) => [definition, versions.get(table)?.version])
  const readings = hash("sha256", JSON.stringify(content))
  const isRead = versions.get(readingsName)?.version === readings
  const changed = views.filter(({ definition, view }) => versions.get(view)?.version !== definition)
  const { textFunction, transaction } = yield* Warehouse
  const { wideColumns } = (yield* Limits).warehouse
  const limits = [...Map.groupBy(views, ({ first }) => first).values()].flatMap(limitOf(wideColumns.value))
  const dropped = [...versions.keys()].filter(
    (one) =>
      firstWide(one).endsWith("_wide") &&
      !views.some(({ view }) => view === one) &&
      !catalogue.resources.some(({ table }) => table === one)
  )
  const isKnown = JSON.stringify(limits) === JSON.stringify(yield* reachedLimits())
  if (!isRead) yield* textFunction(readingFunction, 2, readingOf)
  yield* transaction([
    ...(isKnown ? [] : storeLimits(limits)),
    ...nameColumnsStatements(views.flatMap(({ named }) => named)),
    ...changed.map(({ statement }) => statement("crm")),
    ...dropped.map((view) => `DROP VIEW IF EXISTS crm.${name(view)}`),
    ...forgetViews(dropped),
    ...wideDictionaryStatements(changed),
    ...(isRead ? [] : readingStatements(views)),
    ...storeViewVersions([...changed, ...(isRead ? [] : [{ view: readingsName, definition: readings }])])
  ])
  return views
})

/** Of the views of the same rows, the further ones have what the first one lacks. */
const limitOf =
  (allowed: number) =>
  ([first, ...further]: ReadonlyArray<WideView>): ReadonlyArray<ReachedLimit> => {
    if (first === undefined || further.length === 0) return []
    const leftOut = further.flatMap(({ columns }) => columns.map(({ column }) => column)).toSorted()
    return [
      {
        place: first.view,
        what: "columns of custom fields",
        allowed,
        found: first.columns.length + leftOut.length,
        leftOut,
        whole: further.map(({ view }) => view).join(", ")
      }
    ]
  }

const readingsName = "wide_readings"

/** Increase it when `catalog/convert.ts` reads a value in another way. */
const rules = 2

/**
 * The wide views for the fields that exist now; creates none. Fields of all locations share one view. Without `classes`,
 * the columns have the classes of personal data that `refreshWide` has stored.
 */
export const wideViews = Effect.fnUntraced(function* ({ resources }: Catalogue, classes?: CustomFieldClasses) {
  // A warehouse of an earlier version lacks the tables of newer definitions until its next sync.
  const existing = new Set(yield* queryTexts("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'crm'"))
  const wide = resources.flatMap((resource) =>
    resource.wide && existing.has(resource.wide.table) ? [[resource, resource.wide] as const] : []
  )
  if (wide.length === 0) return []
  const hasObjects = existing.has("object_fields")
  const rows = yield* query(
    fieldColumns,
    `${wide.map(([resource, one]) => fieldsOfViewSql(resource, one, hasObjects)).join(" UNION ALL ")} ORDER BY ALL`
  )
  const byView = Map.groupBy(rows, ({ view }) => view)
  const { wideColumns } = (yield* Limits).warehouse
  return wide.flatMap(([resource, one]) =>
    partsByObject(resource, byView.get(wideName(resource)) ?? []).flatMap((part) =>
      columnsOf(resource, one, classes, part, wideColumns).map((columns) => viewOf(resource, one, part, columns))
    )
  )
})

/** The fields that one view shows, with the later ones of the same rows. */
interface WidePart {
  readonly first: string
  readonly fields: ReadonlyArray<RowOf<typeof fieldColumns>>
  /** The objects whose records it has. Absent: it has all rows. */
  readonly objects?: ReadonlySet<string>
}

/** One part, or one for each object: fields of objects begin with the key of theirs. Keys that are written alike share a part. */
const partsByObject = (resource: Resource, fields: WidePart["fields"]): ReadonlyArray<WidePart> => {
  const all = wideName(resource)
  if (resource.partitionColumn === undefined || fields.length === 0) return [{ first: all, fields }]
  const objectOf = (field: string) => field.replace(/\..*$/s, "")
  const viewOf = ({ field }: { readonly field: string }) => nameAfter(objectOf(field), `${all}_`)
  return [...Map.groupBy(fields, viewOf)].map(([first, own]) => ({
    first,
    fields: own.map((one) => ({ ...one, key: (one.key ?? one.field).replace(/^[^.]+\./, "") })),
    objects: new Set(own.map(({ field }) => objectOf(field)))
  }))
}

interface WideColumns {
  readonly view: string
  readonly columns: ReadonlyArray<WideColumn>
  /** Column names to store, which these fields keep from now on. */
  readonly named: ReadonlyArray<FieldColumn>
}

/** SQL for the fields of a view. Those with a stored name come first, in their old order, and those whose name is not stored last. */
const fieldsOfViewSql = (resource: Resource, wide: Wide, hasObjects: boolean): string => {
  const view = literal(wideName(resource))
  return `SELECT ${view} AS view, w.place, c.field_key IS NULL, f.location_id AS location, c.position, f.field, nullif(c.field_key, '') AS key,
       c.data_type AS dataType, c.name, epoch_ms(c.date_added) AS madeAt, w.column_name AS known, w.view_name AS "knownView", d.personal_data AS personal FROM (${fieldsOf(wide, hasObjects && resource.partitionColumn !== undefined)}) AS f
     LEFT JOIN (${definitionsSql(hasObjects)}) AS c ON c.location_id = f.location_id AND c.id = f.field
     LEFT JOIN (${columnsOfViewSql(wideName(resource))}) AS w ON w.location_id = f.location_id AND w.field = f.field
     LEFT JOIN meta.columns AS d ON d.table_name = w.view_name AND d.column_name = w.column_name`
}

/** SQL: a key of an object, or of a field of one, without its first word, which is spelt in two ways. */
const objectKeySql = (key: string): string => `regexp_replace(${key}, '^custom_objects?\\.', '')`

const definitionsSql = (hasObjects: boolean): string => {
  const columns = "data_type, name, date_added"
  const key = objectKeySql("field_key")
  return `SELECT location_id, id, field_key, position, ${columns} FROM crm.custom_fields${
    hasObjects ? ` UNION ALL SELECT location_id, ${key}, ${key}, NULL, ${columns} FROM crm.object_fields` : ""
  }`
}

const fieldColumns = {
  view: String,
  location: String,
  field: String,
  key: stringOf,
  name: stringOf,
  dataType: stringOf,
  madeAt: numberOf,
  known: stringOf,
  knownView: stringOf,
  personal: (cell: unknown) => (cell ?? "direct") as PersonalData
}

const columnsOf = (
  resource: Resource,
  wide: Wide,
  classes: CustomFieldClasses | undefined,
  { fields: found, first }: WidePart,
  limit: Limit
): ReadonlyArray<WideColumns> => {
  const viewAt = (n: number) => (n === 0 ? first : `${first}_${n + 1}`)
  const names = nameColumns(found, wide.prefix, new Set(tablesOf(resource)[0].columns.map((column) => column.name)))
  const columns = new Map<string, WideColumn>()
  const named: Array<FieldColumn> = []
  const places = new Map<string, number>()
  for (const one of found) {
    const { dataType, field, key, known, knownView, location, name } = one
    const column = names.of(one)
    const place = places.get(column) ?? places.size
    places.set(column, place)
    const view = viewAt(Math.floor(place / limit.value))
    const personal = classes === undefined ? one.personal : (classes[key ?? field] ?? "direct")
    const same = columns.get(column)
    columns.set(column, {
      column,
      fields: [...(same?.fields ?? []), { location, field }],
      dataType,
      label: same?.label ?? name ?? field,
      personal: worstOf([personal, same?.personal ?? "none"])
    })
    // Names that are only provisional are not stored. Fields of a form need no definition, so theirs are never provisional.
    if ((column !== known || view !== knownView) && (key !== undefined || wide.model === undefined))
      named.push({ view, location, field, column, knownView })
  }
  const all = [...columns.values()]
  return limit.groupsOf(all).map((columns, place) => {
    const view = viewAt(place)
    return { view, columns, named: named.filter((one) => one.view === view) }
  })
}

/** SQL for fields that have a definition or a value. Folders are listed among the definitions, but have no values. */
const fieldsOf = ({ table, field, model }: Wide, isOfObjects: boolean) =>
  `SELECT DISTINCT location_id, ${name(field)} AS field FROM crm.${name(table)}
   ${isOfObjects ? `UNION SELECT location_id, ${objectKeySql("field_key")} FROM crm.object_fields WHERE field_key LIKE '%.%'` : ""}
   ${model === undefined ? "" : `UNION SELECT location_id, id FROM crm.custom_fields WHERE model = ${literal(model)} AND document_type IS DISTINCT FROM 'folder'`}`

/**
 * Aggregates all values of a row into lists once and picks each column from them. One aggregate for each column would
 * take a multiple of the time and memory.
 */
const viewOf = (
  resource: Resource,
  wide: Wide,
  { first, objects }: WidePart,
  { columns, named, view }: WideColumns
): WideView => {
  const parent = name(idColumn(resource.table))
  const columnsOfField = Map.groupBy(
    columns.flatMap(({ column, fields }) =>
      [...new Set(fields.map(({ field }) => field))].map((field) => ({ column, field }))
    ),
    ({ field }) => field
  )
  const values = columns.map(({ column, fields, dataType }) => {
    const pick = (list: string, field: string, locations: ReadonlyArray<FieldOfLocation>) => {
      const value = `w.${list}[list_position(w.fields, ${literal(field)})]`
      // A field of another location may have the same id.
      return columnsOfField.get(field)?.length === 1
        ? value
        : `CASE WHEN w.location_id IN (${locations.map(({ location }) => literal(location)).join(", ")}) THEN ${value} END`
    }
    const picked = (list: string) =>
      `coalesce(${[...Map.groupBy(fields, ({ field }) => field)].map(([field, locations]) => pick(list, field, locations)).join(", ")})`
    return `${typed(dataType, picked("texts"), picked("jsons"))} AS ${name(column)}`
  })
  const select = (table: string, from: string) =>
    values.length === 0
      ? `SELECT t.* FROM ${table} AS t`
      : `SELECT t.*, ${values.join(", ")} FROM ${table} AS t
         LEFT JOIN (SELECT location_id, ${parent}, list(${name(wide.field)}) AS fields, list(text) AS texts, list(json) AS jsons
           FROM ${readValuesSql(from, { field: wide.field, parent: idColumn(resource.table) })} GROUP BY ALL) AS w ON w.location_id = t.location_id AND w.${parent} = t.id`
  const isOwn =
    objects && `${objectKeySql(name(resource.partitionColumn!))} IN (${[...objects].map(literal).join(", ")})`
  const rowsOf = (schema: string, ...where: ReadonlyArray<string>) => {
    const conditions = [...where, ...(isOwn ? [isOwn] : [])]
    const table = `${schema}.${name(resource.table)}`
    return conditions.length === 0 ? table : `(FROM ${table} WHERE ${conditions.join(" AND ")})`
  }
  const all = (schema: string) => select(rowsOf(schema), `${schema}.${name(wide.table)}`)
  const statement = (schema: string) => `CREATE OR REPLACE VIEW ${schema}.${name(view)} AS ${all(schema)}`
  const among = (schema: string, ids: string) =>
    select(rowsOf(schema, `id IN ${ids}`), `(FROM ${schema}.${name(wide.table)} WHERE ${parent} IN ${ids})`)
  const described = columns.map(({ column, label, personal }) => [column, label, personal])
  return {
    view,
    first,
    definition: hash("sha256", JSON.stringify([rules, statement("crm"), described])),
    statement,
    table: resource.table,
    values: wide.table,
    parent: idColumn(resource.table),
    field: wide.field,
    columns,
    published: (schema) => [
      columns.length === 0 ? statement(schema) : `CREATE TABLE ${schema}.${name(view)} AS ${all(schema)} LIMIT 0`,
      `CREATE OR REPLACE MACRO ${schema}.${name(`${view}_of`)}(row_ids) AS TABLE FROM ${schema}.${name(view)} WHERE id IN (SELECT unnest(row_ids))`
    ],
    among,
    rows: (schema, from, to) => {
      const rows = rowsOf(schema, `rowid BETWEEN ${from} AND ${to}`)
      return select(rows, `(FROM ${schema}.${name(wide.table)} WHERE ${parent} IN (SELECT id FROM ${rows}))`)
    },
    comments: (schema) => [
      `COMMENT ON ${columns.length === 0 ? "VIEW" : "TABLE"} ${schema}.${name(view)} IS ${literal(`${resource.table} with a column for each field of ${wide.table}`)}`,
      ...columns.map(
        ({ column, label, dataType }) =>
          `COMMENT ON COLUMN ${schema}.${name(view)}.${name(column)} IS ${literal(`${label}${dataType ? ` (${dataType})` : ""}`)}`
      )
    ],
    named
  }
}
