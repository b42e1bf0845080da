/** Runs a command inside the calling program, and returns what it prints with `--json`. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Writable } from "node:stream"
import { runCommand } from "../cli/command.ts"
import type { ErrorCode } from "../run/result.ts"
import type { CommandResults } from "../cli/commands.ts"

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

export interface Result<Name extends keyof CommandResults> {
  /** 0: complete. 3: incomplete, and the data says what. 75: to be continued later. */
  readonly exitCode: number
  readonly data: CommandResults[Name]
  /** The next command or step, in words. */
  readonly next?: string
}

/** Why nothing was done. */
export class SluiceError extends Data.TaggedError("SluiceError")<{
  readonly exitCode: number
  readonly code: ErrorCode
  readonly message: string
  readonly next?: string
}> {}

type Flags = Readonly<Record<string, string | ReadonlyArray<string> | boolean | undefined>>

/** An interruption ends the command like a signal: it saves its progress first. */
export const run = <Name extends keyof CommandResults>(
  name: Name,
  flags: Flags,
  { config, environment = process.env, onMessage, output }: Options
): Effect.Effect<Result<Name>, SluiceError> =>
  Effect.callback((resume) => {
    const stopped = new AbortController()
    const [stdout, stderr] = [new Lines(), new Lines(onMessage)]
    const args = [name, "--json", ...argumentsOf({ config, output, ...flags })]
    const ended = runCommand(args, { environment, stdout, stderr, signal: stopped.signal }).then(
      (exitCode) => resume(resultOf<Name>(stdout.text, exitCode)),
      (cause: unknown) => resume(Effect.die(cause))
    )
    return Effect.promise(() => {
      stopped.abort(143)
      return ended
    })
  })

const argumentsOf = (flags: Flags): ReadonlyArray<string> =>
  Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (value === undefined || value === false) return []
    return value === true ? [flag] : [flag, typeof value === "string" ? value : value.join(",")]
  })

/** Every command prints one JSON object with `--json`; docs/schemas describes it. */
const resultOf = <Name extends keyof CommandResults>(
  text: string,
  exitCode: number
): Effect.Effect<Result<Name>, SluiceError> => {
  const printed = JSON.parse(text) as
    | Result<Name>
    | { readonly error: { readonly code: ErrorCode; readonly message: string }; readonly next?: string }
  if (!("error" in printed)) return Effect.succeed(printed)
  const { error, next } = printed
  return Effect.fail(new SluiceError({ exitCode, ...error, ...(next !== undefined && { next }) }))
}

class Lines extends Writable {
  text = ""
  readonly #onLine: ((line: string) => void) | undefined
  #rest = ""

  constructor(onLine?: (line: string) => void) {
    super({ decodeStrings: false })
    this.#onLine = onLine
  }

  override _write(chunk: string | Buffer, _encoding: unknown, done: () => void): void {
    this.text += String(chunk)
    const lines = (this.#rest + String(chunk)).split("\n")
    this.#rest = lines.pop()!
    for (const line of lines) this.#onLine?.(line)
    done()
  }
}
