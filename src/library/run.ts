/** Calls what a command does inside the calling program, and returns what the command prints with `--json`. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Writable } from "node:stream"
import { allCommands } from "../cli/commands.ts"
import { runFeatures } from "../cli/run-features.ts"
import { readFile } from "../settings/file.ts"
import { closest, suggestion } from "../settings/closest.ts"
import { exitCodes } from "../values/failure.ts"
import { repeating } from "../console/given-flags.ts"
import { Output } from "../console/streams.ts"
import type { RunFeatures } from "../command/features.ts"
import { type CommandFailure, type CommandResult, resultDocument } from "../console/result.ts"
import type { RunResults } from "../run/result-data.ts"
import { Warnings } from "../command/load.ts"
import { explainFailure, explainStop, servicesOf, stoppable } from "../command/work.ts"
import type { Environment } from "../values/environment.ts"
import { fetchThroughProxies } from "../network/proxy.ts"

/** What every function takes. Settings come from the settings file and the environment, as for a command. */
export interface Options {
  /** Settings file; without it, `config/sluice.toml` if that exists. */
  readonly config?: string
  /** Output folder; without it, that of the settings. */
  readonly output?: string
  /** Environment variables, such as `SLUICE_TOKEN`. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Receives each line that a command would write to stderr. */
  readonly onMessage?: (line: string) => void
}

export interface Result<Name extends keyof RunResults> {
  /** 0: complete. 3: incomplete, and the data says what. 75: to be continued later. */
  readonly exitCode: number
  readonly data: RunResults[Name]
  /** The next command or step, in words. */
  readonly next?: string
}

/** Why nothing was done. */
export class SluiceError extends Data.TaggedError("SluiceError")<CommandFailure> {}

/** A misspelled option would otherwise do more than was asked for, such as read the whole account. */
export const refuseUnknown = (
  name: string,
  options: object,
  own: ReadonlyArray<string>
): Effect.Effect<void, SluiceError> => {
  const known = ["config", "output", "environment", "onMessage", ...own]
  const unknown = Object.keys(options).find((one) => !known.includes(one))
  if (unknown === undefined) return Effect.void
  const message = `${name}: there is no option ${unknown}${suggestion(closest(unknown, known))}`
  return Effect.fail(new SluiceError({ exitCode: exitCodes.usage, code: "usage", message }))
}

/** The exit code of a program that its caller ends. */
const stoppedCode = 143

/** An interruption stops the work like a signal: it saves its progress first. */
export const call = <Name extends keyof RunResults>(
  name: Name,
  { own, ...options }: { readonly own: ReadonlyArray<string>; readonly given: Options },
  work: () => Effect.Effect<CommandResult<Name>, unknown, Environment | Output | RunFeatures>
): Effect.Effect<Result<Name>, SluiceError> =>
  Effect.suspend(() => {
    const { config, environment = process.env, onMessage, output: folder } = options.given
    const output = Output.make({ stdout: lines(), stderr: lines(onMessage) }, environment, {
      withFlags: repeating(Object.entries({ "--config": config, "--output": folder }), allCommands)
    })
    const { asPrinted, withFlags } = output
    const failed = ({ message, next, ...ends }: CommandFailure) =>
      new SluiceError({
        ...ends,
        message: asPrinted(withFlags(message)),
        ...(next !== undefined && { next: asPrinted(withFlags(next)) })
      })
    const services = servicesOf(`sluice ${name}`, environment, output, runFeatures).pipe(
      Context.add(Warnings, () => readFile(config).outdated)
    )
    const checked = refuseUnknown(name, options.given, own)
    const done = stoppable(
      Effect.andThen(Effect.promise(fetchThroughProxies), Effect.provideContext(work(), services)),
      output
    ).pipe(
      Effect.catchCause((cause) => Effect.fail(failed(explainFailure(output, cause)))),
      Effect.onInterrupt(() => Effect.sync(() => explainStop(output, stoppedCode))),
      Effect.map((result) => withTexts(resultDocument(output, name, result), asPrinted))
    )
    return Effect.andThen(checked, done)
  })

/** A copy of data with other texts, and without what is undefined. */
const withTexts = <A>(data: A, textOf: (text: string) => string): A => {
  const copy = (value: unknown): unknown => {
    if (typeof value === "string") return textOf(value)
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== "object" || value === null) return value
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    return Object.fromEntries(fields.map(([key, field]) => [key, copy(field)]))
  }
  return copy(data) as A
}

/** Whatever is written ends with its line. */
export const lines = (onLine?: (line: string) => void) =>
  new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      for (const line of text.split("\n").slice(0, -1)) onLine?.(line)
      done()
    }
  })
