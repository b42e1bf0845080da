/** The rows of a person: every table of each resource, restricted to the records that belong to them. */
import { Array as Arr, Effect } from "effect"
import { join } from "node:path"
import type { Resource } from "../../../catalog/resource.ts"
import { type Table, keyText, tablesOf } from "../../../catalog/tables.ts"
import { loadFormat } from "../../../stores/formats/formats.ts"
import { noMetadata } from "../../../stores/formats/metadata.ts"
import { tablesIn } from "../../../stores/warehouse/columns.ts"
import { type StoredColumn, forEachRowOf } from "../../../stores/warehouse/content.ts"
import { rowsOfEach } from "../../../stores/warehouse/groups.ts"
import { numbers } from "../../../values/rows.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { keysOf, keysTable } from "./belongings.ts"

/** Columns by which sluice keeps its books; they say nothing about the person. */
const internalColumns = ["_row_hash", "_run_id"]

/** Child tables have no hash. */
const isExcluded = ({ parentColumn }: Pick<Table, "parentColumn">, column: string): boolean =>
  internalColumns.includes(column) && (column !== "_row_hash" || parentColumn === undefined)

/** The tables that have rows of the person, as `contacts`; with `withHistory`, earlier versions as `contacts_history`. */
export const personTables = Effect.fn("subject.tables")(function* (
  resources: ReadonlyArray<Resource>,
  withHistory: boolean
) {
  const schemas = withHistory ? (["crm", "crm_history"] as const) : (["crm"] as const)
  const all = resources.flatMap((resource) =>
    tablesOf(resource).flatMap((definition) =>
      schemas.map((schema) => ({
        name: schema === "crm" ? definition.name : `${definition.name}_history`,
        resource,
        definition,
        schema,
        from: rowsOfPerson(resource, definition, schema),
        // The rows of one person are few.
        size: 0
      }))
    )
  )
  const counts = yield* rowsOfEach(numbers("rows"), all, ({ from }) => `SELECT count(*) AS rows FROM (${from})`)
  return counts.flatMap(([table, { rows }]) => (rows > 0 ? [{ ...table, rows }] : []))
})
export type PersonTable = Effect.Success<ReturnType<typeof personTables>>[number]

const rowsOfPerson = (resource: Resource, definition: Table, schema: string): string => {
  const { name: table, parentColumn, key } = definition
  const record = parentColumn === undefined ? keyText(resource) : name(parentColumn)
  return `SELECT * EXCLUDE (${internalColumns.filter((column) => isExcluded(definition, column)).join(", ")})
    FROM ${schema}.${name(table)} WHERE (location_id, ${record}) IN (SELECT (location_id, key) FROM ${keysTable(resource)})
    ORDER BY ${key.map(name).join(", ")}${schema === "crm" ? "" : ", _valid_from"}`
}

/** The keys of the records, whose rows with their earlier versions are added to `rows` by table. */
export const countRecords = Effect.fnUntraced(function* (resource: Resource, rows: Record<string, number>) {
  const keys = yield* keysOf(resource)
  for (const { definition, rows: count } of keys.length === 0 ? [] : yield* personTables([resource], true))
    rows[definition.name] = (rows[definition.name] ?? 0) + count
  return keys.map((record) => ({ kind: "record", table: resource.table, ...record }) as const)
})

/** Writes `<table>.json` and `<table>.csv` of each table into the folder. Returns the first rows of each, for people to read. */
export const writeRows = Effect.fnUntraced(function* (
  tables: ReadonlyArray<PersonTable>,
  folder: string,
  shownMax: number
) {
  if (tables.length === 0) return []
  const copies = tables.map(
    ({ from, name: table }) =>
      `COPY (${from}) TO ${literal(join(folder, `${table}.json`))} (FORMAT json, ARRAY true, TIMESTAMPFORMAT '${instantFormat}')`
  )
  yield* (yield* Warehouse).run(copies.join("; "))
  const csv = yield* loadFormat("csv")
  // The current rows of a release are in its main schema.
  const stored = yield* tablesIn("current_database()", ["crm", "crm_history", "main"])
  const described = tables.map((table) => {
    const path = name(table.definition.name)
    const { columns } = stored.get(`${table.schema}.${path}`) ?? stored.of(`main.${path}`)
    return { ...table, columns: columns.filter((column) => !isExcluded(table.definition, column.name)) }
  })
  yield* Effect.forEach(described, ({ columns, from, name: table }) =>
    csv.write({ name: table, from: `(${from})`, columns, metadata: noMetadata }, join(folder, csv.fileOf(table)))
  )
  return yield* readableRows(described, shownMax)
})

const instantFormat = "%Y-%m-%dT%H:%M:%S.%gZ"

/** Tables that one statement sorts: DuckDB holds the first rows of each in memory. */
const sortedTogetherMax = 4

/** The first rows of each table as texts by column. */
const readableRows = Effect.fnUntraced(function* (
  tables: ReadonlyArray<PersonTable & { readonly columns: ReadonlyArray<StoredColumn> }>,
  rowsMax: number
) {
  const relations = tables.map(({ columns, definition, from }) => {
    const stored = new Set(columns.map((column) => column.name))
    const shown = definition.columns
      .map((column) => column.name)
      .filter((column) => stored.has(column) && !internalColumns.includes(column))
    return {
      row: `to_json([${shown.map((column) => `${name(column)}::VARCHAR`).join(", ")}])::VARCHAR`,
      from: `(${from}) LIMIT ${rowsMax}`,
      shown,
      found: new Array<Readonly<Record<string, string>>>()
    }
  })
  for (let first = 0; first < relations.length; first += sortedTogetherMax)
    yield* forEachRowOf(relations.slice(first, first + sortedTogetherMax), ({ found, shown }, row) => {
      const cells = Arr.zip(shown, row ?? [])
      found.push(Object.fromEntries(cells.flatMap(([column, text]) => (text === null ? [] : [[column, text]]))))
    })
  return relations.map(({ found }) => found)
})
