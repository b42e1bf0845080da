/** The command `sluice location remove`. */
import { FileCounts } from "../commands/file-counts.ts"
import * as Schema from "effect/Schema"
import { command, group } from "../../../command/command.ts"
import { argument, common, flag } from "../../../command/flags.ts"
import { load } from "../../../command/load.ts"

const locationRemove = command({
  name: "remove",
  summary:
    "Remove a location that the settings no longer name: its rows, their history, its responses in the vault and its files. Other locations stay as they are.",
  flags: {
    ...common,
    id: argument("id", "Id of the location."),
    apply: flag("apply", "Remove it. Without it, the command only prints what it would remove.")
  },
  examples: [
    { command: "./sluice location remove ve9EPM428h8vShlRW1KT", description: "What would be removed." },
    { command: "./sluice location remove ve9EPM428h8vShlRW1KT --apply" }
  ],
  run: (flags) => load(import("../commands/location-remove.ts"), (_) => _.locationRemove(flags))
})

export const location = group({
  name: "location",
  summary: "Remove a location that is no longer read.",
  commands: [locationRemove]
})

/** What the commands print with `--json`. */
export const locationResults = () => ({
  /** What `location remove` removes, or would remove. */
  "location-remove": Schema.Struct({
    applied: Schema.Boolean,
    location: Schema.String,
    /** By table of the warehouse, with its schema. */
    rows: Schema.Record(Schema.String, Schema.Int),
    /** Responses in the vault, and their size before compression. */
    vault: Schema.Struct({ entries: Schema.Int, bytes: Schema.Int }),
    ...FileCounts,
    /** Where else the location is. `isKept`: it is out of reach. */
    places: Schema.Array(Schema.Struct({ path: Schema.String, what: Schema.String, isKept: Schema.Boolean })),
    /** Where the location was still found. */
    found: Schema.optionalKey(Schema.Array(Schema.String))
  })
})
