/**
 * The warehouse: one DuckDB file with the current rows (`crm`), their earlier versions (`crm_history`) and all state
 * (`meta`). One process writes it at a time: DuckDB's lock on the file excludes other runs, and ends with the process.
 */
import { DuckDBScalarFunction, VARCHAR } from "@duckdb/node-api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { statSync } from "node:fs"
import { succeeds } from "../../output/files.ts"
import { type Failure, failure } from "../../values/failure.ts"
import { type Database, type WarehouseOptions, openDatabase } from "./database.ts"
import { installedExtension, loadExtension } from "./extensions.ts"
import { type TransactionWork, runTransaction } from "./transaction.ts"

export type Row = Readonly<Record<string, string | number | boolean | null>>

export class Warehouse extends Context.Service<
  Warehouse,
  {
    /** DuckDB's memory limit; the process needs more. */
    readonly memoryMb: number
    /**
     * Runs all statements, or the work of a transaction, or nothing of it. For want of memory, it is run again with more, so
     * work begins with nothing of an earlier attempt.
     */
    readonly transaction: (work: ReadonlyArray<string> | TransactionWork) => Effect.Effect<void, Failure>
    /** Runs a checkpoint if unwritten rows fill more than this share of DuckDB's memory limit, or if the log is long. */
    readonly checkpointIfAbove: (share: number) => Effect.Effect<void, Failure>
    /** Runs statements that cannot run in a transaction. */
    readonly run: (sql: string) => Effect.Effect<void, Failure>
    /** Runs a statement in a transaction of another connection, which is rolled back at the end of the scope. */
    readonly hold: (sql: string) => Effect.Effect<unknown, Failure, Scope.Scope>
    /** Adds an SQL function of texts, for all connections. `hasEffects`: it is called for rows only, and for each of them. */
    readonly textFunction: (
      name: string,
      parameters: number,
      of: TextFunction,
      hasEffects?: boolean
    ) => Effect.Effect<void, Failure>
    /** An extension by its name, which may be downloaded, or by the path of its file. */
    readonly loadExtension: (extension: string) => Effect.Effect<void, Failure>
    /** For small results. BIGINT, DECIMAL and timestamps are returned as text. */
    readonly rows: (sql: string) => Effect.Effect<ReadonlyArray<Row>, Failure>
    /** For results of any size, with a few thousand rows in memory at a time. Every column must be VARCHAR. */
    readonly stream: (sql: string) => Stream.Stream<ReadonlyArray<string | null>, Failure>
  }
>()("sluice/warehouse/Warehouse") {
  static readonly layer = (path: string, options: WarehouseOptions) =>
    Layer.effect(Warehouse, openWarehouse(path, options))
}

export type TextFunction = (values: ReadonlyArray<string | null>) => string | null

const openWarehouse = Effect.fn("warehouse.open")(function* (path: string, options: WarehouseOptions) {
  const { access, isRelease, memoryMb } = options
  const database = yield* openDatabase(path, options)
  const isWhole = yield* checkFormat(path, options, database)
  const { alone, attempt, begin, connect, connection, isUnsigned, withMemory } = database
  const opened = Warehouse.of({
    memoryMb,
    transaction: (work) => {
      if (typeof work !== "function" && work.length === 0) return Effect.void
      const statements: TransactionWork = typeof work === "function" ? work : (tx) => Effect.sync(() => tx.run(...work))
      const transaction = runTransaction(connection, statements, attempt).pipe(
        // After a failed statement the transaction stays open, and later statements would become part of it.
        Effect.onError(() => succeeds(() => connection.run("ROLLBACK"))),
        Effect.uninterruptible,
        alone
      )
      return Effect.andThen(database.followSize, withMemory(transaction, "transaction"))
    },
    checkpointIfAbove: checkpoints(path, memoryMb, database),
    run: (sql) => {
      const once = attempt(() => connection.run(sql)).pipe(Effect.asVoid, Effect.uninterruptible, alone)
      // The first of several statements may have changed something already.
      return sql.includes(";\n") ? once : withMemory(once)
    },
    hold: (sql) =>
      Effect.uninterruptible(Effect.flatMap(connect, (other) => attempt(() => other.run(`${begin}; BEGIN; ${sql}`)))),
    textFunction: (name, parameters, of, hasEffects = false) =>
      attempt(async () => connection.registerScalarFunction(scalarFunction(name, parameters, of, hasEffects))),
    loadExtension: (extension) =>
      attempt(async () =>
        loadExtension(
          connection,
          extension.includes("/") ? extension : await installedExtension(connection, extension),
          isUnsigned
        )
      ),
    rows: (sql) =>
      attempt(async () => (await connection.runAndReadAll(sql)).getRowObjectsJson() as Array<Row>).pipe(
        Effect.uninterruptible,
        alone,
        withMemory
      ),
    stream: (sql) => streamOf(database, sql)
  })
  if (access === "read" && !isRelease) ownerless.add(opened)
  if (isWhole) metaTablesAtOpening.set(opened, isRelease ? "published" : "all")
  return opened
})

/** Fails if the file is of another format, unless that is accepted. Returns whether it has the tables of this format. */
const checkFormat = Effect.fnUntraced(function* (
  path: string,
  { access, anyFormat, isRelease }: WarehouseOptions,
  { attempt, connection }: Database
) {
  const query = (sql: string) =>
    Effect.uninterruptible(attempt(async () => (await connection.runAndReadAll(sql)).getRows()))
  const probed = yield* Effect.option(query(isRelease ? "SELECT 1 FROM meta.runs LIMIT 0" : formatSql))
  if (Option.exists(probed, ([row]) => isRelease === true || Number(row?.[0]) === format)) return true
  const tables = new Set((yield* query(metaTablesSql)).map(([table]) => table))
  // A command that was stopped before it created the tables leaves an empty file.
  if (access === "read" && !tables.has("runs")) return yield* failure({ _tag: "WarehouseNotFound", path })
  const isAccepted = anyFormat || isRelease || !tables.has("runs")
  const [row] = isAccepted ? [] : tables.has("schema_version") ? yield* query(formatSql) : [[1]]
  if (row) return yield* failure({ _tag: "WarehouseFormat", path, found: Number(row[0]), format })
  return false
})

const checkpoints = (path: string, memoryMb: number, { alone, attempt, connection }: Database) => {
  /** Size of the log when memory was last measured. */
  let loggedBefore = 0
  return (share: number) =>
    attempt(async () => {
      const logged = statSync(`${path}.wal`, { throwIfNoEntry: false })?.size ?? 0
      if (Math.abs(logged - loggedBefore) < unmeasuredBytes) return
      loggedBefore = logged
      const [row] = (await connection.runAndReadAll(unwrittenMb)).getRowsJson()
      if (Number(row?.[0]) <= memoryMb * share && logged <= logBytesMax) return
      await connection.run("CHECKPOINT")
      loggedBefore = 0
    }).pipe(Effect.uninterruptible, alone)
}

/** A separate connection gives a consistent snapshot, and a slow consumer does not block other statements. */
const streamOf = ({ attempt, begin, connect }: Database, sql: string) =>
  connect.pipe(
    Effect.flatMap((separate) => attempt(() => separate.run(begin).then(() => separate.stream(sql)))),
    Effect.uninterruptible,
    Effect.map((result) =>
      Stream.paginate(undefined, () =>
        attempt(() => result.fetchChunk()).pipe(
          Effect.map((chunk) => {
            const rows = (chunk?.getRows() ?? []) as Array<Array<string | null>> // Every column is VARCHAR.
            return [rows, rows.length > 0 ? Option.some(undefined) : Option.none()] as const
          }),
          Effect.uninterruptible
        )
      )
    ),
    Stream.unwrap
  )

/** The format of a warehouse file. It increases when names in `meta` change; older files then need a rebuild. */
export const format = 3

/** Lists the tables of `meta`; no rows in a new file. */
export const metaTablesSql =
  "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'meta'"

/** Valid only if `meta.schema_version` exists. */
const formatSql = "SELECT format FROM meta.schema_version"

/** Which tables of `meta` a file has that has the format of this version; to list them takes longer than to open it. */
export const metaTablesAtOpening = new WeakMap<Warehouse["Service"], "all" | "published">()
/** Warehouses that no process writes to: it could not be opened to read otherwise. */
export const ownerless = new WeakSet<Warehouse["Service"]>()

const scalarFunction = (name: string, parameters: number, of: TextFunction, volatile: boolean) =>
  DuckDBScalarFunction.create({
    name,
    volatile,
    parameterTypes: Array.from({ length: parameters }, () => VARCHAR),
    returnType: VARCHAR,
    mainFunction: (_, rows, results) => {
      const columns = Array.from({ length: parameters }, (_, index) => rows.getColumnVector(index))
      for (let row = 0; row < rows.rowCount; row++)
        results.setItem(row, of(columns.map((column) => column.getItem(row) as string | null))) // Every column is VARCHAR.
      results.flush()
    }
  })

/** Limits the time to open the file after a crash, when DuckDB replays the log. */
const logBytesMax = 128 * 1024 * 1024

/** So few bytes of the log are of at most sixty small tables, whose columns take some 30 MB. */
const unmeasuredBytes = 64 * 1024

/**
 * Memory of rows and their long texts, which DuckDB cannot release until a checkpoint has written them to the file. Reading
 * NDJSON takes another 32 MB.
 */
const unwrittenMb =
  "SELECT sum(memory_usage_bytes) / 1e6 FROM duckdb_memory() WHERE tag IN ('IN_MEMORY_TABLE', 'OVERFLOW_STRINGS')"
