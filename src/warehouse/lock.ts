/**
 * The lock on the warehouse file, and the process that holds it. A run of sluice holds it until its end, so opening
 * fails at once, unless the command has a limit for this wait. Any other program reads the file for a while, so opening
 * always waits for it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { type Failure, failure } from "../failure.ts"

export interface Holder {
  /** As DuckDB reports it. */
  readonly pid: number | undefined
  /** Name of the program, if DuckDB or the system reports it. */
  readonly program: string | undefined
  /** Whether it is a sluice command that writes. */
  readonly isRun: boolean
}

/** How many milliseconds to wait for another run: the flag `--wait`. */
export class RunWait extends Context.Reference<number>("sluice/warehouse/RunWait", { defaultValue: () => 0 }) {}

const otherProgramWaitMs = 30_000
const reportAfterMs = 2000
const pollIntervalMs = 250

/**
 * Opens a file that another process may have locked. `holderOf` returns that process, or `undefined` for any other
 * failure to open the file. Fails with `WarehouseLocked` after `RunWait` if it is a run of sluice, and after at least 30 s
 * if it is another program.
 */
export const openWhenUnlocked = Effect.fn("warehouse.openWhenUnlocked")(function* <A, E>(
  path: string,
  open: Effect.Effect<A, E>,
  holderOf: (failure: E) => Holder | undefined
): Effect.fn.Return<A, E | Failure> {
  const begunAt = yield* Clock.currentTimeMillis
  const runWaitMs = yield* RunWait
  let isReported = false
  for (;;) {
    const opened = yield* Effect.result(open)
    if (opened._tag === "Success") return opened.success
    const holder = holderOf(opened.failure)
    if (holder === undefined) return yield* Effect.fail(opened.failure)
    const waitedMs = (yield* Clock.currentTimeMillis) - begunAt
    const limitMs = holder.isRun ? runWaitMs : Math.max(otherProgramWaitMs, runWaitMs)
    if (waitedMs >= limitMs) return yield* lockedBy(path, holder)
    if (!isReported && (holder.isRun || waitedMs >= reportAfterMs)) {
      isReported = true
      yield* Effect.logWarning(`Waiting for ${describe(holder)}, which has ${basename(path)} open.`)
    }
    yield* Effect.sleep(Math.min(pollIntervalMs, limitMs - waitedMs))
  }
})

export const lockedBy = (path: string, { isRun, pid, program }: Holder): Failure =>
  failure({ _tag: "WarehouseLocked", path, isRun, pid, program })

const processText = ({ pid }: Holder) => (pid === undefined ? "" : ` (process ${pid})`)
const describe = (holder: Holder) => `${holder.program ?? "another program"}${processText(holder)}`

/** The process that DuckDB names in the message of a lock conflict; `undefined` for any other message. */
export const holderIn = (message: string): Holder | undefined => {
  const conflict = /Conflicting lock is held in (\S+).*?\(PID (\d+)\)/s.exec(message)
  if (!conflict)
    return message.includes("Could not set lock") ? { pid: undefined, program: undefined, isRun: false } : undefined
  const pid = Number(conflict[2])
  const commandLine = commandOf(pid)
  const mainIndex = commandLine.findIndex((argument) => /(^|\/)src\/main\.ts$/.test(argument))
  return {
    pid,
    program:
      mainIndex < 0 ? basename(commandLine[0] ?? conflict[1]!) : `sluice ${commandLine[mainIndex + 1] ?? ""}`.trim(),
    isRun: mainIndex >= 0 && commandLine.slice(mainIndex + 1).some((argument) => writingCommands.has(argument))
  }
}

const writingCommands: ReadonlySet<string> = new Set(["sync", "backfill", "rebuild", "publish", "demo"])

/** The command line of a process. Empty if the system does not report it; only Linux does. */
const commandOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean)
  } catch {
    return []
  }
}
