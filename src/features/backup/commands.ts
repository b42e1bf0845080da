/** The command `sluice backup`. */
import * as Schema from "effect/Schema"
import { command } from "../../command/command.ts"
import { argument, common, flag, run } from "../../command/flags.ts"
import { loadRun } from "../../command/load.ts"

export const backup = command({
  name: "backup",
  summary:
    "Copy everything that cannot be made again into a new folder, while no run writes, with the checksum of each file. The copy is an output folder: verify checks it, and syncs continue in it.",
  flags: {
    ...common,
    ...run,
    folder: argument("folder", "The folder of the backup, which must be empty or not exist."),
    tokens: flag(
      "tokens",
      "Copy the OAuth tokens as well, to move to another machine: each works once, so only one folder can use them."
    ),
    check: flag("check", "Compare the files of an earlier backup with its checksums, and copy nothing.")
  },
  examples: [
    { command: "./sluice backup /mnt/backup/crm-2026-11-25 --wait 2h", description: "After a run that works now." },
    { command: "./sluice backup /mnt/backup/crm-2026-11-25 --check", description: "Before it is needed." }
  ],
  run: (flags) => loadRun("backup", flags, import("./command.ts"), (_) => _.backup(flags))
})

/** What the command prints with `--json`. */
export const backupResults = () => ({
  backup: Schema.Struct({
    folder: Schema.String,
    /** When it was made, ISO 8601. */
    at: Schema.String,
    files: Schema.Int,
    bytes: Schema.Int,
    /** What the backup has that gives access to something. */
    secrets: Schema.Array(Schema.String),
    /** What was not copied although it is no copy of anything else. */
    leftOut: Schema.Array(Schema.String),
    /** What differs from the checksums, of a backup that was compared with them. */
    problems: Schema.Array(Schema.Struct({ path: Schema.String, problem: Schema.String }))
  })
})
