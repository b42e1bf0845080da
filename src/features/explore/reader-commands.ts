/** The commands for people who read the data. */
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { common, flag, reportsSettings, run, text } from "../../run/flags.ts"
import { load, loadRun } from "../../run/load.ts"

const port = (description: string) =>
  Flag.Int("port").pipe(
    Flag.withDescription(description),
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `${port} is not a port from 0 to 65535`
    ),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )

export const listen = Command.make(
  "listen",
  {
    ...reportsSettings,
    ...run,
    port: port("Port; without it, a free one."),
    host: text("host", "Address to listen on; without it, 127.0.0.1. Put a proxy with TLS before it."),
    every: text("every", "How long events are collected before they are read, such as 10s. Default: 30s.")
  },
  (flags) => loadRun("listen", flags, import("../listen/command.ts"), (_) => _.listen(flags))
).pipe(
  Command.withDescription(
    "Receive events that workflows of the service send, and read what they say has changed. It runs until it is stopped; the nightly sync reads everything all the same."
  ),
  Command.withExamples([{ command: "./sluice listen --port 8080" }])
)

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
