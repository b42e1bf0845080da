/** The command `sluice serve`. */
import type { CommandDescriptor } from "effect/cli/Completions"
import * as Schema from "effect/Schema"
import { common, flag, listening } from "../../command/flags.ts"
import { load } from "../../command/load.ts"
import { command } from "../../command/command.ts"

/** `commands`: the entry of the program, whose commands the page starts. */
export const serveCommand = (commands: () => CommandDescriptor) =>
  command({
    name: "serve",
    serves: true,
    summary:
      "Serve a web page that sets up an account, syncs it on a schedule, and shows its runs and tables. Each piece of work is a command in a process of its own.",
    flags: {
      ...common,
      listen: listening(
        "Where to listen: an address, a port or both; without it, 127.0.0.1:8787. Any other address needs a password, see docs/console.md."
      ),
      open: flag("open", "Open the page in the browser.")
    },
    examples: [
      { command: "./sluice serve --open" },
      { command: "./sluice serve --listen 0.0.0.0", description: "In a container, or behind a proxy." }
    ],
    run: (flags) => load(import("./command.ts"), (_) => _.serve(flags, commands))
  })

/** Printed once the server listens. */
export const serveResults = () => ({
  serve: Schema.Struct({
    /** The address to open; with a token that is valid once, unless a password is needed. */
    url: Schema.String,
    port: Schema.Int
  })
})
