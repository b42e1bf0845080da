/** Text of SQL: how a value or a name enters a statement, and how a number comes back. */

export const literal = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined
    ? "NULL"
    : typeof value === "string"
      ? `'${value.replaceAll("\0", "").replaceAll("'", "''")}'`
      : String(value)

export const name = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`

export const names = (identifiers: ReadonlyArray<string>): string => identifiers.map(name).join(", ")

/** An instant from epoch milliseconds. */
export const instantOf = (milliseconds: number): string => `to_timestamp(${milliseconds / 1000})`

/** A number of a result, where BIGINT and DECIMAL arrive as text. */
export const numberOf = (value: unknown): number | undefined => (value === null ? undefined : Number(value))
