/** The commands about the ledger. */
import * as Command from "effect/cli/Command"
import { common, text } from "../../run/flags.ts"
import { load } from "../../run/load.ts"

const show = Command.make("show", common, (flags) => load(import("./command.ts"), (_) => _.ledgerShow(flags))).pipe(
  Command.withDescription("List the records."),
  Command.withExamples([{ command: "./sluice ledger show" }])
)
const verify = Command.make(
  "verify",
  { ...common, bundle: text("bundle", "Folder of a bundle: the ledger must still have all of its records.") },
  (flags) => load(import("./command.ts"), (_) => _.ledgerVerify(flags))
).pipe(
  Command.withDescription(
    "Check that no record was edited, removed, inserted or moved, and name the first one that was. Changes nothing."
  ),
  Command.withExamples([
    { command: "./sluice ledger verify" },
    { command: "./sluice ledger verify --bundle audit-2026-11", description: "Compare it with an earlier bundle." }
  ])
)
export const ledger = Command.make("ledger").pipe(
  Command.withDescription(
    "Show the record of every command that changed the output folder, or check that nobody changed it."
  ),
  Command.withExamples([
    { command: "./sluice ledger show" },
    { command: "./sluice ledger verify --bundle audit-2026-11" }
  ]),
  Command.withSubcommands([show, verify])
)
