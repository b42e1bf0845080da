/** What the sections of the report make of the rows of their queries. */
import { ownName } from "./mask.ts"

/** Reads a name that the account has chosen. */
export const ownText = (cell: unknown): string => ownName(String(cell ?? "unknown"))

export const sumOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** 0 if there are no rows. */
export const highestOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  Math.max(0, ...rows.map(of))
