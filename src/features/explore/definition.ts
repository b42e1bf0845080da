/** The command `sluice explore`. */
import * as Command from "effect/cli/Command"
import { common, flag, text } from "../../run/flags.ts"
import { load } from "../../run/load.ts"
import { port } from "../../run/port-flag.ts"

export const explore = Command.make(
  "explore",
  {
    ...common,
    port: port("Port on 127.0.0.1; without it, a free one."),
    open: flag("open", "Open the page in the browser."),
    queries: text("queries", "Folder of the saved queries; without it, queries in the output folder.")
  },
  (flags) => load(import("./command.ts"), (_) => _.explore(flags))
).pipe(
  Command.withDescription(
    "Show the published tables in a browser on this machine: rows, columns, SQL, charts and downloads. Changes nothing."
  ),
  Command.withExamples([
    { command: "./sluice explore --open" },
    { command: "./sluice explore --port 4000", description: "Always at the same address." }
  ])
)
