/** Finds personal values of a warehouse in the files of a release, byte by byte and value by value. */
import { parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { inDatabase } from "../support/compare.ts"

type Ask = (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>

/** Shorter values occur in other words. */
const lengthMin = 6

/** A day, or a number with decimals: those of others are the same. */
const byChance = /^(\d{4}-\d\d-\d\d|-?\d{1,6}\.\d+)$/

/** The values of the classes direct, sensitive and content, and what was rejected, without those that other columns and the dictionary show. */
export const personalValues = (warehouse: string): Promise<ReadonlySet<string>> =>
  inDatabase(warehouse, async (ask) => {
    const personal = new Set<string>()
    for (const column of await columnsOf(ask, "IN ('direct', 'sensitive', 'content')"))
      for (const value of await valuesOf(ask, column)) for (const leaf of leavesOf(value)) personal.add(leaf)
    for (const column of ["rejected_values.value", "rejected_records.record", "schema_changes.sample"])
      for (const value of await valuesOf(ask, `meta.${column}`)) for (const leaf of leavesOf(value)) personal.add(leaf)
    const shown: Array<string> = []
    for (const column of await columnsOf(ask, "NOT IN ('direct', 'sensitive', 'content')"))
      shown.push(...(await valuesOf(ask, column)))
    // The words of the dictionary, some of which are values in JSON: "location", "contact".
    for (const column of ["table_name", "column_name", "description"])
      shown.push(...(await valuesOf(ask, `meta.columns.${column}`)))
    for (const value of shown)
      if (/^\d{4}-\d\d-\d\d \d\d:/.test(value)) shown.push(new Date(value.replace(/\+00$/, "Z")).toISOString())
    const others = shown.join("\0")
    return new Set(
      [...personal].filter((value) => value.length >= lengthMin && !byChance.test(value) && !others.includes(value))
    )
  })

/** `schema.table.column` of the columns of some classes, of current rows and earlier versions. */
const columnsOf = async (ask: Ask, classes: string): Promise<ReadonlyArray<string>> => {
  const rows = await ask(
    `SELECT d.schema_name || '.' || table_name || '.' || column_name AS path FROM duckdb_columns() AS d
     JOIN meta.columns AS c USING (table_name, column_name) WHERE d.schema_name LIKE 'crm%' AND c.personal_data ${classes}`
  )
  return rows.map((row) => String(row["path"]))
}

const valuesOf = async (ask: Ask, path: string): Promise<ReadonlyArray<string>> => {
  const [schema, table, column] = path.split(".")
  const rows = await ask(
    `SELECT DISTINCT "${column}"::VARCHAR AS value FROM ${schema}."${table}" WHERE "${column}" IS NOT NULL`
  )
  return rows.map((row) => String(row["value"]))
}

/** The texts and numbers in JSON, and the text itself. Keys and short marks are no values of a person. */
const leavesOf = (text: string): ReadonlyArray<string> => {
  if (!/^[[{"]/.test(text)) return [text.trim()]
  const found: Array<string> = []
  const collect = (value: unknown): void => {
    if (typeof value === "string") found.push(value.trim())
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect)
  }
  try {
    collect(JSON.parse(text))
  } catch {
    return [text]
  }
  return found
}

/** The texts of every file of a folder: the bytes as they are, and the values of tables. The model dim_date has every day. */
export const textsOf = async (folder: string): Promise<ReadonlyArray<readonly [file: string, text: string]>> => {
  const texts: Array<readonly [string, string]> = []
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || join(entry.parentPath, entry.name).includes("dim_date")) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    texts.push([path, bytes.toString("utf8")])
    if (path.endsWith(".parquet")) {
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
      texts.push([path, valuesIn(await parquetReadObjects({ file, compressors }))])
    }
    if (path.endsWith(".duckdb")) texts.push([path, await valuesInDatabase(path)])
  }
  return texts
}

const valuesInDatabase = (path: string): Promise<string> =>
  inDatabase(path, async (ask) => {
    const tables = await ask(
      "SELECT schema_name || '.\"' || table_name || '\"' AS path FROM duckdb_tables() WHERE table_name <> 'dim_date' UNION ALL SELECT schema_name || '.\"' || view_name || '\"' FROM duckdb_views() WHERE view_name LIKE '%_wide' OR schema_name = 'bi'"
    )
    const texts: Array<string> = []
    for (const { path: table } of tables) texts.push(valuesIn(await ask(`FROM ${String(table)}`)))
    return texts.join("\0")
  })

/** Distinct values, without the escapes of a file. */
const valuesIn = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): string => {
  const values = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === "string") values.add(value)
    else if (typeof value === "object" && value !== null && !(value instanceof Date))
      Object.values(value).forEach(collect)
  }
  rows.forEach(collect)
  return [...values].join("\0")
}

/** Which of the values occur, with the file. Looks up every position of a text by its next characters. */
export const occurrences = (
  values: ReadonlySet<string>,
  texts: ReadonlyArray<readonly [file: string, text: string]>
): ReadonlyArray<string> => {
  const byBeginning = Map.groupBy(values, (value) => value.slice(0, lengthMin))
  const found = new Map<string, string>()
  for (const [file, text] of texts)
    for (let at = 0; at <= text.length - lengthMin; at++)
      for (const value of byBeginning.get(text.slice(at, at + lengthMin)) ?? [])
        if (text.startsWith(value, at)) found.set(value, file)
  return [...found].map(([value, file]) => `${file}: ${value}`)
}
