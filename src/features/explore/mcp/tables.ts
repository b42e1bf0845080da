/** The tables of a release in words: `list_tables` and `describe_table`. */
import { maskingName } from "../../../output/paths.ts"
import { Option, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import { type PersonalData, worstOf } from "../../../catalog/personal-data.ts"
import { tablesOf } from "../../../catalog/tables.ts"
import { closest, suggestion } from "../../../settings/closest.ts"
import type { CatalogTable } from "../messages.ts"
import type { Release } from "../releases.ts"
import { CallFailed } from "./tools.ts"

/** What a release says of its tables. */
export const describedBy = async ({ database, path }: Release, signal: AbortSignal) => ({
  tables: await database.catalog(signal),
  dictionary: await database.dictionary(signal),
  /** What the profile shows instead of a value, by `table.column`. */
  shown: shownIn(await readFile(join(dirname(path), maskingName), "utf8").catch(() => undefined))
})
export type Described = Awaited<ReturnType<typeof describedBy>>

const decodeMasking = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      treatments: Schema.Record(Schema.String, Schema.String),
      columns: Schema.Record(Schema.String, Schema.String)
    })
  )
)

const shownIn = (document: string | undefined): Readonly<Record<string, string>> =>
  Option.match(decodeMasking(document), {
    onNone: () => ({}),
    onSome: ({ columns, treatments }) =>
      Object.fromEntries(
        Object.entries(columns).map(([column, treatment]) => [column, treatments[treatment] ?? treatment])
      )
  })

export const tableLines = (
  described: Described,
  catalogue: Catalogue,
  { schema, search = "" }: { readonly schema?: string | undefined; readonly search?: string | undefined }
) => {
  const lineOf = liner(described, catalogue)
  const text = search.toLowerCase()
  return described.tables
    .filter((table) => (schema === undefined ? isUsual(table) : table.schema === schema))
    .map(lineOf)
    .filter(({ about, name }) => `${name} ${about}`.toLowerCase().includes(text))
}

/** Views repeat the rows of tables, apart from models, and from the wide ones, which have the custom fields. */
const isUsual = ({ isStaging, kind, schema, wide }: CatalogTable): boolean =>
  schema === "bi" ? isStaging !== true : schema === "main" && (kind === "table" || wide !== undefined)

/** Fails with `CallFailed` if there is no such table. */
export const tableDescription = (described: Described, catalogue: Catalogue, given: string) => {
  const { dictionary, shown, tables } = described
  const name = given.replace(/^(main|crm)\./, "")
  const table = tables.find((one) => nameOf(one) === name)
  if (table === undefined) {
    const near = closest(name, tables.map(nameOf))
    throw new CallFailed({ message: `${given}: there is no such table${suggestion(near)} list_tables lists them.` })
  }
  const known = new Map(dictionary.columns.filter((one) => one.table === table.name).map((one) => [one.column, one]))
  return {
    ...liner(described, catalogue)(table),
    columns: table.columns.map((column) => {
      const { personal, refersTo } = (isOfCatalogue(table) && known.get(column.name)) || {}
      const masked = isOfCatalogue(table) ? shown[`${table.wide?.table ?? table.name}.${column.name}`] : undefined
      return {
        name: column.name,
        type: column.type,
        meaning: column.comment ?? "",
        ...(personal !== undefined && { personalData: personal }),
        ...(refersTo !== undefined && { refersTo }),
        ...(masked !== undefined && { shown: masked })
      }
    })
  }
}

/** As a query names it. */
const nameOf = ({ name, schema }: CatalogTable): string => (schema === "main" ? name : `${schema}.${name}`)

/** Models and `meta` have columns of their own, which can have the names of others. */
const isOfCatalogue = ({ schema }: CatalogTable): boolean => schema === "main" || schema === "crm_history"

const liner = ({ dictionary }: Described, { resources }: Catalogue) => {
  const owners = new Map(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => [name, resource.table])))
  const readAt = new Map(dictionary.read.map(({ at, resource }) => [resource, at]))
  const classes = Map.groupBy(dictionary.columns, ({ table }) => table)
  return (table: CatalogTable) => {
    const read = isOfCatalogue(table) ? readAt.get(owners.get(table.wide?.table ?? table.name) ?? "") : undefined
    const personal = isOfCatalogue(table) ? classes.get(table.name) : undefined
    return {
      name: nameOf(table),
      about: table.comment ?? "",
      ...(table.rows !== undefined && { rows: table.rows }),
      ...(table.deleted !== undefined && { deletedRows: table.deleted }),
      ...(read !== undefined && { readAt: read }),
      // They were written from these classes.
      ...(personal && { personalData: worstOf(personal.map((one) => one.personal as PersonalData)) })
    }
  }
}
