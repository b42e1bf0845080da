/** Rows of the report's queries, and their sums. A query names its columns as the report does, and each is read as one type. */
import * as Effect from "effect/Effect"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { ownName } from "./mask.ts"

type Readers = Readonly<Record<string, (cell: unknown) => unknown>>
type RowOf<Columns extends Readers> = { readonly [Name in keyof Columns]: ReturnType<Columns[Name]> }

/** `columns`: how each is read, such as `{ name: String, rows: Number, endedAt: numberOf }`. */
export const query = Effect.fnUntraced(function* <Columns extends Readers>(columns: Columns, sql: string) {
  const readers = Object.entries(columns)
  const rows = yield* (yield* Warehouse).rows(sql)
  return rows.map(
    // It has the names of `columns`, which TypeScript does not see.
    (row) => Object.fromEntries(readers.map(([name, read]) => [name, read(row[name])])) as RowOf<Columns>
  )
})

/** Reads each of these columns as a number. */
export const numbers = <Name extends string>(...names: ReadonlyArray<Name>) =>
  Object.fromEntries(names.map((name) => [name, Number])) as Record<Name, NumberConstructor> // It has these names.

/** Reads a name that the account has chosen. */
export const ownText = (cell: unknown): string => ownName(String(cell ?? "unknown"))

export const sumOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** 0 if there are no rows. */
export const highestOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  Math.max(0, ...rows.map(of))
