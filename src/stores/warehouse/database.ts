/** The file of a warehouse as DuckDB has it open: its connections, and the memory that it may take. */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { copyFile, link, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { closeToOthers } from "../../output/files.ts"
import { makeOutputFolder } from "../../output/folder.ts"
import { holding } from "../../output/held-files.ts"
import { announced, holderIn, lockedBy, openWhenUnlocked } from "../../output/lock.ts"
import { outputPaths, warehouseName } from "../../output/paths.ts"
import { Failure, failure } from "../../values/failure.ts"
import { openFailure, statementFailure } from "./duckdb-failures.ts"
import { acceptsUnsigned } from "./extensions.ts"
import { literal } from "./sql.ts"
import { nodeCrypto } from "../../values/node.ts"

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

export interface Database {
  readonly connection: DuckDBConnection
  /** A further connection, for the time of a scope. */
  readonly connect: Effect.Effect<DuckDBConnection, Failure, Scope.Scope>
  /** The statements with which a connection begins. */
  readonly begin: string
  readonly isUnsigned: boolean
  readonly attempt: <A>(run: () => Promise<A>) => Effect.Effect<A, Failure>
  /** Waits for what else runs on the connection. */
  readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Repeats with more memory what failed for want of it; for what changes nothing if it fails, such as a transaction. */
  readonly withMemory: <A>(work: Effect.Effect<A, Failure>, what?: "reads" | "transaction") => Effect.Effect<A, Failure>
  /** Gives DuckDB the memory that a file of the present size needs. */
  readonly followSize: Effect.Effect<void, Failure>
}

export const openDatabase = Effect.fnUntraced(function* (
  path: string,
  options: WarehouseOptions
): Effect.fn.Return<Database, Failure, Scope.Scope> {
  const { access, isRelease, memoryMb } = options
  if (existsSync(outputPaths(dirname(path)).backupIncomplete))
    return yield* failure({ _tag: "BackupIncomplete", folder: dirname(path) })
  if (access === "read" && !existsSync(path)) return yield* failure({ _tag: "WarehouseNotFound", path })
  yield* holding(path)
  let limitMb = limitFor(path, memoryMb)
  const attempt: Database["attempt"] = (run) =>
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
  yield* attachFile(connection, path, catalog, options)
  if (access === "write" && basename(path) === warehouseName) yield* announced(path)
  const begin = `USE ${catalog}; SET TimeZone = 'UTC'`
  yield* Effect.uninterruptible(attempt(() => connection.run(begin)))
  const alone = (yield* Semaphore.make(1)).withPermits(1)
  /** Whether DuckDB has more memory from now on. */
  const getMemory = Effect.gen(function* () {
    const moreMb = 2 * limitMb
    if (moreMb > memoryMb * memoryTimesMax || process.availableMemory() < 2 * moreMb * 1024 * 1024) return false
    yield* attempt(() => connection.run(`SET memory_limit = '${moreMb}MB'`))
    limitMb = moreMb
    yield* Effect.annotateLogs(Effect.logInfo("DuckDB gets more memory than machine.memory_mb"), { memory_mb: moreMb })
    return true
  }).pipe(alone)
  /**
   * After a rollback for want of memory, DuckDB keeps what the transaction has deleted as deleted, and the next one that
   * deletes it fails with a conflict. Opened again, the file is as the last commit left it. Nobody waits here for a lock that
   * another process takes meanwhile: what the caller knows of the rows would be wrong after that.
   */
  const reopen = attempt(() =>
    connection.run(
      `PRAGMA disable_checkpoint_on_shutdown; USE memory; DETACH ${catalog}; ATTACH ${literal(path)} AS ${catalog} (${attachOptions(path)});
       PRAGMA enable_checkpoint_on_shutdown; ${begin}`
    )
  ).pipe(Effect.uninterruptible, alone)
  const withMemory: Database["withMemory"] = (work, what = "reads") =>
    Effect.catchIf(
      work,
      // After a commit that failed, it is not known whether it was written.
      ({ message, reason }) => reason._tag === "OutOfMemory" && !message.includes("Failed to commit"),
      (failed) =>
        Effect.gen(function* () {
          if (!(yield* getMemory)) return yield* failed
          if (what === "transaction") yield* Effect.mapError(reopen, () => failed)
          return yield* withMemory(work, what)
        })
    )
  const followSize = Effect.suspend(() => {
    const nowMb = limitFor(path, memoryMb)
    if (nowMb < limitMb + leastMoreMb) return Effect.void
    limitMb = nowMb
    return attempt(() => connection.run(`SET memory_limit = '${nowMb}MB'`)).pipe(Effect.asVoid, alone)
  })
  return { connection, connect, begin, isUnsigned, attempt, alone, withMemory, followSize }
})

/** Attaches the file. A command that only reads fails at once if it is locked, and others wait. */
const attachFile = (
  connection: DuckDBConnection,
  path: string,
  catalog: string,
  { access, template }: WarehouseOptions
): Effect.Effect<void, Failure> => {
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
  return (
    access === "write"
      ? openWhenUnlocked(path, attach, holderOf)
      : Effect.catchIf(
          attach,
          (cause) => holderOf(cause) !== undefined,
          (cause) => lockedBy(path, holderOf(cause)!)
        )
  ).pipe(Effect.mapError((cause) => (cause instanceof Failure ? cause : openFailure(path, cause))))
}

/** The name of the file among the databases of its connection, in which names are resolved. */
export const catalogName = "warehouse"

/**
 * What changes a large warehouse needs more memory: at 128 MB, the third night of 200,000 contacts, 300 MB, could not commit.
 * The size of the file is added, up to four times the setting, if the machine has it. A checkpoint of a file of 2.7 GB takes
 * 880 MB, however little has changed, and one that fails leaves the file unusable until it is opened again: so half of the
 * size, up to eight times the setting.
 */
const limitFor = (path: string, memoryMb: number): number => {
  const fileMb = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1024 / 1024
  const usual = Math.min(4 * memoryMb, memoryMb + fileMb)
  const forCheckpoint = Math.max(usual, Math.min(fileMb / 2, memoryTimesMax * memoryMb))
  const fits = (mb: number) => process.availableMemory() >= 4 * mb * 1024 * 1024
  return Math.round([forCheckpoint, usual].find(fits) ?? memoryMb)
}

/** A limit that is set anew for less would be set all the time. */
const leastMoreMb = 16

/**
 * `machine.memory_mb` is enough for most statements. One that needs more gets it, up to so many times as much, if the machine
 * has it: a run that fails for want of memory helps nobody.
 */
const memoryTimesMax = 8

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
  const copy = `${path}.copy-${nodeCrypto().randomBytes(6).toString("hex")}`
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
    // A name that nobody else can make first.
    return join(tmpdir(), `sluice-${nodeCrypto().randomUUID()}.tmp`)
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
