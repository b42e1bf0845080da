/**
 * The lock on the warehouse file, and the process that holds it. A run of sluice holds it until its end, so opening
 * fails at once, unless the command has a limit for this wait. Any other program reads the file for a while, so opening
 * always waits for it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { type Failure, failure } from "../values/failure.ts"
import { writeAtomically } from "./files.ts"
import { outputPaths } from "./paths.ts"

export interface Holder {
  /** As DuckDB reports it. */
  readonly pid: number | undefined
  /** What a run calls itself; of another program, the name of its file, if DuckDB reports it. */
  readonly program: string | undefined
  /** Whether it is a sluice command that writes: any, from a clone or from an installed package. */
  readonly isRun: boolean
}

/** How many milliseconds to wait for another run: the flag `--wait`. */
export class RunWait extends Context.Reference<number>("sluice/warehouse/RunWait", { defaultValue: () => 0 }) {}

/** What this process calls itself while it writes: `sluice sync`. */
export class CommandName extends Context.Reference<string>("sluice/warehouse/CommandName", {
  defaultValue: () => "sluice"
}) {}

const Announced = Schema.Struct({
  command: Schema.String,
  pid: Schema.Number,
  /** ISO 8601. */
  since: Schema.String,
  /** When the system started the process, because a process id is used again; only Linux says it. */
  started: Schema.optionalKey(Schema.String)
})

/**
 * Says in `holder.json` which command has the warehouse open to write, until the scope ends. A killed process leaves the file,
 * so it counts only for the process that DuckDB names. A file that cannot be written stops nothing.
 */
export const announced = Effect.fnUntraced(function* (warehouse: string) {
  const path = outputPaths(dirname(warehouse)).holder
  const started = processStart(process.pid)
  const holder: typeof Announced.Type = {
    command: yield* CommandName,
    pid: process.pid,
    since: new Date(yield* Clock.currentTimeMillis).toISOString(),
    ...(started !== undefined && { started })
  }
  yield* Effect.acquireRelease(
    Effect.ignore(Effect.tryPromise(() => writeAtomically(path, JSON.stringify(holder)))),
    () => Effect.ignore(Effect.tryPromise(() => rm(path, { force: true })))
  )
})

const otherProgramWaitMs = 30_000
const reportAfterMs = 2000
const pollIntervalMs = 250

/**
 * Opens a file that another process may have locked. `holderOf` returns that process, or `undefined` for any other
 * failure to open the file. Fails with `WarehouseLocked` after `RunWait` if it is a run of sluice, and after at least 30 s
 * if it is another program.
 */
export const openWhenUnlocked = Effect.fn("output.openWhenUnlocked")(function* <A, E>(
  path: string,
  open: Effect.Effect<A, E>,
  holderOf: (failure: E) => Holder | undefined
) {
  const runWaitMs = yield* RunWait
  const limitMs = ({ isRun }: Holder) => (isRun ? runWaitMs : Math.max(otherProgramWaitMs, runWaitMs))
  let isReported = false
  return yield* open.pipe(
    Effect.mapError((cause) => ({ cause, holder: holderOf(cause) })),
    Effect.retry(($) =>
      $(Schedule.spaced(pollIntervalMs)).pipe(
        Schedule.while(({ elapsed, input: { holder } }) => holder !== undefined && elapsed < limitMs(holder)),
        Schedule.tap(({ elapsed, input: { holder } }) => {
          if (isReported || holder === undefined || !(holder.isRun || elapsed >= reportAfterMs)) return Effect.void
          isReported = true
          return Effect.logWarning(`Waiting for ${describe(holder)}, which has ${basename(path)} open.`)
        })
      )
    ),
    Effect.mapError(({ cause, holder }) => (holder === undefined ? cause : lockedBy(path, holder)))
  )
})

export const lockedBy = (path: string, { isRun, pid, program }: Holder): Failure =>
  failure({ _tag: "WarehouseLocked", path, isRun, pid, program })

const processText = ({ pid }: Holder) => (pid === undefined ? "" : ` (process ${pid})`)
const describe = (holder: Holder) => `${holder.program ?? "another program"}${processText(holder)}`

/** The process that DuckDB names in the message of a lock conflict on a file; `undefined` for any other message. */
export const holderIn = (message: string, path: string): Holder | undefined => {
  const conflict = /Conflicting lock is held in (?:(.+?) \()?PID (\d+)/s.exec(message)
  if (!conflict)
    return message.includes("Could not set lock") ? { pid: undefined, program: undefined, isRun: false } : undefined
  const pid = Number(conflict[2])
  const writer = announcedIn(dirname(path))
  if (writer?.pid === pid && writer.started === processStart(pid)) return { pid, program: writer.command, isRun: true }
  return { pid, program: conflict[1] && basename(conflict[1]), isRun: false }
}

const announcedIn = (folder: string): typeof Announced.Type | undefined => {
  try {
    const text = readFileSync(outputPaths(folder).holder, "utf8")
    return Option.getOrUndefined(Schema.decodeUnknownOption(Schema.fromJsonString(Announced))(text))
  } catch {
    return undefined
  }
}

/**
 * When a process started. A later process may have the same id, as all runs of a container do, but not the same time.
 * It is the twenty-second field of /proc/PID/stat; the second one, the name of the program, may contain spaces.
 */
export const processStart = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19]
  } catch {
    return undefined
  }
}

/** Whether the process with this id runs, and has not ended and left its id to another one. */
export const isRunning = (pid: number, started: string | undefined): boolean => {
  // Numbers below 1 mean groups of processes.
  if (pid < 1) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return processStart(pid) === started
}
