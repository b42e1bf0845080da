/** Prints help, which begins with an example, to stdout, and usage errors to stderr. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Presenter } from "effect/cli/CliOutput"
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import type { Output } from "./output.ts"

export const presenterOf = ({ print, say }: Output["Service"]): Presenter => ({
  present: (event) =>
    Effect.sync(() => {
      switch (event._tag) {
        case "Help":
          return print(helpText(event.helpDoc))
        case "InvalidInvocation":
          for (const error of event.errors) say(`sluice: ${error.message}`, "error")
          return say(`Next: ./${event.commandPath.join(" ")} --help`, "error")
        case "Version":
          return print(`${event.name} ${event.version}`)
      }
    })
})

const helpText = (doc: HelpDoc): string => {
  const sections = [
    (doc.examples ?? []).map(
      ({ command, description }) => `  ${command}${description ? `\n      ${description}` : ""}`
    ),
    [doc.description],
    (doc.subcommands ?? []).flatMap(({ commands }) => commands.map(({ name, description }) => line(name, description))),
    doc.flags.map(flagLine),
    (doc.globalFlags ?? []).filter(({ name }) => name === "help" || name === "version").map(flagLine)
  ]
  return sections
    .filter((section) => section.length > 0)
    .map((section) => section.join("\n"))
    .join("\n\n")
}

const flagLine = ({ name, aliases, type, description }: FlagDoc) =>
  line(
    `${aliases.map((alias) => `${alias}, `).join("")}--${name}${type === "boolean" ? "" : ` ${type}`}`,
    Option.getOrElse(description, () => "")
  )

const line = (name: string, description: string) => `  ${name.padEnd(24)} ${description}`
