/**
 * The primary key and the indexes of a table, decided by its values before these are written: an index of PostgreSQL has no
 * room for a long text, and a key none for a row that lacks it or shares it.
 */
import * as Effect from "effect/Effect"
import { name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { heldValue } from "./held.ts"
import type { ReleaseTable } from "./release-tables.ts"
import type { Server } from "./server.ts"
import { postgresType } from "./shape.ts"

/** An entry of an index has 2,704 bytes at most, with what surrounds its values. */
const indexedBytesMax = 2500

interface Index {
  readonly schema: string
  readonly table: string
  /** Its name. */
  readonly index: string
  readonly isPrimary: boolean
  /** The first one of a key. */
  readonly column: string
  /** A hash index takes a text of any length, and finds equal ones. */
  readonly method: "btree" | "hash"
}

/** The primary keys of tables, by `"schema"."table"`, and the indexes of one column that have the names which sluice leaves to PostgreSQL. */
export const existingIndexes = Effect.fnUntraced(function* (server: Server, schemas: ReadonlyArray<string>) {
  const rows = yield* server.rows<Index>(
    `SELECT n.nspname AS schema, t.relname AS table, i.relname AS index, x.indisprimary AS "isPrimary", a.attname AS column, m.amname AS method
     FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
       JOIN pg_namespace AS n ON n.oid = t.relnamespace JOIN pg_am AS m ON m.oid = i.relam
       JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
     WHERE n.nspname = ANY($1) AND (x.indisprimary OR (x.indnatts = 1 AND NOT x.indisunique AND x.indpred IS NULL
       AND m.amname IN ('btree', 'hash') AND i.relname ~ '_idx[0-9]*$'))`,
    [schemas]
  )
  return Map.groupBy(rows, ({ schema, table }) => `${name(schema)}.${name(table)}`)
})

/** What the values of some rows permit. */
export interface Permitted {
  /** Whether the key identifies each row, and fits. */
  readonly isKeyed: boolean
  /** Names in PostgreSQL of the columns of the key and of the indexes, and which of them have texts that do not fit. */
  readonly columns: ReadonlyMap<string, { readonly isLong: boolean }>
}

/** `rows`: a relation in DuckDB with the columns of the table. */
export const permittedBy = Effect.fnUntraced(function* (table: ReleaseTable, rows: string) {
  const chosen = table.columns.filter(({ as }) => table.key.includes(as) || table.indexed.includes(as))
  const keys = chosen.filter(({ as }) => table.key.includes(as))
  const held = { name: table.name, columns: table.columns, key: table.duckdbKey }
  // PostgreSQL's own form of JSON is six times as long for small numbers.
  const bytes = (column: (typeof chosen)[number]) =>
    `coalesce(strlen((${heldValue(held, column)})::VARCHAR), 0)${postgresType(column.type) === "jsonb" ? " * 6" : ""}`
  const key = keys.map((column) => heldValue(held, column))
  // bool_and and max are NULL for an empty table.
  const isKeyed = [
    `count(*) = count(DISTINCT (${key.join(", ")}))`,
    `bool_and(${key.map((one) => `(${one}) IS NOT NULL`).join(" AND ")})`,
    `max(${keys.map(bytes).join(" + ")}) <= ${indexedBytesMax}`
  ]
  const [row] = yield* (yield* Warehouse).rows(
    `SELECT ${keys.length === 0 ? "false" : `(${isKeyed.join(" AND ")}) IS NOT FALSE`} AS is_keyed,
       ${[...chosen.map((column, index) => `max(${bytes(column)}) > ${indexedBytesMax} AS is_long_${index}`), "0"].join(", ")}
     FROM ${rows}`
  )
  return {
    isKeyed: row?.["is_keyed"] === true,
    columns: new Map(chosen.map(({ as }, index) => [as, { isLong: row?.[`is_long_${index}`] === true }]))
  } satisfies Permitted
})

/**
 * Makes the indexes what the values permit. `isWhole`: all rows are written. The location is the last column of a key, so that
 * its index also finds an id without a location; without a key, each of its other columns has an index.
 */
export const indexChanges = (
  { indexed, key, path }: ReleaseTable,
  { columns, isKeyed }: Permitted,
  {
    existing,
    isNew,
    isWhole
  }: { readonly existing: ReadonlyArray<Index>; readonly isNew: boolean; readonly isWhole: boolean }
) => {
  const ordered = key.toSorted((one, other) => Number(one === "location_id") - Number(other === "location_id"))
  const primary = existing.find(({ isPrimary }) => isPrimary)
  const wanted = new Set(
    isKeyed
      ? indexed.filter((column) => column !== ordered[0])
      : [...indexed, ...ordered.filter((column) => column !== "location_id")]
  )
  const single = new Map(existing.flatMap((one) => (one.isPrimary ? [] : [[one.column, one] as const])))
  const isLong = (column: string) => columns.get(column)?.isLong === true
  const create = (column: string) =>
    `CREATE INDEX ON ${path} USING ${isLong(column) ? "hash" : "btree"} (${name(column)})`
  const drop = ({ index }: Index) => `DROP INDEX ${path.slice(0, path.indexOf('"."') + 1)}.${name(index)}`
  const addKey = `ALTER TABLE ${path} ADD PRIMARY KEY (${names(ordered)})`
  const tooLong = [...single.values()].filter(({ column, method }) => method === "btree" && isLong(column))
  const hashed = [...single.values()].filter(
    ({ column, method }) => method === "hash" && columns.has(column) && !isLong(column)
  )
  const losesKey = primary !== undefined && !isKeyed
  const getsKey = isWhole && isKeyed && primary === undefined
  return {
    /** Before rows are written. */
    before: [...(losesKey ? [`ALTER TABLE ${path} DROP CONSTRAINT ${name(primary.index)}`] : []), ...tooLong.map(drop)],
    /** Indexes are made when the rows are there, which takes less time. */
    after: [
      ...(isNew && isKeyed ? [addKey] : []),
      ...[...wanted]
        .filter((column) => isNew || tooLong.some((one) => one.column === column) || (losesKey && !single.has(column)))
        .map(create)
    ],
    /** What long texts did not permit. Rows that were deleted have their place in new indexes until PostgreSQL removes them. */
    ifPossible: [
      ...(getsKey && !isNew ? [addKey] : []),
      ...(isWhole ? hashed.map(drop) : []),
      ...(isWhole ? hashed.flatMap(({ column }) => (wanted.has(column) ? [create(column)] : [])) : [])
    ]
  }
}

/** What readers of the table may miss, in sentences. */
export const missingIndexes = ({ key, name: table }: ReleaseTable, { columns }: Permitted): ReadonlyArray<string> => {
  const long = [...columns].flatMap(([column, { isLong }]) => (isLong ? [column] : []))
  const isOfKey = long.some((column) => key.includes(column))
  if (long.length === 0) return []
  const what = isOfKey ? ", and no primary key" : ""
  return [
    `${table} has texts in ${long.join(", ")} that are too long for an index of PostgreSQL, which has one of their hashes instead${what}`
  ]
}
