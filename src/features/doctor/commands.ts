/** The command `sluice doctor`. */
import * as Schema from "effect/Schema"
import { command } from "../../command/command.ts"
import { reportsSettings } from "../../command/flags.ts"
import { load } from "../../command/load.ts"

export const doctor = command({
  name: "doctor",
  summary:
    "Check settings, machine, token, scopes, rate limits, and each target by a small write that is taken back. Sends about 30 small requests.",
  flags: reportsSettings,
  examples: [{ command: "./sluice doctor", description: "Before the first sync, or after one that failed." }],
  run: (flags) => load(import("./command.ts"), (_) => _.doctor(flags))
})

/** What the commands print with `--json`. */
export const doctorResults = () => ({
  doctor: Schema.Struct({
    lines: Schema.Array(
      Schema.Struct({
        state: Schema.Literals(["ok", "warning", "problem"]),
        check: Schema.String,
        what: Schema.String,
        todo: Schema.optionalKey(Schema.String),
        ends: Schema.optionalKey(Schema.String)
      })
    ),
    settings: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String, from: Schema.String }))
  })
})
