/**
 * The warehouse: one DuckDB file with the current rows (`crm`), their earlier versions (`crm_history`) and all state
 * (`meta`). One process writes it; DuckDB's own file lock is the lock between runs, and ends with its process.
 */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { existsSync, statSync } from "node:fs"
import { chmod } from "node:fs/promises"
import { dirname } from "node:path"
import { openFailure, statementFailure } from "./duckdb-failures.ts"
import { format, formatSql, metaTablesSql } from "./format.ts"
import { Failure, failure } from "../failure.ts"
import { makeOutputFolder } from "../io/folder.ts"
import { holderIn, lockedBy, openedInTurn } from "./lock.ts"
import { literal } from "./sql.ts"

export type Row = Readonly<Record<string, string | number | boolean | null>>

/** SQL, or what is to be done where a table is not empty: planning what finds nothing costs most of a small batch. */
export type Statement = string | { readonly ifAny: string; readonly run: ReadonlyArray<Statement> }

export class Warehouse extends Context.Service<
  Warehouse,
  {
    /** What DuckDB may hold; its own bound, not the process's. */
    readonly memoryMb: number
    /** All statements or none. */
    readonly transaction: (statements: ReadonlyArray<Statement>) => Effect.Effect<void, Failure>
    /** Brings to the file what waits for it, where that fills this share of what DuckDB may hold, or the log is long. */
    readonly checkpointIfAbove: (share: number) => Effect.Effect<void, Failure>
    /** Statements outside a transaction, for what cannot run in one. */
    readonly run: (sql: string) => Effect.Effect<void, Failure>
    /** Small results only. BIGINT, DECIMAL and instants arrive as text. */
    readonly rows: (sql: string) => Effect.Effect<ReadonlyArray<Row>, Failure>
    /** Any number of rows of text, a few thousand in memory at a time; every column must be VARCHAR. */
    readonly stream: (sql: string) => Stream.Stream<ReadonlyArray<string | null>, Failure>
  }
>()("sluice/warehouse/Warehouse") {
  static readonly layer = (path: string, options: WarehouseOptions) =>
    Layer.effect(Warehouse, openWarehouse(path, options))
}

export interface WarehouseOptions {
  readonly access: "write" | "read"
  /** Also open files that earlier versions wrote, to replace them. */
  readonly anyFormat?: true
  readonly memoryMb: number
}

const openWarehouse = Effect.fn("warehouse.open")(function* (
  path: string,
  { access, memoryMb, anyFormat }: WarehouseOptions
): Effect.fn.Return<Warehouse["Service"], Failure, Scope.Scope> {
  if (access === "read" && !existsSync(path)) return yield* failure({ _tag: "WarehouseNotFound", path })
  const instance = yield* Effect.acquireRelease(
    Effect.promise(() => DuckDBInstance.create(":memory:", settingsOf(path, memoryMb))),
    (opened) => Effect.sync(() => opened.closeSync())
  )
  const connect = Effect.acquireRelease(
    Effect.promise(() => instance.connect()),
    (opened) => Effect.sync(() => opened.closeSync())
  )
  const connection = yield* connect
  const attach = Effect.tryPromise({
    try: async () => {
      await makeOutputFolder(dirname(path))
      await connection.run(
        `ATTACH ${literal(path)} AS warehouse (${access === "read" ? "READ_ONLY" : settingsOfFile(path)})`
      )
      if (access === "write") await chmod(path, 0o600)
    },
    catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause)))
    // Closed while it is being opened, DuckDB never returns.
  }).pipe(Effect.uninterruptible)
  const holderOf = ({ message }: Error) => holderIn(message)
  // Who only looks need not wait for a run.
  yield* (
    access === "write"
      ? openedInTurn(path, attach, holderOf)
      : Effect.catchIf(
          attach,
          (cause) => holderOf(cause) !== undefined,
          (cause) => lockedBy(path, holderOf(cause)!)
        )
  ).pipe(Effect.mapError((cause) => (cause instanceof Failure ? cause : openFailure(path, cause))))
  const one = yield* Semaphore.make(1)
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => statementFailure(path, memoryMb, cause) })

  yield* Effect.uninterruptible(attempt(() => connection.run(begin)))
  const query = (sql: string) =>
    Effect.uninterruptible(attempt(async () => (await connection.runAndReadAll(sql)).getRows()))
  const tables = (yield* query(metaTablesSql)).map(([table]) => table)
  // Made by a command that was stopped before it filled it.
  if (access === "read" && !tables.includes("runs")) return yield* failure({ _tag: "WarehouseNotFound", path })
  if (!anyFormat && tables.includes("runs")) {
    const [row] = tables.includes("schema_version") ? yield* query(formatSql) : [[1]]
    if (row && Number(row[0]) !== format)
      return yield* failure({ _tag: "WarehouseFormat", path, found: Number(row[0]), format })
  }
  return Warehouse.of({
    memoryMb,
    // After a failed statement the transaction stays open and later ones would join it, hence the rollback.
    transaction: (statements) =>
      attempt(() => execute(connection, ["BEGIN", ...statements, "COMMIT"])).pipe(
        Effect.onError(() =>
          Effect.promise(() =>
            connection.run("ROLLBACK").then(
              () => {},
              () => {}
            )
          )
        ),
        Effect.uninterruptible,
        one.withPermits(1)
      ),
    checkpointIfAbove: (share) =>
      attempt(async () => {
        const [row] = (await connection.runAndReadAll(unwrittenMb)).getRowsJson()
        const logged = statSync(`${path}.wal`, { throwIfNoEntry: false })?.size ?? 0
        if (Number(row?.[0]) > memoryMb * share || logged > logBytesMax) await connection.run("CHECKPOINT")
      }).pipe(Effect.uninterruptible, one.withPermits(1)),
    run: (sql) => attempt(() => connection.run(sql)).pipe(Effect.asVoid, Effect.uninterruptible, one.withPermits(1)),
    rows: (sql) =>
      attempt(async () => (await connection.runAndReadAll(sql)).getRowObjectsJson() as Array<Row>).pipe(
        Effect.uninterruptible,
        one.withPermits(1)
      ),
    // On a connection of its own: sees one moment, and a slow reader holds up no other statement.
    stream: (sql) =>
      connect.pipe(
        Effect.flatMap((own) => attempt(() => own.run(begin).then(() => own.stream(sql)))),
        Effect.uninterruptible,
        Effect.map((result) =>
          Stream.paginate(undefined, () =>
            attempt(() => result.fetchChunk()).pipe(
              Effect.map((chunk) => {
                const rows = (chunk?.getRows() ?? []) as Array<Array<string | null>> // VARCHAR only, as agreed.
                return [rows, rows.length > 0 ? Option.some(undefined) : Option.none()] as const
              }),
              Effect.uninterruptible
            )
          )
        ),
        Stream.unwrap
      )
  })
})

/**
 * Rows that fill whole row groups in a transaction go to the file as they come, packed once. With DuckDB's own 122,880 rows
 * the same ones are logged, and packed again at every checkpoint until theirs is full. A batch of 25,000 fills three and
 * begins one, and checkpoints leave it at that: they would pack four anew that fit into three.
 */
export const storage = "ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.5.0'"

/**
 * Each column that a transaction writes to takes a block of memory until the next checkpoint, however few its rows, and one
 * of the file for good. With DuckDB's own 256 kB, a contact and its child rows take 80 MB. A file keeps what it was made
 * with; rebuild makes a new one.
 */
const blockBytes = 32_768
const settingsOfFile = (path: string): string => (existsSync(path) ? storage : `${storage}, BLOCK_SIZE ${blockBytes}`)

const begin = "USE warehouse; SET TimeZone = 'UTC'"

const settingsOf = (path: string, memoryMb: number) => ({
  memory_limit: `${memoryMb}MB`,
  temp_directory: `${path}.tmp`,
  // One: a merge is faster without a second, which the load needs for the batch after it.
  threads: "1",
  // Extensions would be fetched from elsewhere in the middle of a run.
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  // Ours come when a transaction is over and its memory is free: see checkpointIfAbove.
  checkpoint_threshold: "1GB",
  preserve_insertion_order: "false",
  // What DuckDB freed goes back to the system, not to a heap that only grows: a fifth off the peak for nothing. At once,
  // where memory is short: a third off, for a tenth of the speed.
  allocator_flush_threshold: memoryMb < 128 ? "0MB" : "16MB",
  allocator_bulk_deallocation_flush_threshold: memoryMb < 128 ? "0MB" : "16MB"
})

const execute = async (connection: DuckDBConnection, statements: ReadonlyArray<Statement>): Promise<void> => {
  let plain: Array<string> = []
  const run = async () => {
    if (plain.length > 0) await connection.run(plain.join(";\n"))
    plain = []
  }
  for (const statement of statements) {
    if (typeof statement === "string") {
      plain.push(statement)
      continue
    }
    await run()
    const any = await connection.runAndReadAll(`SELECT 1 FROM ${statement.ifAny} LIMIT 1`)
    if (any.currentRowCount > 0) await execute(connection, statement.run)
  }
  await run()
}

/** The log is read again after a crash. */
const logBytesMax = 128 * 1024 * 1024

/**
 * Rows of many small tables, and their long texts apart from them, take memory that DuckDB cannot give back before they
 * are in the file. Reading lines of JSON takes 32 MB beside them.
 */
const unwrittenMb =
  "SELECT sum(memory_usage_bytes) / 1e6 FROM duckdb_memory() WHERE tag IN ('IN_MEMORY_TABLE', 'OVERFLOW_STRINGS')"
