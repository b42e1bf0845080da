/**
 * Brings a PostgreSQL database up to date with a release, in one transaction: its readers see the release before or this one.
 * The rows that changed since the release that was loaded last are replaced; without that release, all rows of the output
 * folder's locations. Nothing that sluice did not create is changed or dropped.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { PostgresDestination } from "../../../settings/targets.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type Failure, failure } from "../../../values/failure.ts"
import { type Existing, existingTables, indexStatements, tableStatements, unlessNeeded } from "./tables.ts"
import { type ReleaseTable, modelSchema } from "./release-tables.ts"
import { findChanged, findChangedWide, insertAll, isKeyed, replaceChanged, takeAllKeys } from "./rows.ts"
import { type Server, type ServerError, transaction } from "./server.ts"
import { type StoredState, ensureSchema, forgetState, storeState, storedState, tooWide } from "./state.ts"

export interface Loading {
  readonly target: string
  readonly schema: PostgresDestination["schema"]
  readonly tables: ReadonlyArray<ReleaseTable>
  /** Models that could not be built; what the database has of them stays. */
  readonly kept: ReadonlySet<string>
  /** Id of the output folder. */
  readonly owner: string
  readonly locations: ReadonlyArray<string>
  /** SHA-256 of the release's DuckDB file. */
  readonly content: string
  /** The same of the file that is attached as the one that was loaded last. */
  readonly loadedContent: string | undefined
  /** Tables of which only rows of the records in `sluice_records` have changed since that file. */
  readonly few: ReadonlySet<string>
  readonly run: string
  /** Replace all rows. */
  readonly full: boolean
  /** A file for the rows that are being copied. */
  readonly file: string
}

/** Whether the database says that it has this very release. */
export const isLoaded = Effect.fnUntraced(function* (
  server: Server,
  { content, locations, owner, schema }: Pick<Loading, "content" | "locations" | "owner" | "schema">
) {
  const state = (yield* storedState(server, schema)).find((one) => one.owner === owner && one.table_name === "")
  return state?.version === content && state.shape === locations.join(",")
})

/** Returns the tables that were changed. */
export const loadRelease = (server: Server, loading: Loading) =>
  transaction(server, load(server, loading)).pipe(Effect.withSpan("postgres.load"))

/** Removes all rows of an output folder. */
export const removeRows = (server: Server, { owner, schema }: Pick<Loading, "owner" | "schema">) =>
  transaction(
    server,
    Effect.gen(function* () {
      const state = yield* storedState(server, schema)
      const mine = state.filter((one) => one.owner === owner)
      const existing = yield* existingTables(server, [schema, modelSchema(schema)])
      const others = state.filter((one) => one.owner !== owner)
      const scope = mine.find((one) => one.table_name === "")?.shape.split(",") ?? []
      for (const one of mine)
        if (one.table_name !== "") yield* removeTable(server, { owner, schema }, one, existing, others, scope)
      if (mine.length > 0) yield* server.run([forgetState(schema, owner, "")])
    })
  )

const load = Effect.fnUntraced(function* (
  server: Server,
  loading: Loading
): Effect.fn.Return<ReadonlyArray<string>, ServerError | Failure, Warehouse> {
  const { content, full, kept, locations, owner, run, schema, tables, target } = loading
  // One at a time, also when the schema does not exist yet.
  yield* server.rows("SELECT pg_advisory_xact_lock(hashtextextended('sluice ' || $1, 0))", [schema])
  yield* ensureSchema(server, schema)
  const state = yield* storedState(server, schema)
  const mine = new Map(state.filter((one) => one.owner === owner).map((one) => [one.table_name, one]))
  const others = yield* otherOwners(server, loading, state)
  const existing = yield* existingTables(server, [schema, modelSchema(schema)])
  if (tables.some((one) => one.schema === "bi")) yield* ensureModelSchema(server, schema)

  const own = mine.get("")
  // A location may have been removed since.
  const scope = [...new Set([...locations, ...(own?.shape.split(",") ?? [])])]
  const canCompare = !full && loading.loadedContent !== undefined && own?.version === loading.loadedContent
  const changed = new Map<string, ReleaseTable>()
  const unchanged = new Set<string>()
  for (const table of inOrder(tables)) {
    const shape = shapeOf(table)
    const before = mine.get(table.name)
    const found = existing.get(table.path)
    if (!full && found && before?.version === table.version && before.shape === shape) {
      unchanged.add(table.name)
      continue
    }
    if (found && !state.some((one) => one.table_name === table.name))
      return yield* refusal(target, `${table.path} exists already, and sluice did not create it`)
    const isAlone = !others.some((one) => one.table_name === table.name)
    const own = before === undefined ? [] : columnsIn(before.shape).map(([column]) => column)
    const { alterations, comments, isRetyped, narrowings } = tableStatements(table, { existing: found, own, isAlone })
    yield* server.run(alterations)
    for (const statement of narrowings) yield* unlessNeeded(server, statement)
    if (!found || before?.shape !== shape) yield* server.run(comments)
    // Other columns of a wide table show other values of records that have not changed.
    const isRedefined = table.wide !== undefined && !hasSameColumns(before?.shape, shape)
    const canReplace =
      canCompare &&
      found !== undefined &&
      before !== undefined &&
      before.version !== tooWide &&
      !isRetyped &&
      !isRedefined
    const replaced = canReplace ? yield* changedRows(table, loading.few, changed, unchanged) : undefined
    const isShared = found !== undefined && !isAlone && !found.has("location_id")
    if (isShared && table.key.length === 0)
      return yield* refusal(
        target,
        `${table.path} has neither locations nor a key, so two output folders cannot share it; name another schema`
      )
    const empty = found ? deleteAll(server, table, found, scope, isAlone) : Effect.void
    const write =
      replaced === undefined
        ? isShared
          ? Effect.andThen(takeAllKeys(table), replaceChanged(server, table, loading.file))
          : Effect.andThen(empty, insertAll(server, table, loading.file))
        : replaced > 0
          ? replaceChanged(server, table, loading.file)
          : Effect.void
    const isWritten = yield* table.wide ? orEmpty(server, table, write, empty) : Effect.as(write, true)
    const version = isWritten ? table.version : tooWide
    if (!found) yield* server.run(indexStatements(table, yield* isKeyed(table)))
    if (replaced === undefined || replaced > rowsToAnalyze) yield* server.run([`ANALYZE ${table.path}`])
    if (replaced !== undefined) changed.set(table.name, table)
    yield* server.run([storeState(schema, { owner, table_name: table.name, version, shape, run_id: run })])
  }
  const names = new Set(tables.map((table) => table.name))
  for (const former of mine.values())
    if (former.table_name !== "" && !names.has(former.table_name) && !kept.has(former.table_name))
      yield* removeTable(server, loading, former, existing, others, scope)
  yield* server.run([
    storeState(schema, { owner, table_name: "", version: content, shape: locations.join(","), run_id: run })
  ])
  return tables.filter((table) => !unchanged.has(table.name)).map((table) => table.name)
})

/** With fewer changes, the statistics of the planner stay good enough. */
const rowsToAnalyze = 1000

/**
 * PostgreSQL stores a row in a page of 8 kB, which hundreds of filled custom fields exceed. Such a wide table is left empty;
 * the custom values are in a table of their own as well. Returns whether the rows were written.
 */
const orEmpty = <R>(
  server: Server,
  { path, wide }: ReleaseTable,
  write: Effect.Effect<void, ServerError | Failure, R>,
  empty: Effect.Effect<void, ServerError>
): Effect.Effect<boolean, ServerError | Failure, R> =>
  server.run(["SAVEPOINT sluice_wide"]).pipe(
    Effect.andThen(write),
    Effect.as(true),
    Effect.catchIf(
      (error): error is ServerError => error._tag === "ServerError" && error.code === "54000",
      ({ detail }) =>
        server
          .run(["ROLLBACK TO SAVEPOINT sluice_wide"])
          .pipe(
            Effect.andThen(empty),
            Effect.andThen(
              Effect.annotateLogs(
                Effect.logWarning("a wide table is empty in the database, because PostgreSQL cannot store its rows"),
                { table: path, values: wide?.values, detail }
              )
            ),
            Effect.as(false)
          )
    )
  )

/** A wide view after the tables from which it is made. */
const inOrder = (tables: ReadonlyArray<ReleaseTable>): ReadonlyArray<ReleaseTable> => [
  ...tables.filter(({ wide }) => !wide),
  ...tables.filter(({ wide }) => wide)
]

const shapeOf = ({ columns, comment, key }: ReleaseTable): string =>
  JSON.stringify([key, comment, columns.map((column) => [column.as, column.sql, column.comment])])

/** The names and types of the columns in the state of a table. */
const columnsIn = (shape: string): ReadonlyArray<readonly [name: string, type: string]> =>
  Option.match(decodeShape(shape), {
    onNone: () => [],
    onSome: ([, , columns]) => columns.map(([column, type]) => [column, type])
  })

const hasSameColumns = (before = "", shape: string): boolean =>
  JSON.stringify(columnsIn(before)) === JSON.stringify(columnsIn(shape))

const decodeShape = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Tuple([
      Schema.Array(Schema.String),
      Schema.NullOr(Schema.String),
      Schema.Array(Schema.Tuple([Schema.String, Schema.String, Schema.NullOr(Schema.String)]))
    ])
  )
)

const refusal = (target: string, detail: string): Effect.Effect<never, Failure> =>
  Effect.fail(failure({ _tag: "DestinationFailed", target, detail }))

/** How many rows are to be replaced; `undefined`: all of them. */
const changedRows = (
  table: ReleaseTable,
  few: Loading["few"],
  changed: ReadonlyMap<string, ReleaseTable>,
  unchanged: ReadonlySet<string>
): Effect.Effect<number | undefined, Failure, Warehouse> => {
  const { wide } = table
  if (table.key.length === 0) return Effect.succeed(undefined)
  if (wide === undefined) return findChanged(table, few.has(table.name))
  // A table that was replaced as a whole is neither.
  const areKnown = [wide.table, wide.values].every((one) => changed.has(one) || unchanged.has(one))
  return areKnown
    ? findChangedWide(table, wide, { records: changed.get(wide.table), values: changed.get(wide.values) })
    : Effect.succeed(undefined)
}

/** The state of other output folders that write into the same schema. No location may come from two of them. */
const otherOwners = Effect.fnUntraced(function* (
  server: Server,
  { full, locations, owner, schema, target }: Loading,
  state: ReadonlyArray<StoredState>
) {
  const others = state.filter((one) => one.owner !== owner)
  const taken = others.filter(
    (one) => one.table_name === "" && one.shape.split(",").some((location) => locations.includes(location))
  )
  for (const { owner: other, shape } of taken) {
    const shared = shape.split(",").filter((location) => locations.includes(location))
    const isReplaced = full && shared.length === shape.split(",").length
    if (!isReplaced)
      return yield* refusal(
        target,
        `the schema ${schema} has rows of ${shared.join(", ")} from another output folder (${other}). To replace them by those of this folder, run ./sluice publish --full; otherwise, name another schema`
      )
    yield* server.run([`DELETE FROM ${name(schema)}."_sluice" WHERE owner = ${literal(other)}`])
  }
  const left = taken.map((one) => one.owner)
  return others.filter((one) => !left.includes(one.owner))
})

const ensureModelSchema = Effect.fnUntraced(function* (server: Server, schema: string) {
  const models = modelSchema(schema)
  const [found] = yield* server.rows<{ there: boolean }>(
    "SELECT to_regnamespace(quote_ident($1)) IS NOT NULL AS there",
    [models]
  )
  if (!found?.there) yield* server.run([`CREATE SCHEMA ${name(models)}`])
})

/**
 * Deletes the rows of this output folder. Not by TRUNCATE, after which a program that has begun to read sees an empty table.
 * Rows without a location that other output folders share stay.
 */
const deleteAll = (
  server: Server,
  { path }: Pick<ReleaseTable, "path">,
  columns: Existing,
  scope: ReadonlyArray<string>,
  isAlone: boolean
): Effect.Effect<void, ServerError> =>
  isAlone
    ? server.run([`DELETE FROM ${path}`])
    : columns.has("location_id")
      ? server.run([`DELETE FROM ${path} WHERE location_id IN (${scope.map(literal).join(", ")})`])
      : Effect.void

/** Removes the rows of a table that the release does not have any more, and the table if nothing else uses it. */
const removeTable = Effect.fnUntraced(function* (
  server: Server,
  { owner, schema }: Pick<Loading, "owner" | "schema">,
  { table_name: former }: StoredState,
  existing: ReadonlyMap<string, Existing>,
  others: ReadonlyArray<StoredState>,
  scope: ReadonlyArray<string>
) {
  const isAlone = !others.some((one) => one.table_name === former)
  const [path, columns] =
    [...existing].find(([path]) => path === pathOfName(schema, former)) ?? ([undefined, undefined] as const)
  if (path !== undefined) {
    yield* deleteAll(server, { path }, columns, scope, isAlone)
    // It stays, without rows, if something depends on it.
    if (isAlone) yield* unlessNeeded(server, `DROP TABLE ${path}`)
  }
  yield* server.run([forgetState(schema, owner, former)])
})

const pathOfName = (schema: string, table: string): string =>
  table.startsWith("bi.") ? `${name(modelSchema(schema))}.${name(table.slice(3))}` : `${name(schema)}.${name(table)}`
