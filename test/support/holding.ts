/** Finds the files that contain a text, also in compressed files and in the values of tables. */
import { lstatSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { inDatabase } from "./compare.ts"

/** The paths of all files and folders below a folder; links are not followed. */
export const below = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))

/** A function that returns the files below a folder that contain a text. It reads every file once, in advance. */
export const holding = (folder: string): Promise<(text: string) => ReadonlyArray<string>> =>
  inDatabase(
    ":memory:",
    async (ask) => {
      const files: Array<{ readonly path: string; readonly contents: ReadonlyArray<Buffer | string> }> = []
      for (const path of below(folder).filter((path) => lstatSync(path).isFile())) {
        const bytes = readFileSync(path)
        files.push({ path, contents: [bytes, ...(await decoded(path, bytes, ask))] })
      }
      return (text) =>
        files.filter(({ contents }) => contents.some((content) => content.includes(text))).map(({ path }) => path)
    },
    "READ_WRITE"
  )

/** What a file compresses: its bytes, or in the formats of DuckDB and Parquet its values. */
const decoded = async (path: string, bytes: Buffer, ask: Ask): Promise<ReadonlyArray<Buffer | string>> => {
  const rowsOf = async (table: string) => JSON.stringify(await ask(`FROM ${table}`))
  if (path.endsWith(".zst")) return [zstdDecompressSync(bytes)]
  if (path.endsWith(".parquet")) return [await rowsOf(`'${path}'`)]
  if (!path.endsWith(".duckdb")) return []
  await ask(`ATTACH '${path}' AS file (READ_ONLY)`)
  const tables = await ask(
    "SELECT format('{}.{}', schema_name, table_name) AS name FROM duckdb_tables() WHERE database_name = 'file'"
  )
  const rows: Array<string> = []
  for (const { name } of tables) rows.push(await rowsOf(`file.${String(name)}`))
  await ask("DETACH file")
  return rows
}

type Ask = (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
