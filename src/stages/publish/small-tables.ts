/**
 * Tables of few rows, which are read together: planning statements for the checksum, the Parquet file and the CSV file of each
 * would take most of the time of publishing a small account.
 */
import { Effect, Stream } from "effect"
import type { Failure } from "../../values/failure.ts"
import { jsonOfRow } from "../../stores/warehouse/content.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { CsvRow, StoredTable, StoredTables } from "./columns.ts"

/** All rows of small tables as text, by path. */
export type SmallTables = ReadonlyMap<string, ReadonlyArray<CsvRow>>

const rowsMax = 250

export const isSmall = ({ rows }: StoredTable): boolean => rows <= rowsMax

/** Reads those of the tables that are small. `paths`: so few that their rows fit into memory. */
export const smallTables = Effect.fn("publish.smallTables")(function* (
  paths: ReadonlyArray<string>,
  stored: StoredTables
): Effect.fn.Return<SmallTables, Failure, Warehouse> {
  const small = paths.filter((path) => isSmall(stored.get(path)!))
  const found = small.map((): Array<CsvRow> => [])
  const selects = small.flatMap((path, index) => {
    const { columns, rows } = stored.get(path)!
    return rows === 0 ? [] : [`SELECT '${index}' AS index, ${jsonOfRow(columns)} AS row FROM ${path}`]
  })
  if (selects.length > 0)
    yield* (yield* Warehouse).stream(selects.join(" UNION ALL ")).pipe(
      Stream.runForEachArray((some) =>
        Effect.sync(() => {
          for (const [index, row] of some) found[Number(index)]!.push(JSON.parse(row!) as CsvRow) // Made by jsonOfRow.
        })
      )
    )
  return new Map(small.map((path, index) => [path, found[index]!]))
})
