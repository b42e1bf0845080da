/**
 * Tables of few rows, which are read together: planning statements for the checksum, the Parquet file and the CSV file of each
 * would take most of the time of publishing a small account.
 */
import { Effect } from "effect"
import { forEachRowOf, jsonOfRow } from "../../stores/warehouse/content.ts"
import type { CsvRow, StoredTable, StoredTables } from "../../stores/warehouse/columns.ts"

/** All rows of small tables as text, by path. */
export type SmallTables = ReadonlyMap<string, ReadonlyArray<CsvRow>>

const rowsMax = 250

export const isSmall = ({ rows }: StoredTable): boolean => rows <= rowsMax

/** Reads those of the tables that are small. `paths`: so few that their rows fit into memory. */
export const smallTables = Effect.fn("publish.smallTables")(function* (
  paths: ReadonlyArray<string>,
  stored: StoredTables
) {
  const small = paths.filter((path) => isSmall(stored.get(path)!))
  const found = new Map(small.map((path): [string, Array<CsvRow>] => [path, []]))
  const filled = small.filter((path) => stored.get(path)!.rows > 0)
  yield* forEachRowOf(
    filled.map((path) => ({ row: jsonOfRow(stored.get(path)!.columns), from: path })),
    (place, row) => found.get(filled[place]!)!.push(row!)
  )
  return found
})
