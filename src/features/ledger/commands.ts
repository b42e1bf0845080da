/** The commands about the ledger. */
import * as Schema from "effect/Schema"
import { common, optionalArgument } from "../../command/flags.ts"
import { load } from "../../command/load.ts"
import { command, group } from "../../command/command.ts"

const show = command({
  name: "show",
  summary: "List the records.",
  flags: common,
  examples: [{ command: "./sluice ledger show" }],
  run: (flags) => load(import("./command.ts"), (_) => _.ledgerShow(flags))
})
const verify = command({
  name: "verify",
  summary:
    "Check that no record was edited, removed, inserted or moved, and name the first one that was. Changes nothing.",
  flags: {
    ...common,
    bundle: optionalArgument("bundle", "Folder of a bundle: the ledger must still have all of its records.")
  },
  examples: [
    { command: "./sluice ledger verify" },
    { command: "./sluice ledger verify audit-2026-11", description: "Compare it with an earlier bundle." }
  ],
  run: (flags) => load(import("./command.ts"), (_) => _.ledgerVerify(flags))
})
export const ledger = group({
  name: "ledger",
  summary: "Show the record of every command that changed the output folder, or check that nobody changed it.",
  commands: [show, verify]
})

/** What the commands print with `--json`. */
export const ledgerResults = () => ({
  "ledger-show": Schema.Struct({
    /** The records before the first one that `ledger verify` rejects. */
    records: Schema.Array(
      Schema.Struct({
        seq: Schema.Int,
        at: Schema.String,
        kind: Schema.String,
        /** SHA-256 of the line before. */
        previous: Schema.String,
        detail: Schema.Record(Schema.String, Schema.Json)
      })
    )
  }),
  "ledger-verify": Schema.Struct({
    isIntact: Schema.Boolean,
    /** The last record before the first one that was changed: its number and its SHA-256. */
    head: Schema.Struct({ seq: Schema.Int, sha256: Schema.String }),
    findings: Schema.Array(Schema.String)
  })
})
