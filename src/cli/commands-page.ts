/** Generates docs/commands.md: every command with its flags, as its help says them. */
import { type CommandDescriptor } from "effect/cli/Completions"
import { examplesOf } from "../run/command.ts"
import { wrapped } from "../values/wrap.ts"
import { allCommands, sluice } from "./commands.ts"

const width = 120

export const commandsPage = (): string =>
  [
    "# Commands",
    "",
    ...wrapped(
      "Made of the definitions of the commands; `./sluice help sync` prints the same. Results go to stdout, messages to stderr. [Operations](operations.md) has the exit codes, and `docs/schemas` the schemas of what `--json` prints.",
      { width }
    ),
    "",
    ...allCommands().subcommands.flatMap((command) => sectionOf([], command, 2))
  ]
    .join("\n")
    .trimEnd()
    .concat("\n")

const sectionOf = (above: ReadonlyArray<string>, command: CommandDescriptor, level: number): ReadonlyArray<string> => {
  const path = [...above, command.name]
  const operands = command.arguments.map(({ name }) => ` ${name.toUpperCase()}`).join("")
  // Every command has these, and the examples of a group are those of its commands.
  const flags = command.flags.filter(({ name }) => name !== "help" && name !== "version")
  const examples = command.subcommands.length === 0 ? examplesOf(sluice, path) : []
  return [
    `${"#".repeat(level)} sluice ${path.join(" ")}${operands}`,
    "",
    ...wrapped(command.description ?? "", { width }),
    "",
    ...(examples.length === 0
      ? []
      : [
          "```sh",
          ...examples.flatMap(({ command, description }) => [...(description ? [`# ${description}`] : []), command]),
          "```",
          ""
        ]),
    ...flags.flatMap(({ name, aliases, description }) => {
      const names = [`--${name}`, ...aliases.map((alias) => (alias.startsWith("-") ? alias : `-${alias}`))]
      return wrapped(`${names.map((one) => `\`${one}\``).join(", ")}: ${description ?? ""}`, {
        width,
        first: "- ",
        indent: 2
      })
    }),
    ...(flags.length === 0 ? [] : [""]),
    ...command.subcommands.flatMap((one) => sectionOf(path, one, level + 1))
  ]
}
