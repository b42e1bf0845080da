/** The commands for people who read the data. */
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { common, flag, text } from "./flags.ts"
import { load } from "./load.ts"

export const explore = Command.make(
  "explore",
  {
    ...common,
    port: Flag.Int("port").pipe(
      Flag.withDescription("Port on 127.0.0.1; without it, a free one."),
      Flag.filter(
        (port) => port >= 0 && port <= 65_535,
        (port) => `${port} is not a port from 0 to 65535`
      ),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    open: flag("open", "Open the page in the browser."),
    queries: text("queries", "Folder of the saved queries; without it, queries in the output folder.")
  },
  (flags) => load(import("./explore.ts"), (_) => _.explore(flags))
).pipe(
  Command.withDescription(
    "Show the published tables in a browser on this machine: rows, columns, SQL, charts and downloads. Changes nothing."
  ),
  Command.withExamples([
    { command: "./sluice explore --open" },
    { command: "./sluice explore --port 4000", description: "Always at the same address." }
  ])
)
