/** Every byte of a folder as its readers see it: decompressed segments, and the values and statistics of tables. */
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { inDatabase } from "./compare.ts"

/** The places of each text that the pattern matches, below these folders: a file, or a table in one. */
export const placesOf = async (
  folders: ReadonlyArray<string>,
  pattern: RegExp
): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
  const found = new Map<string, Array<string>>()
  const look = (place: string, content: string) => {
    for (const text of new Set(content.match(pattern))) found.set(text, [...(found.get(text) ?? []), place])
  }
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  )
  for (const path of files) {
    const bytes = readFileSync(path)
    look(path, (path.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes).toString("latin1"))
    if (/\.(duckdb|ducklake)$/.test(path)) await lookInTables(path, look).catch(() => {})
  }
  await inDatabase(
    ":memory:",
    async (ask) => {
      // The metadata of a Parquet file is not compressed, so its bytes have been searched.
      for (const path of files.filter((one) => one.endsWith(".parquet")))
        look(`${path} (values)`, JSON.stringify(await ask(`FROM read_parquet('${path}')`)))
    },
    "READ_WRITE"
  )
  return found
}

const lookInTables = (path: string, look: (place: string, content: string) => void) =>
  inDatabase(path, async (ask) => {
    // A table that never had a row has no estimated size; a statement for each of them would take most of the time.
    const tables = await ask("SELECT schema_name AS s, table_name AS t FROM duckdb_tables() WHERE estimated_size > 0")
    for (const { s, t } of tables)
      look(`${path} ${String(s)}.${String(t)}`, JSON.stringify(await ask(`FROM "${String(s)}"."${String(t)}"`)))
  })
