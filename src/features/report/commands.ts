/** The command `sluice report`. */
import * as Schema from "effect/Schema"
import { command } from "../../command/command.ts"
import { common, text } from "../../command/flags.ts"
import { instantShape } from "../../command/result-shapes.ts"
import { load } from "../../command/load.ts"

export const report = command({
  name: "report",
  summary:
    "Write one HTML file about the runs, the completeness and the figures of the account. Each sync, backfill and publish does this too.",
  flags: {
    ...common,
    to: text("to", "Write the report into this file instead of the current release: report.html.")
  },
  examples: [
    { command: "./sluice report", description: "Into output/published/report/index.html." },
    { command: "./sluice report --to report.html", description: "Elsewhere, for example to send it." }
  ],
  run: (flags) => load(import("./report-page.ts"), (_) => _.reportCommand(flags))
})

/** What the commands print with `--json`. */
export const reportResults = () => ({
  report: Schema.Struct({
    path: Schema.String,
    bytes: Schema.Int,
    /** `published`: the warehouse is in use, and the report describes the last release. */
    source: Schema.Literals(["warehouse", "published"]),
    /** As the report says it: `Complete`, `Incomplete`. */
    state: Schema.String,
    /** The last run. */
    run: Schema.String,
    /** When the data that it describes were loaded. */
    asOf: instantShape()
  })
})
