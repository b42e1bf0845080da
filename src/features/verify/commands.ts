/** The command `sluice verify`. */
import * as Schema from "effect/Schema"
import * as Option from "effect/Option"
import * as Flag from "effect/cli/Flag"
import { command } from "../../command/command.ts"
import { account, common, flag } from "../../command/flags.ts"
import { holderShape } from "../../command/result-shapes.ts"
import { load } from "../../command/load.ts"
import { partNames } from "../../values/finding.ts"

export const verify = command({
  name: "verify",
  summary: "Check that the vault, the tables and the files are complete and agree. Changes nothing.",
  flags: {
    ...common,
    baseUrl: account.baseUrl,
    location: account.location,
    sample: Flag.Int("sample").pipe(
      Flag.withDescription("Read this many rows from the service, one request each, and compare them with the tables."),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    all: flag("all", "Compare every record of the vault with its row, not a sample of 200.")
  },
  examples: [
    { command: "./sluice verify", description: "Without a request." },
    { command: "./sluice verify --sample 50", description: "Compare 50 rows with the service as well." }
  ],
  run: (flags) => load(import("./command.ts"), (_) => _.verifyCommand(flags))
})

/** What the commands print with `--json`. */
export const verifyResults = () => {
  const Count = Schema.Int
  const Verify = Schema.Struct({
    /** The program that has the warehouse open; only the published files are checked then. */
    holder: Schema.optionalKey(holderShape()),
    /** Whether no check found an error. */
    isRight: Schema.Boolean,
    checks: Schema.Array(
      Schema.Struct({
        part: Schema.Literals(partNames),
        check: Schema.String,
        looked: Schema.String,
        findings: Schema.Array(
          Schema.Struct({ level: Schema.Literals(["wrong", "note"]), where: Schema.String, what: Schema.String })
        )
      })
    ),
    /** Rows that were compared with the service, by outcome. */
    sample: Schema.optionalKey(
      Schema.Struct({ agree: Count, differ: Count, changedSince: Count, deletedSince: Count, notReadable: Count })
    )
  })
  return { verify: Verify }
}
