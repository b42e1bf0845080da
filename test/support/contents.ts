/** What an output folder contains, for tests that look for traces of somebody. */
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { inDatabase } from "./compare.ts"

export type Rows = ReadonlyMap<string, ReadonlyArray<string>>

/** Every row of the current and earlier tables as text. */
export const contentsOf = (file: string): Promise<Rows> =>
  inDatabase(file, async (ask) => {
    const tables = await ask(
      "SELECT schema_name AS s, table_name AS t FROM duckdb_tables() WHERE schema_name IN ('crm', 'crm_history') ORDER BY ALL"
    )
    const contents = new Map<string, ReadonlyArray<string>>()
    for (const { s, t } of tables) {
      const rows = await ask(`SELECT (to_json(x)::VARCHAR) AS row FROM ${String(s)}.${String(t)} AS x ORDER BY ALL`)
      contents.set(
        `${String(s)}.${String(t)}`,
        rows.map(({ row }) => String(row))
      )
    }
    return contents
  })

/** Files below a folder, in lower case, with the decompressed content of the vault's segments. */
export const filesBelow = (folder: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = readFileSync(path)
      return [
        path,
        (path.endsWith(".zst") ? zstdDecompressSync(content) : content).toString("latin1").toLowerCase()
      ] as const
    })
