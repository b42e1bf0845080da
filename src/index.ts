/**
 * sluice as a library: what the commands do, for programs of your own. Each function returns what the command prints with
 * `--json`, and rejects with a `SluiceError` if nothing was done. `sluice/effect` has the same functions for Effect.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as library from "./library/effect.ts"

export { SluiceError } from "./library/run.ts"
export type {
  CommandResult,
  ExportOptions,
  Options,
  PublishOptions,
  ReportOptions,
  Result,
  Row,
  Selection,
  SyncOptions,
  VerifyOptions,
  WarehouseOptions
} from "./library/effect.ts"

/** Aborting it stops the work like Ctrl-C: progress is saved, and the promise rejects with the reason of the signal. */
interface Stoppable {
  readonly signal?: AbortSignal
}

/** Reads the account and publishes the tables, as `sluice sync` does. */
export const sync = ({ signal, ...options }: library.SyncOptions & Stoppable = {}): Promise<library.Result<"sync">> =>
  promised(library.sync(options), signal)

/** Estimates the requests and the time of a sync. */
export const plan = ({ signal, ...options }: library.Options & library.Selection & Stoppable = {}): Promise<
  library.Result<"plan">
> => promised(library.plan(options), signal)

/** The state of the last runs, of every table. Sends no requests. */
export const status = ({ signal, ...options }: library.Options & Stoppable = {}): Promise<library.Result<"status">> =>
  promised(library.status(options), signal)

/** Publishes what has changed in the warehouse. Sends no requests to the service. */
export const publish = ({ signal, ...options }: library.PublishOptions & Stoppable = {}): Promise<
  library.CommandResult<"publish">
> => promised(library.publish(options), signal)

/** The alarms, which `exitCode` 4 announces. */
export const check = ({ signal, ...options }: library.Options & Stoppable = {}): Promise<
  library.CommandResult<"check">
> => promised(library.check(options), signal)

/** Writes the page about the account. */
export const report = ({ signal, ...options }: library.ReportOptions & Stoppable = {}): Promise<
  library.CommandResult<"report">
> => promised(library.report(options), signal)

/** Writes a workbook, or a bundle for an auditor. */
export const exportTables = ({
  signal,
  ...options
}: library.ExportOptions & Stoppable): Promise<library.CommandResult<"export-excel" | "export-bundle">> =>
  promised(library.exportTables(options), signal)

/** Whether the vault, the tables and the files are complete and agree. */
export const verify = ({ signal, ...options }: library.VerifyOptions & Stoppable = {}): Promise<
  library.CommandResult<"verify">
> => promised(library.verify(options), signal)

export interface Warehouse extends AsyncDisposable {
  /** The rows of one SELECT, with the values as DuckDB prints them in JSON. */
  readonly query: (sql: string) => Promise<ReadonlyArray<library.Row>>
  readonly close: () => Promise<void>
}

/** Opens the tables of an output folder to read them: `crm`, `crm_history` and `meta`. Rejects while a run writes them. */
export const openWarehouse = async (options: library.WarehouseOptions): Promise<Warehouse> => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const { query } = await promised(Effect.provideService(library.openWarehouse(options), Scope.Scope, scope))
    return { query: (sql) => promised(query(sql)), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Rejects with the error itself, not with a cause that contains it. */
const promised = async <A>(work: Effect.Effect<A, library.SluiceError>, signal?: AbortSignal): Promise<A> => {
  const exit = await Effect.runPromiseExit(work, signal && { signal })
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}
