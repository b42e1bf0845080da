/** The command `sluice listen`. */
import * as Command from "effect/cli/Command"
import { reportsSettings, run, text } from "../../run/flags.ts"
import { loadRun } from "../../run/load.ts"
import { port } from "../../run/port-flag.ts"

export const listen = Command.make(
  "listen",
  {
    ...reportsSettings,
    ...run,
    port: port("Port; without it, a free one."),
    host: text("host", "Address to listen on; without it, 127.0.0.1. Put a proxy with TLS before it."),
    every: text("every", "How long events are collected before they are read, such as 10s. Default: 30s.")
  },
  (flags) => loadRun("listen", flags, import("./command.ts"), (_) => _.listen(flags))
).pipe(
  Command.withDescription(
    "Receive events that workflows of the service send, and read what they say has changed. It runs until it is stopped; the nightly sync reads everything all the same."
  ),
  Command.withExamples([{ command: "./sluice listen --port 8080" }])
)
