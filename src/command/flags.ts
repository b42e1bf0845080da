/** The flags that several commands share. */
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"
import { flagDescription } from "../settings/documents.ts"
import { durationMs } from "../values/text.ts"
import { type SettingFlags, flagText } from "../values/setting.ts"
import { logFormats, logLevels } from "../console/log.ts"

export const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))
export const choice = <const Value extends string>(name: string, values: ReadonlyArray<Value>, description: string) =>
  Flag.Literals(name, values).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrUndefined))
export const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** A flag that may be repeated; its values are joined with commas, as a value may contain several. */
export const list = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.atLeast(0),
    Flag.map((values) => (values.length === 0 ? undefined : values.join(",")))
  )

/** A time such as 30s, 10m, 26h or 7d, in milliseconds. */
export const durationFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (given) => Option.fromUndefinedOr(durationMs(given)),
      (given) => `${given} is not a duration such as 30s, 10m, 26h or 7d`
    ),
    Flag.withDescription(description),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )

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
  except: list("except", "Leave these tables or families out: emails,blogs."),
  lists: flag(
    "lists",
    "Read lists alone. What takes a request for each record, such as notes, waits for the next sync."
  ),
  full: flag(
    "full",
    "Read all lists of the location again, not the changes alone; single records and the lists of one record, such as notes and prices, only where they changed: --each reads those."
  ),
  each: flag("each", "Read everything again, each single record as well, whether it changed or not.")
}

/** The flags of a command that reports on the settings. */
export const reportsSettings = { ...common, baseUrl: account.baseUrl, location: account.location }

/** The flags of a command that syncs. */
export const run = {
  logFormat: choice("log-format", logFormats, "Format of messages and log; pretty on a terminal, logfmt elsewhere."),
  logLevel: choice("log-level", logLevels, "Leave out less severe messages; info by default."),
  quiet: flag("quiet", "Print warnings and errors only.").pipe(Flag.withAlias("q")),
  verbose: flag("verbose", "Log each request as well.").pipe(Flag.withAlias("v")),
  wait: text("wait", "How long to wait for another run in the same folder: 30s, 10m, 2h.")
}

/** The flag `--port` of the commands that listen. */
export const port = (description: string) =>
  Flag.Int("port").pipe(
    Flag.withDescription(description),
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `${port} is not a port from 0 to 65535`
    ),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )
