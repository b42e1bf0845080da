/** The command `sluice prune`. */
import * as Schema from "effect/Schema"
import { command } from "../../command/command.ts"
import { common, flag } from "../../command/flags.ts"
import { load } from "../../command/load.ts"

export const prune = command({
  name: "prune",
  summary:
    "Free disk space: earlier releases and leftovers, and what [prune] in the settings says is too old. The tables stay the same, and a rebuild makes the same ones.",
  flags: {
    ...common,
    apply: flag("apply", "Free the space. Without it, the command only prints what it would remove."),
    compactVault: flag("compact-vault", "Remove all responses from the vault that repeat earlier ones, of any age.")
  },
  examples: [
    { command: "./sluice prune", description: "What would be removed." },
    { command: "./sluice prune --compact-vault --apply" }
  ],
  run: (flags) => load(import("./command.ts"), (_) => _.prune(flags))
})

/** What the commands print with `--json`. */
export const pruneResults = () => ({
  /** What `prune` removes, or would remove. Sizes are bytes; times are those before which it removes something. */
  prune: Schema.Struct({
    applied: Schema.Boolean,
    files: Schema.Array(Schema.Struct({ path: Schema.String, bytes: Schema.Int, why: Schema.String })),
    /** Absent if the settings keep all versions. */
    history: Schema.optional(Schema.Struct({ before: Schema.String, versions: Schema.Int, rows: Schema.Int })),
    /** Absent if the settings keep the vault. `records` repeat what was read before. */
    vault: Schema.optional(
      Schema.Struct({
        before: Schema.String,
        records: Schema.Int,
        segments: Schema.Int,
        bytesBefore: Schema.Int,
        bytesAfter: Schema.Int
      })
    )
  })
})
