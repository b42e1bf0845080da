/**
 * What a database has: a table `_sluice` in the schema, with a row for each table of each output folder that was written into
 * it, and a row without a table for the folder itself. It changes in the transaction that changes the tables.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { literal, name } from "../../stores/warehouse/sql.ts"
import type { Server, ServerError } from "./server.ts"
import { mkdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { onDisk, readJson, writeDurably } from "../../output/files.ts"

export interface StoredState {
  /** Of an output folder; see `ownerOf`. */
  readonly owner: string
  /** `contacts`, `bi.dim_contact`; empty for the folder itself. */
  readonly table_name: string
  /** Of the table's content; for the folder, the SHA-256 of the DuckDB file that was loaded. */
  readonly version: string
  /** Of the table's columns and comments; for the folder, its locations, separated by commas. */
  readonly shape: string
  readonly run_id: string
}

/** The version of a table that has the rows of an earlier release, or none; earlier versions of sluice left it empty, hence the words. */
export const behind = "too wide"

/** The key, and the names and types of the columns, of a table. */
export const shapeIn = (shape: string) =>
  Option.match(decodeShape(shape), {
    onNone: () => ({ key: [], columns: [] }),
    onSome: ([key, , columns]) => ({ key, columns: columns.map(([column, type]) => [column, type] as const) })
  })

const decodeShape = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Tuple([
      Schema.Array(Schema.String),
      Schema.NullOr(Schema.String),
      Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.NullOr(Schema.String)]))
    ])
  )
)

const path = (schema: string) => `${name(schema)}."_sluice"`

/** Creates what is missing of a schema. Without the right to create schemas, one that exists is enough. */
export const ensureSchema = Effect.fnUntraced(function* (server: Server, schema: string) {
  const [found] = yield* server.rows<{ schema: boolean; state: boolean }>(
    "SELECT to_regnamespace(quote_ident($1)) IS NOT NULL AS schema, to_regclass(quote_ident($1) || '._sluice') IS NOT NULL AS state",
    [schema]
  )
  if (!found?.schema) yield* server.run([`CREATE SCHEMA ${name(schema)}`])
  if (found?.state) return
  yield* server.run([
    `CREATE TABLE ${path(schema)} (
       owner text NOT NULL, table_name text NOT NULL, version text NOT NULL, shape text NOT NULL, run_id text NOT NULL,
       loaded_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (owner, table_name)
     )`,
    `COMMENT ON TABLE ${path(schema)} IS 'What sluice has loaded into this schema, by output folder and table'`
  ])
})

export const storedState = (server: Server, schema: string): Effect.Effect<ReadonlyArray<StoredState>, ServerError> =>
  Effect.flatMap(
    server.rows<{ state: boolean }>("SELECT to_regclass(quote_ident($1) || '._sluice') IS NOT NULL AS state", [schema]),
    ([found]) =>
      found?.state
        ? server.rows<StoredState>(`SELECT owner, table_name, version, shape, run_id FROM ${path(schema)}`)
        : Effect.succeed([])
  )

export const storeState = (schema: string, ...states: ReadonlyArray<StoredState>): string =>
  `INSERT INTO ${path(schema)} (owner, table_name, version, shape, run_id)
   VALUES ${states.map((one) => `(${[one.owner, one.table_name, one.version, one.shape, one.run_id].map(literal).join(", ")})`).join(", ")}
   ON CONFLICT (owner, table_name) DO UPDATE
   SET version = excluded.version, shape = excluded.shape, run_id = excluded.run_id, loaded_at = now()`

export const forgetState = (schema: string, owner: string, table: string): string =>
  `DELETE FROM ${path(schema)} WHERE owner = ${literal(owner)} AND table_name = ${literal(table)}`

/** The files of a database in the output folder, beside its releases: what it got last, and what it gets. */
interface Paths {
  /** The file that the database gets. */
  readonly current: string
  /** The file that it got last, and a note which one it is: without it, the file is of no use. */
  readonly loaded: string
  readonly note: string
  readonly rows: string
  readonly records: string
}

/** The files of a database beside its releases. */
export const pathsIn = Effect.fnUntraced(function* (folder: string) {
  yield* onDisk(folder, "created", () => mkdir(folder, { recursive: true, mode: 0o700 }))
  const at = (name: string) => join(folder, name)
  return {
    current: at("current.duckdb"),
    loaded: at("loaded.duckdb"),
    note: at("loaded.json"),
    rows: at("rows.csv"),
    records: at("records.parquet")
  }
})

const Note = Schema.Struct({
  /** SHA-256 of the file. */
  content: Schema.String,
  /** The rows of each table in the database after it was loaded; absent in the note of an earlier version of sluice. */
  rows: Schema.optionalKey(Schema.Record(Schema.String, Schema.Number))
})

/** What the database got last, if it is known. */
export const noteIn = ({ note }: Paths) => Effect.orElseSucceed(readJson(note, Note), () => undefined)

/** Call when the database has the file `current`. */
export const keepLoaded = Effect.fnUntraced(function* (
  { current, loaded, note, records, rows }: Paths,
  loading: typeof Note.Type
) {
  yield* onDisk(loaded, "written", async () => {
    for (const path of [rows, records]) await rm(path, { force: true })
    await rm(note, { force: true })
    await rename(current, loaded)
    await writeDurably(note, JSON.stringify(loading))
  })
})
