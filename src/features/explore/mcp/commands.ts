/** The command `sluice mcp`. */
import { choice, common, flag, text } from "../../../command/flags.ts"
import { load } from "../../../command/load.ts"
import { profiles } from "../../../settings/masking.ts"
import { command } from "../../../command/command.ts"

export const mcp = command({
  name: "mcp",
  serves: true,
  summary:
    "Let an AI assistant look at a published release: the Model Context Protocol on stdin and stdout, read-only, with pseudonyms instead of persons unless you say otherwise.",
  flags: {
    config: common.config,
    output: common.output,
    target: text("target", "Serve the target of [[publish]] with this name."),
    profile: choice(
      "profile",
      profiles,
      "Serve the target with this profile, analytics by default; raw serves the release in the output folder, with all names, addresses and messages."
    ),
    record: flag("record", "Write a record of each query into the ledger, before its answer.")
  },
  examples: [
    {
      command: "./sluice mcp --config /etc/sluice.toml",
      description: "What an assistant starts; see docs/question.md."
    },
    { command: "./sluice mcp --target analysts --record" }
  ],
  run: (flags) => load(import("./command.ts"), (_) => _.mcp(flags))
})
