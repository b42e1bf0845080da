/** Numbers of several rows. */

export const sumOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** 0 if there are no rows. */
export const highestOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  Math.max(0, ...rows.map(of))
