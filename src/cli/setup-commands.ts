/** The commands that set sluice up. */
import * as Command from "effect/cli/Command"
import { reportsSettings } from "./flags.ts"
import { load } from "./load.ts"

const configShow = Command.make("show", reportsSettings, (flags) =>
  load(import("./config.ts"), (_) => _.configShow(flags))
).pipe(
  Command.withDescription("Show every setting, its value, and where the value comes from."),
  Command.withExamples([{ command: "./sluice config show" }])
)
const configValidate = Command.make("validate", reportsSettings, (flags) =>
  load(import("./config.ts"), (_) => _.configValidate(flags))
).pipe(
  Command.withDescription("Report everything that is missing, wrong or unknown in the settings. Sends no request."),
  Command.withExamples([{ command: "./sluice config validate --config config/sluice.toml" }])
)
export const config = Command.make("config").pipe(
  Command.withDescription("Show the settings and where they come from, or check them."),
  Command.withExamples([{ command: "./sluice config show" }, { command: "./sluice config validate" }]),
  Command.withSubcommands([configShow, configValidate])
)
