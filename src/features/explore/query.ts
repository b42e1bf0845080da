/** Runs a checked text and returns its first rows as text. */
import type { DuckDBConnection, Json } from "@duckdb/node-api"
import { limits } from "./limits.ts"
import type { QueryResult } from "./messages.ts"
import type { Readable } from "./select-only.ts"

export const query = async (connection: DuckDBConnection, readable: Readable): Promise<QueryResult> => {
  const reader = await connection.streamAndReadUntil(readable.run, limits.rows + 1)
  const names = reader.columnNames()
  const types = reader.columnTypes().map(String)
  const rows: Array<ReadonlyArray<string | null>> = []
  let cutCells = 0
  let characters = 0
  const shown = (value: Json): string | null => {
    const text = value === null ? null : typeof value === "object" ? JSON.stringify(value) : String(value)
    if (text === null || text.length <= limits.cellCharacters) return text
    cutCells++
    return `${text.slice(0, limits.cellCharacters)}…`
  }
  const found = reader.getRowsJson()
  for (const row of found.slice(0, limits.rows)) {
    if (characters > limits.answerCharacters) break
    const cells = row.map(shown)
    characters += cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
    rows.push(cells)
  }
  return {
    tables: connection.getTableNames(readable.query, true),
    columns: names.map((name, index) => ({ name, type: types[index]! })),
    rows,
    isCut: found.length > rows.length || !reader.done,
    cutCells
  }
}
