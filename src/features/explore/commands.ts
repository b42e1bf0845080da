/** The command `sluice explore`. */
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { common, flag, localPort, text } from "../../command/flags.ts"
import { load } from "../../command/load.ts"
import { command } from "../../command/command.ts"

export const explore = command({
  name: "explore",
  serves: true,
  summary:
    "Show the published tables in a browser on this machine: rows, columns, SQL, charts and downloads. Changes nothing.",
  flags: {
    ...common,
    listen: localPort("Port of 127.0.0.1; without it, that of the folder if it is free, or else another."),
    open: flag("open", "Open the page in the browser."),
    /** Of 1.0.0; see old-flags.ts. */
    queries: text("queries", "").pipe(Flag.withHidden)
  },
  examples: [
    { command: "./sluice explore --open" },
    { command: "./sluice explore --listen 4000", description: "Always at the same address." }
  ],
  run: (flags) => load(import("./command.ts"), (_) => _.explore(flags))
})

/** Printed once the server listens. */
export const exploreResults = () => ({
  explore: Schema.Struct({
    /** The address to open, with the token. */
    url: Schema.String,
    port: Schema.Int,
    /** The folder of the saved queries. */
    queries: Schema.String
  })
})
