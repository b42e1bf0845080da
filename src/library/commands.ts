/** Further commands as functions: each runs in the calling program with `--json`, and what it prints is what is returned. */
import * as Effect from "effect/Effect"
import type { CommandResults as AllResults } from "../cli/commands.ts"
import { type Options, SluiceError, lines, refuseUnknown } from "./run.ts"

type CommandResults = Pick<AllResults, "publish" | "check" | "report" | "export-excel" | "export-bundle" | "verify">

export interface CommandResult<Name extends keyof CommandResults> {
  readonly exitCode: number
  readonly data: CommandResults[Name]
  /** The next command or step, in words. */
  readonly next?: string
}

export interface PublishOptions extends Options {
  /** Write every file anew. */
  readonly full?: boolean
}

export interface ReportOptions extends Options {
  /** Where to write it; without it, into the current release. */
  readonly to?: string
  /** @deprecated Until 2.0.0: `to`. */
  readonly file?: string
}

/** Tables or families, as the flags of `sluice export` take them. */
export interface ExportOptions extends Options {
  /** A workbook if it ends in `.xlsx`, otherwise a bundle: a folder, or a file that ends in `.tar` or `.zip`. */
  readonly target: string
  readonly only?: ReadonlyArray<string>
  readonly except?: ReadonlyArray<string>
}

export interface VerifyOptions extends Options {
  /** Compare every record of the vault with its row. */
  readonly all?: boolean
  /** Compare this many rows with the service, one request each. */
  readonly sample?: number
}

type Made<Name extends keyof CommandResults> = Effect.Effect<CommandResult<Name>, SluiceError>

export const publish = (options: PublishOptions = {}): Made<"publish"> => command("publish", options, ["full"])
export const check = (options: Options = {}): Made<"check"> => command("check", options, [])
export const report = (options: ReportOptions = {}): Made<"report"> => command("report", options, ["to", "file"])
export const verify = (options: VerifyOptions = {}): Made<"verify"> => command("verify", options, ["all", "sample"])
export const exportTables = ({ target, ...options }: ExportOptions): Made<"export-excel" | "export-bundle"> =>
  command(target.endsWith(".xlsx") ? "export-excel" : "export-bundle", options, ["only", "except"], [target])

/** `flags`: the options that are flags of the command. */
const command = <Name extends keyof CommandResults>(
  name: Name,
  options: Options,
  flags: ReadonlyArray<string>,
  targets: ReadonlyArray<string> = []
): Made<Name> =>
  Effect.andThen(
    refuseUnknown(name, options, flags),
    Effect.callback<CommandResult<Name>, SluiceError>((resume) => {
      const { environment = process.env, onMessage } = options
      const controller = new AbortController()
      const printed: Array<string> = []
      const given = Object.entries(options).flatMap(([flag, value]) =>
        ["config", "output", ...flags].includes(flag) ? flagOf(flag, value) : []
      )
      const running = import("../cli/command.ts").then(({ runCommand }) =>
        runCommand([...name.split("-"), ...targets, ...given, "--json"], {
          environment,
          stdout: lines((line) => void printed.push(line)),
          stderr: lines(onMessage),
          signal: controller.signal
        })
      )
      running.then(
        () => resume(resultOf(printed.join("\n"))),
        (cause: unknown) => resume(Effect.die(cause))
      )
      // A command that is stopped saves its state first.
      return Effect.promise(() => {
        controller.abort(143)
        return running
      })
    })
  )

const flagOf = (flag: string, value: unknown): ReadonlyArray<string> => {
  if (value === undefined || value === false) return []
  return value === true ? [`--${flag}`] : [`--${flag}`, Array.isArray(value) ? value.join(",") : String(value)]
}

const resultOf = <Name extends keyof CommandResults>(text: string): Made<Name> => {
  const { error, schema: _, ...result } = JSON.parse(text)
  return error === undefined ? Effect.succeed(result) : Effect.fail(new SluiceError({ ...result, ...error }))
}
