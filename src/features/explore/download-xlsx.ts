/** Writes the rows of a query as an Excel workbook. */
import * as Effect from "effect/Effect"
import type { DuckDBConnection } from "@duckdb/node-api"
import type { CsvRow } from "../../stores/warehouse/columns.ts"
import { textOf } from "../../stores/warehouse/content.ts"
import { cellOf } from "../../stores/formats/xlsx/cells.ts"
import { writeWorkbook } from "../../stores/formats/xlsx/workbook.ts"

/** `from`: a FROM clause. Returns the number of rows. */
export const writeQueryWorkbook = async (connection: DuckDBConnection, from: string, path: string): Promise<number> => {
  const described = await connection.runAndReadAll(`DESCRIBE (${from.slice(1, -1)})`)
  const columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }))
  const aliases = columns.map((_, index) => `c${index}`)
  const texts = columns.map(({ type }, index) => textOf({ name: `c${index}`, type }))
  const sql = `SELECT ${texts.join(", ")} FROM ${from} AS result(${aliases.join(", ")})`
  async function* rows(): AsyncGenerator<CsvRow> {
    const result = await connection.stream(sql)
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
      yield* chunk.getRows() as ReadonlyArray<CsvRow> // Every column is VARCHAR.
  }
  const workbook = writeWorkbook(path, {
    about: [
      `Result of a query in sluice explore, ${new Date().toISOString()}.`,
      "Timestamps are in UTC. Numbers of more than 15 digits are texts, because Excel would round them."
    ],
    tables: [{ name: "Result", columns: columns.map(({ name, type }) => ({ name, kind: cellOf(type) })), rows: rows() }]
  })
  const written = Effect.catchTag(workbook, "Unwritten", ({ cause }) => Effect.die(cause))
  return (await Effect.runPromise(written)).rows
}
