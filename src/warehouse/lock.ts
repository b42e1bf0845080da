/**
 * Who else has the warehouse open. A run of ours holds it until it has done its work; everybody else reads it for a
 * while, and is waited for.
 */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { type Failure, failure } from "../failure.ts"

export interface Holder {
  /** As DuckDB tells it. */
  readonly pid: number | undefined
  /** Name of the program, where the system tells it. */
  readonly program: string | undefined
  /** A command of ours that writes. */
  readonly isRun: boolean
}

const waitMs = 30_000
const reportAfterMs = 2000
const pollIntervalMs = 250

/** Opens a file that others may have open: `holderOf` tells who, of a failure that is no other trouble. */
export const openedInTurn = Effect.fn("warehouse.openedInTurn")(function* <A, E>(
  path: string,
  open: Effect.Effect<A, E>,
  holderOf: (failure: E) => Holder | undefined
): Effect.fn.Return<A, E | Failure> {
  const begunAt = yield* Clock.currentTimeMillis
  let isReported = false
  for (;;) {
    const opened = yield* Effect.result(open)
    if (opened._tag === "Success") return opened.success
    const holder = holderOf(opened.failure)
    if (holder === undefined) return yield* Effect.fail(opened.failure)
    const waitedMs = (yield* Clock.currentTimeMillis) - begunAt
    if (holder.isRun || waitedMs >= waitMs) return yield* lockedBy(path, holder)
    if (!isReported && waitedMs >= reportAfterMs) {
      isReported = true
      yield* Console.error(`Waiting for ${shown(holder)}, which has ${basename(path)} open.`)
    }
    yield* Effect.sleep(pollIntervalMs)
  }
})

export const lockedBy = (path: string, { isRun, pid, program }: Holder): Failure =>
  failure({ _tag: "WarehouseLocked", path, isRun, pid, program })

const inProcess = ({ pid }: Holder) => (pid === undefined ? "" : ` (process ${pid})`)
const shown = (holder: Holder) => `${holder.program ?? "another program"}${inProcess(holder)}`

/** Of what DuckDB says where the file is locked. */
export const holderIn = (message: string): Holder | undefined => {
  const conflict = /Conflicting lock is held in (\S+).*?\(PID (\d+)\)/s.exec(message)
  if (!conflict)
    return message.includes("Could not set lock") ? { pid: undefined, program: undefined, isRun: false } : undefined
  const pid = Number(conflict[2])
  const commandLine = commandOf(pid)
  const main = commandLine.findIndex((word) => /(^|\/)src\/main\.ts$/.test(word))
  return {
    pid,
    program: main < 0 ? basename(commandLine[0] ?? conflict[1]!) : `sluice ${commandLine[main + 1] ?? ""}`.trim(),
    isRun: main >= 0 && commandLine.slice(main + 1).some((word) => runs.has(word))
  }
}

const runs: ReadonlySet<string> = new Set(["sync", "backfill", "rebuild", "publish", "demo"])

/** Where the system tells it: Linux. */
const commandOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean)
  } catch {
    return []
  }
}
