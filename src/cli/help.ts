/** Prints help, which begins with an example, to stdout, and usage errors to stderr. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Presenter } from "effect/cli/CliOutput"
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import type { Output } from "../console/streams.ts"
import { terminalWidth, wrapped } from "../values/text.ts"

/** `isAll`: whether every command is explained, and not those alone that a night needs. */
export const presenterOf = ({ print, say, stdout }: Output["Service"], isAll: boolean): Presenter => ({
  present: (event) =>
    Effect.sync(() => {
      switch (event._tag) {
        case "Help":
          return print(helpText(event.helpDoc, terminalWidth(stdout) ?? 80, isAll))
        case "InvalidInvocation":
          for (const error of event.errors) say(`sluice: ${error.message}`, "error")
          return say(`Next: ./${event.commandPath.join(" ")} --help`, "error")
        case "Version":
          return print(`${event.name} ${event.version}`)
      }
    })
})

/** `help sync` is `sync --help`. */
export const withHelpFlag = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0] === "help" ? [...args.slice(1), "--help"] : args

/** Groups of commands of which the short help says more than the names. */
const usualGroups = 3

const helpText = (doc: HelpDoc, width: number, isAll: boolean): string => {
  const line = (name: string, description: string) =>
    wrapped(description, { width, first: `  ${name.padEnd(24)} `, indent: 27 })
  const described = (name: string, { description }: Pick<FlagDoc, "description">) =>
    line(name, Option.getOrUndefined(description) ?? "")
  const flagLine = (flag: FlagDoc) => described(flagName(flag), flag)
  const groups = doc.subcommands ?? []
  const usual = isAll ? groups : groups.slice(0, usualGroups)
  const others = groups.slice(usual.length)
  const sections = [
    (doc.examples ?? []).flatMap(({ command, description = "" }) => [
      ...exampleLines(command, width),
      ...wrapped(description, { width, first: "      ", indent: 6 })
    ]),
    wrapped(doc.description, { width }),
    ...usual.map(({ commands, group }) => [
      ...(group === undefined ? [] : [`${group}:`]),
      ...commands.flatMap(({ name, description }) => line(name, firstSentence(description)))
    ]),
    others.flatMap(({ commands, group }) => line(`${group}:`, commands.map(({ name }) => name).join(", "))),
    others.length === 0 ? [] : ["  ./sluice help --all explains each."],
    (doc.args ?? []).flatMap((one) => described(one.name, one)),
    doc.flags.flatMap(flagLine),
    (doc.globalFlags ?? []).filter(({ name }) => name === "help" || name === "version").flatMap(flagLine)
  ]
  return sections
    .filter((section) => section.length > 0)
    .map((section) => section.join("\n"))
    .join("\n\n")
}

const flagName = ({ name, aliases, type }: FlagDoc): string =>
  `${aliases.map((alias) => `${alias}, `).join("")}--${name}${type === "boolean" ? "" : ` ${type}`}`

/** The help of the command itself has the rest. */
const firstSentence = (description: string): string => description.split(/(?<=\.) /)[0]!

/** A long example is continued with a backslash, so that it can still be copied. */
const exampleLines = (command: string, width: number): ReadonlyArray<string> => {
  const lines = ["  "]
  for (const part of command.split(/ (?=--|> )/)) {
    const last = lines.at(-1)!
    if (last.trim() === "") lines[lines.length - 1] = `  ${part}`
    else if (last.length + part.length + 3 <= width) lines[lines.length - 1] = `${last} ${part}`
    else lines.splice(-1, 1, `${last} \\`, `      ${part}`)
  }
  return lines
}
