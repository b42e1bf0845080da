/** Rows of a query by their columns: the statement names each as the code does, and each is read as one type. */
import * as Effect from "effect/Effect"
import { present } from "../../catalog/present.ts"
import { type Readers, readRows } from "../../values/rows.ts"
import type { Failure } from "../../values/failure.ts"
import { literal } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

const rowsOf = (sql: string) => Effect.flatMap(Warehouse, ({ rows }) => rows(sql))

/** `columns`: how each is read, such as `{ name: String, rows: Number, isOpen: Boolean, endedAt: numberOf }`. */
export const query = <Columns extends Readers>(columns: Columns, sql: string) =>
  Effect.map(rowsOf(sql), (rows) => readRows(columns, rows))

/** The only row that a statement selects, such as that of a count. */
export const queryRow = <Columns extends Readers>(columns: Columns, sql: string) =>
  Effect.map(query(columns, sql), ([row]) => present(row, `row of ${sql}`))

/** The one value that a statement selects; `undefined` without a row. */
export const queryValue = <A>(read: (cell: unknown) => A, sql: string) =>
  Effect.map(rowsOf(sql), ([row]) => (row === undefined ? undefined : read(Object.values(row)[0])))

/** The number that a statement selects, such as `SELECT count(*) FROM crm.contacts`; 0 for NULL. */
export const queryNumber = (sql: string) =>
  Effect.map(queryTexts(sql), ([text]) => Number(present(text, `row of ${sql}`)))

/** The one column that a statement selects, as texts. */
export const queryTexts = (sql: string) =>
  Effect.map(rowsOf(sql), (rows) => rows.map((row) => String(Object.values(row)[0])))

/** Whether the warehouse has this table, as `schema.name`. `duckdb_tables()` would look at all of them. */
export const hasTable = (path: string) =>
  rowsOf(`SELECT 1 FROM ${path} LIMIT 0`).pipe(
    Effect.as(true),
    Effect.catchIf(isUnknown, () => Effect.succeed(false))
  )
const isUnknown = ({ reason }: Failure) =>
  reason._tag === "StatementRejected" && reason.detail.startsWith("Catalog Error")

/** Whether a FROM clause has any row. */
export const isAny = (from: string) => Effect.map(rowsOf(`SELECT 1 FROM ${from} LIMIT 1`), (rows) => rows.length > 0)

/** Runs `use` between two statements. The second one also follows a failure, which is then the only one that is reported. */
export const bracketed = <A, E, R>(begin: string, use: Effect.Effect<A, E, R>, end: string) =>
  Effect.flatMap(Warehouse, ({ run }) =>
    Effect.acquireUseRelease(
      run(begin),
      () => use,
      () => Effect.ignore(run(end))
    )
  )

/** Runs `use` while a file is attached to be read. */
export const whileAttached = <A, E, R>(path: string, as: string, use: Effect.Effect<A, E, R>) =>
  bracketed(`ATTACH ${literal(path)} AS ${as} (READ_ONLY)`, use, `DETACH ${as}`)
