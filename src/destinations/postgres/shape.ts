/** How a table of a release is in PostgreSQL: its names, columns and types. */
import { hash } from "node:crypto"
import { kindOf, kinds } from "../../catalog/kinds.ts"
import type { StoredColumn } from "../../stores/warehouse/content.ts"

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
/** Each table has columns of these names already. */
const ownNames: ReadonlySet<string> = new Set(["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"])

export const postgresName = (text: string): string =>
  Buffer.byteLength(text) <= nameBytesMax
    ? `${text}${ownNames.has(text) ? "_" : ""}`
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
