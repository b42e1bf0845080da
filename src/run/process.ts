/** Starts commands of sluice as processes of their own: whoever starts one comes here. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { resolve } from "node:path"
import type { Environment } from "../values/environment.ts"

const processes = Layer.provide(NodeChildProcessSpawner.layer, Layer.merge(NodeFileSystem.layer, NodePath.layer))

/** How a command of sluice is started: the program, and what comes before its arguments. */
export type Program = ReadonlyArray<string>

/** The same Node with the same flags, and the same entry point, as this process. */
export const thisProgram = (): Program => [process.execPath, ...process.execArgv, resolve(process.argv[1] ?? "")]

interface Options extends Pick<ChildProcess.CommandOptions, "cwd" | "detached" | "killSignal" | "forceKillAfter"> {
  readonly environment: Environment["Service"]
  /** `pipe`: written by `say`. */
  readonly stdin?: "pipe" | "ignore"
  readonly output: "pipe" | "inherit" | "ignore"
  /** It goes on after the scope. */
  readonly outlives?: boolean
}

/** Starts a process, which ends with the scope. Fails if the program cannot be started. */
export const startProcess = Effect.fnUntraced(function* (
  [command = "", ...before]: Program,
  args: ReadonlyArray<string>,
  { environment, outlives, output, stdin = "ignore", ...options }: Options
) {
  const said = yield* Queue.unbounded<string>()
  const handle = yield* ChildProcess.make(command, [...before, ...args], {
    ...options,
    env: environment,
    stdin: stdin === "pipe" ? Stream.encodeText(Stream.fromQueue(said)) : stdin,
    stdout: output,
    stderr: output
  })
  if (outlives) yield* handle.unref
  let isOver = false
  const exited = yield* Deferred.make<number | null>()
  yield* Effect.catch(handle.exitCode, () => Effect.succeed(null)).pipe(
    Effect.tap(() => Effect.sync(() => (isOver = true))),
    Deferred.into(exited),
    Effect.forkScoped({ startImmediately: true })
  )
  const linesOf = (stream: typeof handle.stdout) => Stream.splitLines(Stream.decodeText(stream))
  return {
    pid: Number(handle.pid),
    /** Null if a signal ended it. */
    exitCode: Deferred.await(exited),
    stdout: linesOf(handle.stdout),
    stderr: linesOf(handle.stderr),
    /** Writes a line to its standard input. */
    say: (line: string): void => void Queue.offerUnsafe(said, `${line}\n`),
    stop: (signal: NodeJS.Signals) => {
      if (!isOver) process.kill(handle.pid, signal)
    }
  }
}, Effect.provide(processes))

/** Of messages, this many characters are kept: they explain an end. */
const messagesMax = 2000
export const endOf = (messages: string, line: string): string => `${messages}${line}\n`.slice(-messagesMax)

interface Limits {
  readonly bytes: number
  readonly ms: number
}

/** Runs a command to its end. Returns what it wrote to stdout, and the last line of stderr, or why there is nothing. */
export const printedBy = (
  program: Program,
  args: ReadonlyArray<string>,
  environment: Environment["Service"],
  { bytes, ms }: Limits = { bytes: 64_000_000, ms: 120_000 }
) =>
  Effect.gen(function* () {
    const { stderr, stdout } = yield* startProcess(program, args, {
      environment,
      output: "pipe",
      killSignal: "SIGKILL"
    })
    const lines: Array<string> = []
    let left = bytes
    const kept = Stream.runForEach(stdout, (line) => {
      left -= line.length + 1
      if (left < 0) return Effect.fail(new Error(`${args[0]} printed more than ${bytes} bytes.`))
      lines.push(line)
      return Effect.void
    })
    const messages = Stream.runFold(stderr, () => "", endOf)
    const [, said] = yield* Effect.all([kept, messages], { concurrency: "unbounded" })
    return { stdout: lines.map((line) => `${line}\n`).join(""), problem: said.trim().split("\n").at(-1) ?? "" }
  }).pipe(
    Effect.timeout(ms),
    Effect.scoped,
    Effect.catch(({ message }) => Effect.succeed({ stdout: "", problem: message }))
  )

/** What a command prints last: its result, or why it failed. */
export const Printed = Schema.Struct({
  // Events have another one.
  schema: Schema.String.check(Schema.isPattern(/^(?!sluice\/events\/)/)),
  exitCode: Schema.Int,
  data: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.String,
      message: Schema.String,
      about: Schema.optionalKey(Schema.String),
      resumeAt: Schema.optionalKey(Schema.String)
    })
  ),
  next: Schema.optionalKey(Schema.String)
})
export type Printed = typeof Printed.Type

export const printedIn = flow(Schema.decodeUnknownOption(Printed), Option.getOrUndefined)
export const printedInText = flow(Schema.decodeUnknownOption(Schema.fromJsonString(Printed)), Option.getOrUndefined)
