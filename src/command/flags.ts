/** The flags that several commands share. */
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import { flagDescription } from "../settings/documents.ts"
import { durationMs } from "../values/text.ts"
import { type SettingFlags, flagText } from "../values/setting.ts"
import { logFormats, logLevels } from "../console/log.ts"
import { againChoices, detailsName } from "./selection.ts"

const optional = <A>(flag: Flag.Flag<A>, description: string) =>
  flag.pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))
export const text = (name: string, description: string) => optional(Flag.String(name), description)
export const choice = <const Value extends string>(name: string, values: ReadonlyArray<Value>, description: string) =>
  optional(Flag.Literals(name, values), description)
export const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))
export const optionalArgument = (name: string, description: string) =>
  argument(name, description).pipe(Argument.optional, Argument.map(Option.getOrUndefined))

/** A flag that may be repeated; its values are joined with commas, as a value may contain several. */
export const list = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.atLeast(0),
    Flag.map((values) => (values.length === 0 ? undefined : values.join(",")))
  )

const parsed = <A>(name: string, parse: (text: string) => A | undefined, expected: string, description: string) =>
  optional(
    Flag.filterMap(
      Flag.String(name),
      (given) => Option.fromUndefinedOr(parse(given)),
      () => expected
    ),
    description
  )

/** A time such as 30s, 10m, 26h or 7d, in milliseconds. */
export const durationFlag = (name: string, description: string) =>
  parsed(name, durationMs, "a duration such as 30s, 10m, 26h or 7d", description)

/** The flag of a setting, described as the settings table describes it. */
export const setting = (flag: keyof SettingFlags) => text(flagText(flag).slice(2), flagDescription(flag))

export const common = {
  config: text("config", "Settings file; without it, config/sluice.toml if that exists."),
  output: setting("output"),
  json: flag("json", "Print the result as JSON.")
}
/** Commands that work for long can print their events, too. */
export const commonLines = {
  ...common,
  json: Flag.Literals("json", ["object", "lines"]).pipe(
    Flag.withOptionalValue("object"),
    Flag.withDescription("Print the result as JSON; with --json=lines, also what happens meanwhile, line by line."),
    Flag.optional,
    Flag.map(Option.isSome)
  )
}
export const account = {
  ...common,
  baseUrl: setting("baseUrl"),
  location: setting("location"),
  only: list(
    "only",
    "Read these tables or families only: contacts,payments. A name of both is the family; table:invoices is the table alone."
  ),
  except: list(
    "except",
    `Leave these tables or families out, and what is requested for their rows if they were never read: emails,blogs. ${detailsName}: what takes a request for each record, such as notes, waits for the next sync.`
  ),
  again: choice(
    "again",
    againChoices,
    "What is read again: changed, what changed, as without the flag; lists, all lists, and single records where they changed; all, each single record as well."
  )
}

/** The flags of a command that reports on the settings. */
export const reportsSettings = { ...common, baseUrl: account.baseUrl, location: account.location }

/** The flags of a command that syncs. */
export const run = {
  logFormat: choice("log-format", logFormats, "Format of messages and log; pretty on a terminal, logfmt elsewhere."),
  /** Of 1.0.0; see old-flags.ts. */
  logLevel: choice("log-level", logLevels, "").pipe(Flag.withHidden),
  quiet: flag("quiet", "Print warnings and errors only.").pipe(Flag.withAlias("q")),
  verbose: flag("verbose", "Log each request as well.").pipe(Flag.withAlias("v")),
  wait: durationFlag("wait", "How long to wait for another run in the same folder: 30s, 10m, 2h.")
}

const portOf = (text: string) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined)

/** `8787`, `0.0.0.0`, `0.0.0.0:8787` or `[::1]:8787`. */
export const listeningOf = (text: string) => {
  const [, inBrackets, host = inBrackets, port] =
    /^(?:\[([\da-f:.]+)\]|([\w.-]*[a-z.][\w.-]*))?(?:(?:^|:)(\d+))?$/i.exec(text) ?? []
  const number = port === undefined ? undefined : portOf(port)
  return (port === undefined ? host : number) === undefined ? undefined : { host, port: number }
}
export type Listening = ReturnType<typeof listeningOf>

export const listening = (description: string) =>
  parsed("listen", listeningOf, "a port, an address or both, such as 8787 or 0.0.0.0:8787", description)
/** Of a command that listens on this machine alone. */
export const localPort = (description: string) => parsed("listen", portOf, "a port from 0 to 65535", description)
