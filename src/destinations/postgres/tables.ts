/** Creates and alters tables in PostgreSQL, and nothing that a view, a right or a column of somebody else depends on. */
import * as Effect from "effect/Effect"
import { literal, name } from "../../stores/warehouse/sql.ts"
import type { Server } from "./server.ts"
import type { Shape, ShapedColumn } from "./shape.ts"

/** The types of the columns of a table, as PostgreSQL writes them, by name. */
export type Existing = ReadonlyMap<string, string>

/** By `"schema"."table"`. */
export const existingTables = Effect.fnUntraced(function* (server: Server, schemas: ReadonlyArray<string>) {
  const rows = yield* server.rows<{ schema: string; table: string; column: string; type: string }>(
    `SELECT n.nspname AS schema, c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type
     FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid
     WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped`,
    [schemas]
  )
  const tables = new Map<string, Map<string, string>>()
  for (const { column, schema, table, type } of rows) {
    const path = `${name(schema)}.${name(table)}`
    const columns = tables.get(path) ?? new Map<string, string>()
    tables.set(path, columns.set(column, type))
  }
  return tables
})

/** The types that PostgreSQL writes in another way than it reads them. */
export const written: Readonly<Record<string, string>> = {
  timestamptz: "timestamp with time zone",
  timestamp: "timestamp without time zone",
  time: "time without time zone"
}

export interface Before {
  /** `undefined`: the table is to be created. */
  readonly existing: Existing | undefined
  /** The columns that this output folder had in the table; all others are somebody else's. */
  readonly own: ReadonlyArray<string>
  /** No other output folder has rows in the table. */
  readonly isAlone: boolean
}

/** A column that the release does not have any more stays, and is emptied. */
export const tableStatements = ({ columns, comment, path }: Shape, { existing, isAlone, own }: Before) => {
  const comments = [
    `COMMENT ON TABLE ${path} IS ${literal(comment ?? null)}`,
    ...columns.flatMap((column) =>
      column.comment === undefined ? [] : [`COMMENT ON COLUMN ${path}.${name(column.as)} IS ${literal(column.comment)}`]
    )
  ]
  if (existing === undefined) {
    const defined = columns.map(({ as, sql }) => `${name(as)} ${sql}`).join(", ")
    return { alterations: [`CREATE TABLE ${path} (${defined})`], narrowings: [], comments, isRetyped: false }
  }
  const added = columns.filter(({ as }) => !existing.has(as))
  const retyped = columns.filter(({ as, sql }) => {
    const type = existing.get(as)
    return type !== undefined && type !== (written[sql] ?? sql) && (isAlone || type !== "text")
  })
  const isText = ({ as }: ShapedColumn) => existing.get(as) === "text"
  const left = own.filter((column) => existing.has(column) && !columns.some(({ as }) => as === column))
  // The rows of others keep their values as texts; one's own are written anew in the new type.
  const retype = ({ as, sql }: ShapedColumn) =>
    isAlone
      ? `ALTER COLUMN ${name(as)} TYPE ${sql} USING NULL`
      : `ALTER COLUMN ${name(as)} TYPE text USING ${name(as)}::text`
  const alterations = [
    ...added.map(({ as, sql }) => `ADD COLUMN ${name(as)} ${sql}`),
    ...retyped.filter((column) => !isText(column)).map(retype)
  ]
  return {
    /** What the table lacks. */
    alterations: [
      ...(alterations.length > 0 ? [`ALTER TABLE ${path} ${alterations.join(", ")}`] : []),
      ...(isAlone
        ? left.map((column) => `UPDATE ${path} SET ${name(column)} = NULL WHERE ${name(column)} IS NOT NULL`)
        : [])
    ],
    /** Texts that get a narrower type. If something depends on such a column, it stays a text, which takes every value. */
    narrowings: retyped.filter(isText).map((column) => `ALTER TABLE ${path} ${retype(column)}`),
    comments,
    /** A column gets another type, so all rows are written anew. */
    isRetyped: retyped.length > 0
  }
}

/** Something of somebody else depends on what a statement drops or alters. */
export const isNeeded = /^(2BP01|0A000)$/

/** Runs statements, unless PostgreSQL refuses one with such a code. */
export const unlessRefused = (server: Server, statements: ReadonlyArray<string>, codes: RegExp) =>
  statements.length === 0
    ? Effect.void
    : server.run(["SAVEPOINT sluice_refused", ...statements, "RELEASE SAVEPOINT sluice_refused"]).pipe(
        Effect.catchIf(
          ({ code }) => codes.test(code),
          () => server.run(["ROLLBACK TO SAVEPOINT sluice_refused"])
        )
      )
