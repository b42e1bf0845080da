/** The rows of a person: every table of each resource, restricted to the records that belong to them. */
import { Effect } from "effect"
import { join } from "node:path"
import type { Resource } from "../../../catalog/resource.ts"
import { type Table, keyText, tablesOf } from "../../../catalog/tables.ts"
import { loadFormat } from "../../../stores/formats/formats.ts"
import { noMetadata } from "../../../stores/formats/metadata.ts"
import { columnsOf } from "../../../stores/warehouse/columns.ts"
import { queryNumber } from "../../../stores/warehouse/query.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { keysOf, keysTable } from "./belongings.ts"

export interface PersonTable {
  readonly name: string
  readonly resource: Resource
  readonly definition: Table
  /** SELECT of the rows. */
  readonly from: string
  readonly rows: number
}

/** Columns by which sluice keeps its books; they say nothing about the person. */
const internalColumns = ["_row_hash", "_run_id"]

/** The tables that have rows of the person, as `contacts`; with `withHistory`, earlier versions as `contacts_history`. */
export const personTables = Effect.fn("subject.tables")(function* (resource: Resource, withHistory: boolean) {
  const all = tablesOf(resource).flatMap((definition) => [
    { definition, name: definition.name, schema: "crm" },
    ...(withHistory ? [{ definition, name: `${definition.name}_history`, schema: "crm_history" }] : [])
  ])
  const found: Array<PersonTable> = []
  for (const { definition, name: shown, schema } of all) {
    const from = rowsOfPerson(resource, definition, schema)
    const rows = yield* queryNumber(`SELECT count(*) FROM (${from})`)
    if (rows > 0) found.push({ name: shown, resource, definition, from, rows })
  }
  return found
})

const rowsOfPerson = (resource: Resource, { name: table, parentColumn, key }: Table, schema: string): string => {
  const record = parentColumn === undefined ? keyText(resource) : name(parentColumn)
  return `SELECT * EXCLUDE (${internalColumns.filter((column) => column !== "_row_hash" || parentColumn === undefined).join(", ")})
    FROM ${schema}.${name(table)} WHERE (location_id, ${record}) IN (SELECT (location_id, key) FROM ${keysTable(resource)})
    ORDER BY ${key.map(name).join(", ")}${schema === "crm" ? "" : ", _valid_from"}`
}

/** The keys of the records, whose rows with their earlier versions are added to `rows` by table. */
export const countRecords = Effect.fnUntraced(function* (resource: Resource, rows: Record<string, number>) {
  for (const { definition, rows: count } of yield* personTables(resource, true))
    rows[definition.name] = (rows[definition.name] ?? 0) + count
  return (yield* keysOf(resource)).map((record) => ({ kind: "record", table: resource.table, ...record }) as const)
})

/** Writes `<table>.json` and `<table>.csv` into the folder. */
export const writeRows = Effect.fnUntraced(function* (
  { from, name: table }: Pick<PersonTable, "from" | "name">,
  folder: string
) {
  const json = join(folder, `${table}.json`)
  yield* (yield* Warehouse).run(
    `COPY (${from}) TO ${literal(json)} (FORMAT json, ARRAY true, TIMESTAMPFORMAT '${instantFormat}')`
  )
  const csv = yield* loadFormat("csv", { csvProfile: "machine" })
  const rows = `(${from})`
  yield* csv.write({ name: table, from: rows, columns: yield* columnsOf(rows), key: [], metadata: noMetadata }, folder)
})

const instantFormat = "%Y-%m-%dT%H:%M:%S.%gZ"

/** The first rows as texts by column, for people to read. */
export const readableRows = Effect.fnUntraced(function* ({ from, definition }: PersonTable, rowsMax: number) {
  const rows = yield* (yield* Warehouse).rows(`SELECT COLUMNS(*)::VARCHAR FROM (${from}) LIMIT ${rowsMax}`)
  const shown = definition.columns.map((column) => column.name).filter((column) => !internalColumns.includes(column))
  return rows.map((row) =>
    Object.fromEntries(
      shown.flatMap((column) =>
        row[column] === null || row[column] === undefined ? [] : [[column, String(row[column])]]
      )
    )
  )
})
