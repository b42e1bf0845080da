/**
 * Generates docs/schemas, the JSON Schemas of what commands print with `--json` and `--json=lines`, and docs/commands.md:
 * every command with its flags, as its help says them.
 */
import * as Schema from "effect/Schema"
import { exitCodes } from "../src/values/failure.ts"
import { Event } from "../src/values/event-schemas.ts"
import { commandAt } from "../src/command/command.ts"
import { allCommands, results as schemas, sluice } from "../src/cli/commands.ts"
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"
import { wrapped } from "../src/values/text.ts"

/** The JSON Schema of the object that a command prints with `--json`, by the name of its file in docs/schemas. */
export const resultDocuments = (): Readonly<Record<string, string>> => {
  const next = { type: "string", description: "The next command or step, in words." }
  const exitCode = { type: "integer", description: "The exit code of the process." }
  const document = (name: string, description: string, data: object, required: string, definitions: object = {}) => [
    `${name}.schema.json`,
    `${JSON.stringify(
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        title: `${commandOf(name)} --json`,
        description,
        type: "object",
        properties: { schema: { const: `sluice/${name}/1` }, exitCode, ...data, next },
        required: ["schema", "exitCode", required],
        additionalProperties: false,
        ...(Object.keys(definitions).length > 0 && { $defs: definitions })
      },
      null,
      2
    )}\n`
  ]
  const results = Object.entries(schemas()).map(([name, schema]) => {
    const { schema: data, definitions } = Schema.toJsonSchemaDocument(schema)
    return document(name, `The result of \`${commandOf(name)} --json\`.`, { data }, "data", definitions)
  })
  const error = {
    type: "object",
    properties: {
      code: { enum: errorCodes },
      message: { type: "string" },
      about: { type: "string", description: "The heading of docs/messages.md that explains it." },
      resumeAt: { type: "string", description: "When the service accepts requests again, if it is known; ISO 8601." }
    },
    required: ["code", "message"],
    additionalProperties: false
  }
  const failed = document("error", "Printed with `--json` by every command that fails.", { error }, "error")
  return Object.fromEntries([...results, failed, events()])
}

const events = (): readonly [string, string] => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(Event)
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "sluice --json=lines",
    description: "A line that `sync`, `backfill` and `rebuild` print with `--json=lines`.",
    ...schema,
    ...(Object.keys(definitions).length > 0 && { $defs: definitions })
  }
  return ["events.schema.json", `${JSON.stringify(document, null, 2)}\n`]
}

/** `sluice config show` of `config-show`. */
const commandOf = (name: string): string => `sluice ${name.replace("-", " ")}`

const errorCodes = [...Object.keys(exitCodes), "interrupted", "internal"]

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
    "## Flags of many commands",
    "",
    ...shared.flatMap(flagLines),
    "",
    ...allCommands().subcommands.flatMap((command) => sectionOf([], command, 2))
  ]
    .join("\n")
    .trimEnd()
    .concat("\n")

const flagLines = ({ aliases, description, name }: FlagDescriptor): ReadonlyArray<string> => {
  const names = [`--${name}`, ...aliases.map((alias) => (alias.startsWith("-") ? alias : `-${alias}`))]
  const first = `${names.map((one) => `\`${one}\``).join(", ")}: ${description ?? ""}`
  return wrapped(first, { width, first: "- ", indent: 2 })
}

const flagsBelow = (command: CommandDescriptor): ReadonlyArray<FlagDescriptor> => [
  // Every command has these.
  ...command.flags.filter(({ name }) => name !== "help" && name !== "version"),
  ...command.subcommands.flatMap(flagsBelow)
]

/** Those that say the same in several commands, once. */
const shared = [...Map.groupBy(flagsBelow(allCommands()), ({ description, name }) => `${name} ${description}`).values()]
  .filter((same) => same.length > 4)
  .flatMap((same) => same.slice(0, 1))
const isShared = (flag: FlagDescriptor) =>
  shared.some(({ description, name }) => name === flag.name && description === flag.description)

const sectionOf = (above: ReadonlyArray<string>, command: CommandDescriptor, level: number): ReadonlyArray<string> => {
  const path = [...above, command.name]
  const operands = command.arguments.map(({ name }) => ` ${name.toUpperCase()}`).join("")
  const flags = flagsBelow({ ...command, subcommands: [] })
  const also = flags.filter(isShared).map(({ name }) => `\`--${name}\``)
  // The examples of a group are those of its commands.
  const examples = command.subcommands.length === 0 ? commandAt(sluice, path).examples : []
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
    ...flags.filter((one) => !isShared(one)).flatMap(flagLines),
    ...(also.length === 0
      ? []
      : wrapped(`[Also](#flags-of-many-commands): ${also.join(", ")}`, { width, first: "- ", indent: 2 })),
    ...(flags.length === 0 ? [] : [""]),
    ...command.subcommands.flatMap((one) => sectionOf(path, one, level + 1))
  ]
}
