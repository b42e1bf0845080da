/** What a command prints with `--json`: one object, successful or not. docs/schemas has the JSON Schema of each command. */
import * as Effect from "effect/Effect"
import type { ExitKind } from "../values/failure.ts"
import type { LogLevel } from "./log.ts"
import { Output } from "./streams.ts"

/** The data of each result by its name; src/cli/commands.ts declares its members. */
// oxlint-disable-next-line typescript/no-empty-object-type -- Its members are declared where the schemas are.
export interface Results {}

export type ResultName = keyof Results

/** Increases if a field is removed or changes its meaning; new fields keep it. */
const version = 1

export interface CommandResult<Name extends ResultName> {
  readonly exitCode: number
  readonly data: Results[Name]
  /** The next command or step, in words. */
  readonly next?: string
}

/** What a command did, for `command` to print: `data` for programs, and for people `lines` and the next step. */
export interface Shown<Name extends ResultName = ResultName> extends CommandResult<Name> {
  readonly name: Name
  /** Read only if people are shown the result. */
  readonly lines: () => Iterable<Line>
}

/** A line of the result, on stdout, or a message beside it. */
export type Line = string | { readonly message: string; readonly level: LogLevel }

/** A message beside the lines of a result. */
export const info = (message: string): Line => ({ message, level: "info" })
export const warning = (message: string): Line => ({ message, level: "warn" })

/** The result of a command, with the lines that show it to people. */
export const shown = <Name extends ResultName>(
  name: Name,
  result: CommandResult<Name>,
  lines: () => Iterable<Line>
): Shown<Name> => ({ name, ...result, lines })

/** Prints what a command did, for programs or for people. */
export const printShown = (result: Shown, json: boolean) =>
  printEither(
    result.name,
    result,
    json,
    Effect.map(Output, ({ print, say }) => {
      for (const line of result.lines()) {
        if (typeof line === "string") print(line)
        else say(line.message, line.level)
      }
    })
  )

/** Prints the result of a command and returns its exit code. */
export const printResult = Effect.fnUntraced(function* <Name extends ResultName>(
  name: Name,
  result: CommandResult<Name>
) {
  const output = yield* Output
  printDocument(output, resultDocument(output, name, result))
  return result.exitCode
})

/** Prints the result of a command for programs or, with `forPeople` and the next step, for people. Returns its exit code. */
export const printEither = Effect.fnUntraced(function* <Name extends ResultName>(
  name: Name,
  result: CommandResult<Name>,
  json: boolean,
  forPeople: Effect.Effect<void, never, Output>
) {
  if (json) return yield* printResult(name, result)
  const { exitCode, next } = result
  const { say } = yield* Output
  yield* forPeople
  if (next !== undefined) say(`Next: ${next}`, exitCode === 0 ? "info" : "warn")
  return exitCode
})

export const resultDocument = <Name extends ResultName>(
  { withFlags }: Pick<Output["Service"], "withFlags">,
  name: Name,
  { exitCode, data, next }: CommandResult<Name>
) => ({
  schema: `sluice/${name}/${version}`,
  exitCode,
  data,
  ...(next !== undefined && { next: withFlags(next) })
})

/** Why a command stopped: `usage`, `locked`, `interrupted`, … */
export type ErrorCode = ExitKind | "interrupted" | "internal"

/** Why a command did nothing, or not all. */
export interface CommandFailure {
  readonly exitCode: number
  readonly code: ErrorCode
  readonly message: string
  readonly next?: string
  /** The heading of docs/messages.md. */
  readonly about?: string
  /** When the service accepts requests again, if it is known; ISO 8601. */
  readonly resumeAt?: string
}

/** Prints why a command failed. */
export const printError = (output: Output["Service"], failure: CommandFailure): void => {
  const { about, exitCode, code, message, next, resumeAt } = failure
  const { withFlags } = output
  printDocument(output, {
    schema: `sluice/error/${version}`,
    exitCode,
    error: {
      code,
      message: withFlags(message),
      ...(about !== undefined && { about }),
      ...(resumeAt !== undefined && { resumeAt })
    },
    ...(next !== undefined && { next: withFlags(next) })
  })
}

const printDocument = <Result extends { readonly exitCode: number }>(
  { event, print }: Output["Service"],
  result: Result
): void => (event ? event({ event: "finished", exitCode: result.exitCode, result }) : print(JSON.stringify(result)))

/** An instant in results, from epoch milliseconds. */
export const instant = (milliseconds: number): string => new Date(milliseconds).toISOString()
