/** sluice as a library for programs that use Effect: `import { sync } from "sluice/effect"`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { explanationOf } from "../console/errors.ts"
import { exitCodes } from "../values/failure.ts"
import { outputPaths } from "../output/paths.ts"
import { type Row, Warehouse } from "../stores/warehouse/warehouse.ts"
import { literal } from "../stores/warehouse/sql.ts"
import { load } from "../command/load.ts"
import { withRunFlags } from "../command/run-flags.ts"
import type { Again } from "../command/selection.ts"
import { logSynced } from "../run/sync-result.ts"
import { type Options, type Result, SluiceError, call, refuseUnknown } from "./run.ts"

export { SluiceError }
export type { Options, Result, Row }
export { check, exportTables, publish, report, verify } from "./commands.ts"
export type { CommandResult, ExportOptions, PublishOptions, ReportOptions, VerifyOptions } from "./commands.ts"

/** Tables or families to read, and those to leave out. */
export interface Selection {
  readonly only?: ReadonlyArray<string>
  readonly except?: ReadonlyArray<string>
}

export interface SyncOptions extends Options, Selection {
  /** What is read again: all lists, or each single record as well. Default: what changed. */
  readonly again?: Again
  /** @deprecated Until 2.0.0: `again: "lists"`. */
  readonly full?: boolean
  /** Stop in time and continue in the next sync: `5h`, or `06:00`. */
  readonly deadline?: string
}

const selected = ["only", "except"]

/** Reads the account and publishes the tables, as `sluice sync` does. */
export const sync = (options: SyncOptions = {}): Effect.Effect<Result<"sync">, SluiceError> =>
  call("sync", { given: options, own: [...selected, "again", "full", "deadline"] }, () => {
    const { deadline, full, again = full ? "lists" : undefined } = options
    const work = load(import("../run/sync.ts"), (_) => _.syncOnce({ ...flagsOf(options), deadline, again }))
    return withRunFlags("sync", {}, Effect.tap(work, logSynced))
  })

/** Estimates the requests and the time of a sync. */
export const plan = (options: Options & Selection = {}): Effect.Effect<Result<"plan">, SluiceError> =>
  call("plan", { given: options, own: selected }, () =>
    load(import("../run/plan.ts"), (_) => _.planOnce(flagsOf(options)))
  )

/** The state of the last runs, of every table. Sends no requests. */
export const status = (options: Options = {}): Effect.Effect<Result<"status">, SluiceError> =>
  call("status", { given: options, own: [] }, () =>
    load(import("../run/status.ts"), (_) => _.statusOnce(flagsOf(options)))
  )

/** What the flags of a command say. */
const flagsOf = ({ config, except, only, output }: Options & Selection) => ({
  config,
  output,
  only: only?.join(","),
  except: except?.join(",")
})

export interface OpenWarehouse {
  /** The rows of one SELECT, with the values as DuckDB prints them in JSON. */
  readonly query: (sql: string) => Effect.Effect<ReadonlyArray<Row>, SluiceError>
}

export interface WarehouseOptions {
  /** Output folder. */
  readonly output: string
  /** Memory of DuckDB. Default: 128. */
  readonly memoryMb?: number
}

/** Opens the tables of an output folder to read them: `crm`, `crm_history` and `meta`. Fails while a run writes them. */
export const openWarehouse = (options: WarehouseOptions): Effect.Effect<OpenWarehouse, SluiceError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* refuseUnknown("openWarehouse", options, ["memoryMb"])
    const { memoryMb = 128, output } = options
    const { warehouse: path } = outputPaths(output)
    const built = yield* Layer.build(Warehouse.layer(path, { access: "read", memoryMb }))
    const { rows } = Context.get(built, Warehouse)
    const query = Effect.fnUntraced(function* (sql: string) {
      const [parsed] = yield* Effect.mapError(
        rows(`SELECT json_serialize_sql(${literal(sql)})::VARCHAR AS text`),
        explained
      )
      const text = String(parsed?.["text"])
      const { error, error_type: kind, statements } = JSON.parse(text)
      // Whatever DuckDB cannot parse, it explains itself. Nothing else than one SELECT can be written as JSON.
      const isOne = error ? kind === "parser" : statements.length === 1 && !writes.test(text)
      if (!isOne) return yield* Effect.fail(onlyReads)
      return yield* Effect.mapError(rows(sql), explained)
    })
    return { query }
  }).pipe(Effect.mapError(explained))

/** Functions that change DuckDB or write a file. */
const writes = /"function_name":"(enable_logging|write_log|nextval|setseed)"/i

const onlyReads = new SluiceError({
  exitCode: exitCodes.usage,
  code: "usage",
  message: "query only reads: it takes one SELECT, and nothing that writes a table or a file."
})

const explained = (cause: unknown): SluiceError => {
  const { ends, message, next } = explanationOf(cause) ?? {
    ends: "failed" as const,
    message: String(cause),
    next: undefined
  }
  return new SluiceError({ exitCode: exitCodes[ends], code: ends, message, ...(next !== undefined && { next }) })
}
