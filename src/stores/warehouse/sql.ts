/** Formats values and identifiers for SQL statements, and converts values of results. */

/** A value as an SQL literal. NUL characters are removed from strings. */
export const literal = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined
    ? "NULL"
    : typeof value === "string"
      ? `'${value.replaceAll("\0", "").replaceAll("'", "''")}'`
      : String(value)

export const name = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`

export const names = (identifiers: ReadonlyArray<string>): string => identifiers.map(name).join(", ")

/** SQL for a timestamp from epoch milliseconds. */
export const instantOf = (milliseconds: number): string => `to_timestamp(${milliseconds / 1000})`

/** A number in a result, in which BIGINT and DECIMAL are text; `undefined` for NULL. */
export const numberOf = (value: unknown): number | undefined => (value === null ? undefined : Number(value))

/** A text in a result; `undefined` for NULL. */
export const stringOf = (value: unknown): string | undefined => (value === null ? undefined : String(value))

/**
 * JSON in a result, of which the statement decides the type. It is not checked again, which would cost more than to read a
 * row; what was stored as JSON is decoded by a schema instead.
 */
export const selected = <A>(json: unknown, change?: (key: string, value: unknown) => unknown): A =>
  JSON.parse(String(json), change)

/** INSERT statements of a thousand rows each. `rows`: as `(1, 'a')`. */
export const insertStatements = (table: string, rows: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(
    { length: Math.ceil(rows.length / 1000) },
    (_, index) => `INSERT INTO ${table} VALUES ${rows.slice(index * 1000, (index + 1) * 1000).join(", ")}`
  )

/** SQL for the rows of several queries with the same columns, with the place of each row's query in `place`. */
export const together = (queries: ReadonlyArray<string>): string =>
  queries.map((query, place) => `SELECT ${place} AS place, * FROM (${query})`).join(" UNION ALL ")
