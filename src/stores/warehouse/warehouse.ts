/**
 * The warehouse: one DuckDB file with the current rows (`crm`), their earlier versions (`crm_history`) and all state
 * (`meta`). One process writes it at a time: DuckDB's lock on the file excludes other runs, and ends with the process.
 */
import { type DuckDBConnection, DuckDBInstance, DuckDBScalarFunction, VARCHAR } from "@duckdb/node-api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { copyFile, link, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { acceptsUnsigned, installedExtension, loadExtension } from "./extensions.ts"
import { openFailure, statementFailure } from "./duckdb-failures.ts"
import { Failure, failure } from "../../values/failure.ts"
import { closeToOthers, succeeds } from "../../output/files.ts"
import { holding } from "../../output/held-files.ts"
import { makeOutputFolder } from "../../output/folder.ts"
import { outputPaths, warehouseName } from "../../output/paths.ts"
import { announced, holderIn, lockedBy, openWhenUnlocked } from "../../output/lock.ts"
import { literal } from "./sql.ts"

export type Row = Readonly<Record<string, string | number | boolean | null>>

/**
 * SQL; or SQL with the statements that follow from the number of rows that it wrote; or statements to run only if a table
 * is not empty; or statements that follow from the counts of those before. Most of the cost of a small batch would be
 * planning statements that find no rows.
 */
export type Statement =
  | string
  | { readonly sql: string; readonly next: (rows: number) => ReadonlyArray<Statement> }
  | { readonly ifAny: string; readonly run: ReadonlyArray<Statement> }
  | (() => ReadonlyArray<Statement>)

export class Warehouse extends Context.Service<
  Warehouse,
  {
    /** DuckDB's memory limit; the process needs more. */
    readonly memoryMb: number
    /**
     * Runs all statements, or none of them. For want of memory, they are run again with more: functions only if these may be
     * called again.
     */
    readonly transaction: (
      statements: ReadonlyArray<Statement>,
      functions?: "repeatable"
    ) => Effect.Effect<void, Failure>
    /** Runs a checkpoint if unwritten rows fill more than this share of DuckDB's memory limit, or if the log is long. */
    readonly checkpointIfAbove: (share: number) => Effect.Effect<void, Failure>
    /** Runs statements that cannot run in a transaction. */
    readonly run: (sql: string) => Effect.Effect<void, Failure>
    /** Runs a statement in a transaction of another connection, which is rolled back at the end of the scope. */
    readonly hold: (sql: string) => Effect.Effect<unknown, Failure, Scope.Scope>
    /** Adds an SQL function of texts, for all connections. */
    readonly textFunction: (name: string, parameters: number, of: TextFunction) => Effect.Effect<void, Failure>
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

export interface WarehouseOptions {
  readonly access: "write" | "read"
  /** A new file is a copy of this one; `undefined`: it has no tables. See schema.ts. */
  readonly template?: string | undefined
  /** Also open files of other formats, to replace them. */
  readonly anyFormat?: true
  /** The file is the DuckDB file of a release, which has the current rows in its main schema; only to read it. */
  readonly isRelease?: true
  readonly memoryMb: number
}

const openWarehouse = Effect.fn("warehouse.open")(function* (
  path: string,
  { access, memoryMb, template, anyFormat, isRelease }: WarehouseOptions
): Effect.fn.Return<Warehouse["Service"], Failure, Scope.Scope> {
  if (existsSync(outputPaths(dirname(path)).backupIncomplete))
    return yield* failure({ _tag: "BackupIncomplete", folder: dirname(path) })
  if (access === "read" && !existsSync(path)) return yield* failure({ _tag: "WarehouseNotFound", path })
  yield* holding(path)
  let limitMb = limitFor(path, memoryMb)
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => statementFailure(path, limitMb, cause) })
  const isUnsigned = acceptsUnsigned()
  const settings = { ...settingsOf(path, memoryMb, limitMb), allow_unsigned_extensions: String(isUnsigned) }
  const instance = yield* Effect.acquireRelease(
    attempt(() => DuckDBInstance.create(":memory:", settings)),
    (opened) => Effect.sync(() => opened.closeSync())
  )
  const connect = Effect.acquireRelease(
    attempt(() => instance.connect()),
    (opened) => Effect.sync(() => opened.closeSync())
  )
  const connection = yield* connect
  // As catalog `crm`, the main schema of a release is found as `crm`, like the schema of the warehouse.
  const catalog = isRelease ? "crm" : catalogName
  const begin = `USE ${catalog}; SET TimeZone = 'UTC'`
  const attach = Effect.tryPromise({
    try: async () => {
      if (access === "write") await makeOutputFolder(dirname(path))
      if (template !== undefined && !existsSync(path) && !existsSync(`${path}.wal`)) await copyWhole(template, path)
      await connection.run(
        `ATTACH ${literal(path)} AS ${catalog} (${access === "read" ? "READ_ONLY" : attachOptions(path)})`
      )
      if (access === "write") await closeToOthers(path)
    },
    catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause)))
    // DuckDB never returns if it is closed while it opens a file.
  }).pipe(Effect.uninterruptible)
  const holderOf = ({ message }: Error) => holderIn(message, path)
  // A command that only reads fails at once if the file is locked, instead of waiting.
  yield* (
    access === "write"
      ? openWhenUnlocked(path, attach, holderOf)
      : Effect.catchIf(
          attach,
          (cause) => holderOf(cause) !== undefined,
          (cause) => lockedBy(path, holderOf(cause)!)
        )
  ).pipe(Effect.mapError((cause) => (cause instanceof Failure ? cause : openFailure(path, cause))))
  if (access === "write" && basename(path) === warehouseName) yield* announced(path)
  const statementLock = yield* Semaphore.make(1)
  yield* Effect.uninterruptible(attempt(() => connection.run(begin)))
  const query = (sql: string) =>
    Effect.uninterruptible(attempt(async () => (await connection.runAndReadAll(sql)).getRows()))
  const probed = yield* Effect.option(query(isRelease ? "SELECT 1 FROM meta.runs LIMIT 0" : formatSql))
  const isWhole = Option.exists(probed, ([row]) => isRelease === true || Number(row?.[0]) === format)
  if (!isWhole) {
    const tables = new Set((yield* query(metaTablesSql)).map(([table]) => table))
    // A command that was stopped before it created the tables leaves an empty file.
    if (access === "read" && !tables.has("runs")) return yield* failure({ _tag: "WarehouseNotFound", path })
    const isAccepted = anyFormat || isRelease || !tables.has("runs")
    const [row] = isAccepted ? [] : tables.has("schema_version") ? yield* query(formatSql) : [[1]]
    if (row) return yield* failure({ _tag: "WarehouseFormat", path, found: Number(row[0]), format })
  }
  /** Whether DuckDB has more memory from now on. */
  const getMemory = Effect.gen(function* () {
    const moreMb = 2 * limitMb
    if (moreMb > memoryMb * memoryTimesMax || process.availableMemory() < 2 * moreMb * 1024 * 1024) return false
    yield* attempt(() => connection.run(`SET memory_limit = '${moreMb}MB'`))
    limitMb = moreMb
    yield* Effect.annotateLogs(Effect.logInfo("DuckDB gets more memory than machine.memory_mb"), { memory_mb: moreMb })
    return true
  }).pipe(statementLock.withPermits(1))
  /** Repeats what changes nothing if it fails. */
  const withMemory = <A>(work: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
    Effect.catchIf(
      work,
      // After a commit that failed, DuckDB's own state cannot be relied on until the file is opened again.
      ({ message, reason }) => reason._tag === "OutOfMemory" && !message.includes("Failed to commit"),
      (failed) => Effect.flatMap(getMemory, (isMore) => (isMore ? withMemory(work) : Effect.fail(failed)))
    )
  /** Size of the log when memory was last measured. */
  let loggedBefore = 0
  const opened = Warehouse.of({
    memoryMb,
    // After a failed statement the transaction stays open, and later statements would become part of it.
    transaction: (statements, functions) => {
      if (statements.length === 0) return Effect.void
      const once = attempt(() => executeTogether(connection, statements)).pipe(
        Effect.onError(() => succeeds(() => connection.run("ROLLBACK"))),
        Effect.uninterruptible,
        statementLock.withPermits(1)
      )
      return functions === "repeatable" || statements.every((statement) => typeof statement === "string")
        ? withMemory(once)
        : once
    },
    checkpointIfAbove: (share) =>
      attempt(async () => {
        const logged = statSync(`${path}.wal`, { throwIfNoEntry: false })?.size ?? 0
        if (Math.abs(logged - loggedBefore) < unmeasuredBytes) return
        loggedBefore = logged
        const [row] = (await connection.runAndReadAll(unwrittenMb)).getRowsJson()
        if (Number(row?.[0]) <= memoryMb * share && logged <= logBytesMax) return
        await connection.run("CHECKPOINT")
        loggedBefore = 0
      }).pipe(Effect.uninterruptible, statementLock.withPermits(1)),
    run: (sql) => {
      const once = attempt(() => connection.run(sql)).pipe(
        Effect.asVoid,
        Effect.uninterruptible,
        statementLock.withPermits(1)
      )
      // The first of several statements may have changed something already.
      return sql.includes(";\n") ? once : withMemory(once)
    },
    hold: (sql) =>
      Effect.uninterruptible(Effect.flatMap(connect, (other) => attempt(() => other.run(`${begin}; BEGIN; ${sql}`)))),
    textFunction: (name, parameters, of) =>
      attempt(async () => connection.registerScalarFunction(scalarFunction(name, parameters, of))),
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
        statementLock.withPermits(1),
        withMemory
      ),
    // A separate connection gives a consistent snapshot, and a slow consumer does not block other statements.
    stream: (sql) =>
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
  })
  if (access === "read" && !isRelease) ownerless.add(opened)
  if (isWhole) metaTablesAtOpening.set(opened, isRelease ? "published" : "all")
  return opened
})

/**
 * What changes a large warehouse needs more memory: at 128 MB, the third night of 200,000 contacts, 300 MB, could not commit.
 * The size of the file is added, up to four times the setting, if the machine has it.
 */
const limitFor = (path: string, memoryMb: number): number => {
  const fileMb = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1024 / 1024
  const limitMb = Math.round(Math.min(4 * memoryMb, memoryMb + fileMb))
  return process.availableMemory() < 4 * limitMb * 1024 * 1024 ? memoryMb : limitMb
}

/**
 * `machine.memory_mb` is enough for most statements. One that needs more gets it, up to so many times as much, if the machine
 * has it: a run that fails for want of memory helps nobody.
 */
const memoryTimesMax = 8

/** The format of a warehouse file. It increases when names in `meta` change; older files then need a rebuild. */
export const format = 3

/** Lists the tables of `meta`; no rows in a new file. */
export const metaTablesSql =
  "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'meta'"

/** Valid only if `meta.schema_version` exists. */
const formatSql = "SELECT format FROM meta.schema_version"

/** The name of the file among the databases of its connection, in which names are resolved. */
export const catalogName = "warehouse"

/** Which tables of `meta` a file has that has the format of this version; to list them takes longer than to open it. */
export const metaTablesAtOpening = new WeakMap<Warehouse["Service"], "all" | "published">()
/** Warehouses that no process writes to: it could not be opened to read otherwise. */
export const ownerless = new WeakSet<Warehouse["Service"]>()

/**
 * Rows that fill a row group within one transaction are written to the file directly, and compressed once. With
 * DuckDB's default of 122,880 rows they would go to the log, and be compressed again at every checkpoint until their
 * group is full. A batch of 25,000 rows fills three groups and starts a fourth. Checkpoints do not rewrite these, which
 * they would if the rows of all four fitted into three.
 */
const storage = "ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.5.0'"

/**
 * Each column that a transaction writes to takes at least one block of memory until the next checkpoint, and one block
 * of the file permanently: with DuckDB's default of 256 kB, a contact and its child rows take 80 MB. A smaller block costs
 * time, because DuckDB makes a table of symbols for the texts of each: with 32 kB, a rebuild of contacts takes 13 % more. A
 * file keeps the block size with which it was created; rebuild creates a new one.
 */
export const newStorage = `${storage}, BLOCK_SIZE 65536`
const attachOptions = (path: string): string => (existsSync(path) ? storage : newStorage)

/** Copies the file to a path at which there is none: another process finds all of it or nothing. On failure there stays none. */
const copyWhole = async (from: string, path: string): Promise<void> => {
  const copy = `${path}.copy-${randomBytes(6).toString("hex")}`
  try {
    await copyFile(from, copy)
    await link(copy, path)
  } catch {
    // The tables are then created one by one.
  } finally {
    await rm(copy, { force: true })
  }
}

/** A user may read a file in a folder of somebody else. */
const temporaryFor = (path: string): string => {
  try {
    if (existsSync(path)) accessSync(dirname(path), constants.W_OK)
    return `${path}.tmp`
  } catch {
    return join(tmpdir(), `sluice-${process.pid}.tmp`)
  }
}

const settingsOf = (path: string, memoryMb: number, limitMb: number) => ({
  memory_limit: `${limitMb}MB`,
  temp_directory: temporaryFor(path),
  // A merge is faster with one thread, because the load needs the second core to prepare the next batch.
  threads: "1",
  // DuckDB would download extensions during a run.
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  // checkpointIfAbove runs checkpoints instead, after a transaction, when its memory is free.
  checkpoint_threshold: "1GB",
  preserve_insertion_order: "false",
  // Returns freed memory to the system, which lowers the peak by a fifth at no cost. If memory is short, DuckDB returns
  // it at once, which lowers the peak by a third and costs a tenth of the speed.
  allocator_flush_threshold: memoryMb < 128 ? "0MB" : "16MB",
  allocator_bulk_deallocation_flush_threshold: memoryMb < 128 ? "0MB" : "16MB"
})

const scalarFunction = (name: string, parameters: number, of: TextFunction) =>
  DuckDBScalarFunction.create({
    name,
    parameterTypes: Array.from({ length: parameters }, () => VARCHAR),
    returnType: VARCHAR,
    mainFunction: (_, rows, results) => {
      const columns = Array.from({ length: parameters }, (_, index) => rows.getColumnVector(index))
      for (let row = 0; row < rows.rowCount; row++)
        results.setItem(row, of(columns.map((column) => column.getItem(row) as string | null))) // Every column is VARCHAR.
      results.flush()
    }
  })

/** One statement needs no transaction, and none at all needs nothing: its functions return none if there is no work. */
const executeTogether = async (connection: DuckDBConnection, statements: ReadonlyArray<Statement>): Promise<void> => {
  const waiting = ["BEGIN"]
  await execute(connection, statements, waiting)
  const [first, only, ...others] = waiting
  const isOne = first === "BEGIN" && others.length === 0 && !only?.includes(";\n")
  const last = isOne ? waiting.slice(1) : [...waiting, "COMMIT"]
  if (last.length > 0) await connection.run(last.join(";\n"))
}

/** Leaves in `waiting` the statements on which no other depends yet: each call of DuckDB takes time. */
const execute = async (connection: DuckDBConnection, statements: ReadonlyArray<Statement>, waiting: Array<string>) => {
  const read = (sql: string) => connection.runAndReadAll([...waiting.splice(0), sql].join(";\n"))
  for (const statement of statements) {
    if (typeof statement === "string") waiting.push(statement)
    else if (typeof statement === "function") await execute(connection, statement(), waiting)
    else if ("sql" in statement) {
      const [count] = (await read(statement.sql)).getRows()
      await execute(connection, statement.next(Number(count![0])), waiting)
    } else {
      const rows = await read(`SELECT 1 FROM ${statement.ifAny} LIMIT 1`)
      if (rows.currentRowCount > 0) await execute(connection, statement.run, waiting)
    }
  }
}

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
