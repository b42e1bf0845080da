/** How a table of a release is in PostgreSQL: its names, columns and types, and the SQL that DuckDB makes its values with. */
import { hash } from "node:crypto"
import { kindOf, kinds } from "../../../catalog/kinds.ts"
import { type StoredColumn, shortDecimal } from "../../../stores/warehouse/content.ts"
import { name } from "../../../stores/warehouse/sql.ts"

export interface ShapedColumn extends StoredColumn {
  /** The name in PostgreSQL. */
  readonly as: string
  /** The type in PostgreSQL. */
  readonly sql: string
  readonly comment: string | undefined
}

export interface Shape {
  /** `schema.table`, quoted. */
  readonly path: string
  readonly columns: ReadonlyArray<ShapedColumn>
  /** Names in PostgreSQL of the columns that identify a row; empty if none do. */
  readonly key: ReadonlyArray<string>
  /** Names in PostgreSQL of the columns by which rows are joined or chosen. */
  readonly indexed: ReadonlyArray<string>
  readonly comment: string | undefined
}

/** PostgreSQL cuts longer names off, and two columns could get the same. */
const nameBytesMax = 63

export const postgresName = (text: string): string =>
  Buffer.byteLength(text) <= nameBytesMax
    ? text
    : `${Buffer.from(text)
        .subarray(0, nameBytesMax - 9)
        .toString("utf8")
        .replaceAll("\uFFFD", "")}_${hash("sha256", text).slice(0, 8)}`

/** Types that no kind has; models may have them. */
const otherTypes: Readonly<Record<string, string>> = {
  TINYINT: "smallint",
  SMALLINT: "smallint",
  INTEGER: "integer",
  UTINYINT: "smallint",
  USMALLINT: "integer",
  UINTEGER: "bigint",
  UBIGINT: "numeric",
  HUGEINT: "numeric",
  UHUGEINT: "numeric",
  FLOAT: "real",
  DOUBLE: "double precision",
  TIMESTAMP: "timestamp",
  TIME: "time",
  INTERVAL: "interval",
  UUID: "uuid"
}

export const postgresType = (type: string): string => {
  const kind = kindOf(type)
  if (kind !== undefined) return kinds[kind].postgres
  return otherTypes[type] ?? (/\]$|^(STRUCT|MAP|UNION)\(/.test(type) ? "jsonb" : "text")
}

/** PostgreSQL stores no NUL character. The first alternative skips what only looks like one in JSON: an escaped backslash. */
const jsonText = (value: string): string =>
  `CASE WHEN contains(${value}, '\\u0000') THEN regexp_replace(${value}, '(\\\\\\\\)|\\\\u0000', '\\1', 'g') ELSE ${value} END`

/** The text of a value, as COPY reads it. */
export const copied = ({ name: column, type }: StoredColumn): string => {
  const value = name(column)
  const sql = postgresType(type)
  if (sql === "jsonb") return jsonText(kindOf(type) === "json" ? `${value}::VARCHAR` : `to_json(${value})::VARCHAR`)
  if (sql === "text") return `replace(${value}::VARCHAR, chr(0), '')`
  if (kindOf(type) === "decimal") return shortDecimal(value, type)
  if (sql !== "text[]") return value
  const item = `'"' || replace(replace(replace(item, chr(0), ''), '\\', '\\\\'), '"', '\\"') || '"'`
  return `'{' || array_to_string(list_transform(${value}, item -> coalesce(${item}, 'NULL')), ',') || '}'`
}
