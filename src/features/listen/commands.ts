/** The command `sluice listen`. */
import * as Schema from "effect/Schema"
import { durationFlag, listening, reportsSettings, run } from "../../command/flags.ts"
import { loadRun } from "../../command/load.ts"
import { command } from "../../command/command.ts"

export const listen = command({
  name: "listen",
  serves: true,
  summary:
    "Receive events that workflows of the service send, and read what they say has changed. It runs until it is stopped; the nightly sync reads everything all the same.",
  flags: {
    ...reportsSettings,
    ...run,
    listen: listening(
      "Where to listen: an address, a port or both; without it, a free port of 127.0.0.1. Put a proxy with TLS before it."
    ),
    every: durationFlag("every", "How long events are collected before they are read, such as 10s. Default: 30s.")
  },
  examples: [{ command: "./sluice listen --listen 8080" }],
  run: (flags) => loadRun("listen", flags, import("./command.ts"), (_) => _.listen(flags))
})

/** Printed once it listens. */
export const listenResults = () => ({
  listen: Schema.Struct({
    url: Schema.String,
    port: Schema.Int,
    /** The tables that an event has read at once. */
    tables: Schema.Array(Schema.String)
  })
})
