/** Starts sluice again, as a process that ends itself when this one no longer says that it owns the location. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { endOf, startProcess, thisProgram } from "../../run/process.ts"
import type { Environment } from "../../values/environment.ts"
import { type Order, finishedLine, tetherMs, tetherVariable } from "./tether.ts"

export type Tethered = Effect.Success<ReturnType<typeof startTethered>>

/** `since`: when it was last certain that the location is owned, epoch milliseconds. */
export const startTethered = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  environment: Environment["Service"],
  since: number,
  output: "pipe" | "inherit"
) {
  const process = yield* startProcess(thisProgram(), args, {
    environment: { ...environment, [tetherVariable]: String(since + tetherMs) },
    stdin: "pipe",
    output,
    killSignal: "SIGKILL",
    // A terminal sends its signals to this process alone, which passes them on.
    detached: output === "inherit"
  })
  /** `since`: as above, later. */
  return { ...process, extend: (since: number) => process.say(String(since + tetherMs)) }
})

export interface EndedRun {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null
  /** The last line of stdout. */
  readonly result: string
  /** The end of stderr. */
  readonly messages: string
}

export interface TetheredRun extends Pick<Tethered, "extend" | "stop"> {
  readonly ended: Effect.Effect<EndedRun>
}

export type TetheredProcesses = Effect.Success<typeof tetheredProcesses>

/** A process, and its current run. */
interface Process extends Tethered {
  result: string
  messages: string
  onLine: (line: string) => void
  /** `isWaiting`: the run has ended well, and the process waits for the next one. */
  onEnd: (exitCode: number | null, isWaiting: boolean) => Effect.Effect<unknown>
}

/** How long a process waits for the next run; then its memory goes back to the system. */
const idleMs = 10_000

/** Processes of runs. One that has ended well waits for the next run; a process is started only if none waits. */
export const tetheredProcesses = Effect.gen(function* () {
  const all = yield* Effect.scope
  const waiting = new Set<Process>()
  /** What ends those that wait for too long. */
  const idle = yield* FiberMap.make<Process>()

  /** A process that reads its orders from its standard input. */
  const startOne = Effect.fnUntraced(function* (own: Environment["Service"], since: number) {
    const scope = yield* Scope.fork(all)
    const tethered = yield* Scope.provide(startTethered([], own, since, "pipe"), scope)
    const started: Process = { ...tethered, result: "", messages: "", onLine: () => {}, onEnd: () => Effect.void }
    const results = Stream.runForEach(tethered.stdout, (line) => {
      if (line === finishedLine) return started.onEnd(0, true)
      if (line !== "") started.result = line
      return Effect.void
    })
    const messages = Stream.runForEach(tethered.stderr, (line) =>
      Effect.sync(() => {
        started.messages = endOf(started.messages, line)
        if (line.trim() !== "") started.onLine(line)
      })
    )
    yield* Effect.all([results, messages], { concurrency: "unbounded" }).pipe(
      Effect.ignore,
      Effect.andThen(tethered.exitCode),
      Effect.flatMap((exitCode) => started.onEnd(exitCode, false)),
      Effect.ensuring(Scope.close(scope, Exit.void)),
      Effect.forkIn(all)
    )
    return started
  })

  const wait = (process: Process) => {
    waiting.add(process)
    process.onEnd = () => Effect.sync(() => waiting.delete(process))
    const end = Effect.sync(() => waiting.delete(process) && process.stop("SIGKILL"))
    return FiberMap.run(idle, process, Effect.delay(end, idleMs))
  }

  /** `own`: the environment of the processes. Fails if a process cannot be started. */
  const start = Effect.fnUntraced(function* (
    own: Environment["Service"],
    { args, environment }: Pick<Order, "args" | "environment">,
    since: number,
    onLine: Process["onLine"]
  ) {
    const free = waiting.values().next().value
    if (free) waiting.delete(free)
    const process = free ?? (yield* startOne(own, since))
    const ended = yield* Deferred.make<EndedRun>()
    let [hasEnded, isStopped] = [false, false]
    const onEnd: Process["onEnd"] = Effect.fnUntraced(function* (exitCode, isWaiting) {
      hasEnded = true
      // A signal that came after the end of its run is for no other one.
      if (isWaiting && isStopped) process.stop("SIGKILL")
      else if (isWaiting) yield* wait(process)
      yield* Deferred.succeed(ended, { exitCode, messages: process.messages, result: process.result })
    })
    Object.assign(process, { result: "", messages: "", onLine, onEnd })
    const order: Order = { args, environment, until: since + tetherMs }
    process.say(JSON.stringify(order))
    const run: TetheredRun = {
      ended: Deferred.await(ended),
      extend: (later) => (hasEnded ? undefined : process.extend(later)),
      stop: (signal) => {
        isStopped = true
        if (!hasEnded) process.stop(signal)
      }
    }
    return run
  })
  return { start }
})
