/**
 * What each kind of values is in the programs that store, describe or show them. A new kind is an entry here, its conversion in
 * `convert.ts`, and its bytes in `stages/load/scan/byte-fields.ts`.
 */
import { decimalType } from "./decimals.ts"

interface Kind {
  /** Type in DuckDB. */
  readonly sql: string
  /** Logical type in the Open Data Contract Standard. */
  readonly logicalType: string
  /** Type of a field in a Data Package. */
  readonly fieldType: string
  /** Type of a column in PostgreSQL. */
  readonly postgres: string
  /** How a cell of a workbook has it. */
  readonly cell: "text" | "number" | "boolean" | "date" | "instant"
}

export const kinds = {
  text: { sql: "VARCHAR", logicalType: "string", fieldType: "string", postgres: "text", cell: "text" },
  instant: {
    sql: "TIMESTAMPTZ",
    logicalType: "timestamp",
    fieldType: "datetime",
    postgres: "timestamptz",
    cell: "instant"
  },
  date: { sql: "DATE", logicalType: "date", fieldType: "date", postgres: "date", cell: "date" },
  decimal: { sql: decimalType, logicalType: "number", fieldType: "number", postgres: "numeric", cell: "number" },
  count: { sql: "BIGINT", logicalType: "integer", fieldType: "integer", postgres: "bigint", cell: "number" },
  flag: { sql: "BOOLEAN", logicalType: "boolean", fieldType: "boolean", postgres: "boolean", cell: "boolean" },
  // Any JSON value, not only objects and lists, which no logical type of the standard means; readers see it as text.
  json: { sql: "JSON", logicalType: "string", fieldType: "any", postgres: "jsonb", cell: "text" },
  list: { sql: "VARCHAR[]", logicalType: "string", fieldType: "string", postgres: "text[]", cell: "text" }
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds

/** The kind of a type, as sluice or DuckDB writes it; `undefined` for types that only other programs have made. */
export const kindOf = (sql: string): KindName | undefined =>
  /^DECIMAL(\(\d+, ?\d+\))?$/.test(sql)
    ? "decimal"
    : byType.get(sql.replace("TIMESTAMP WITH TIME ZONE", kinds.instant.sql))

const byType = new Map<string, KindName>(Object.entries(kinds).map(([name, { sql }]) => [sql, name as KindName]))

/** Whether the values are texts of the service; those of all other kinds have a form that sluice or DuckDB gives them. */
export const isText = (sql: string): boolean => sql === kinds.text.sql || sql === kinds.json.sql

/** Types that only models have. A TIMESTAMP is a time on the clocks of the location. */
const similar: Readonly<Record<string, KindName>> = { INTEGER: "count", DOUBLE: "decimal", TIMESTAMP: "instant" }

/** What a type is elsewhere; as a text if it has no kind. */
export const typesOf = (sql: string): Kind => kinds[kindOf(sql) ?? similar[sql] ?? "text"]
