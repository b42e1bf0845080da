/** The commands about one person. */
import * as Command from "effect/cli/Command"
import { common, flag, list, setting, text } from "./flags.ts"
import { load } from "./load.ts"

const person = {
  email: list("email", "Email address of the person; may be repeated."),
  phone: list("phone", "Phone number of the person, in any spelling; may be repeated."),
  contact: list("contact", "Id of the person's contact; may be repeated."),
  all: flag("all", "Take every contact that shares an address with the person.")
}

const subjectExport = Command.make(
  "export",
  {
    ...common,
    location: setting("location"),
    ...person,
    to: text("to", "Folder to write, and the name of the zip file beside it; without it, subject-<contact id>."),
    history: flag("history", "Include earlier versions of the rows."),
    searchText: flag("search-text", "List records of others whose texts contain an address or the name of the person."),
    force: flag("force", "Replace the folder if it exists.")
  },
  (flags) => load(import("./subject-export.ts"), (_) => _.subjectExport(flags))
).pipe(
  Command.withDescription(
    "Write everything that the tables contain about a person as a page, JSON and CSV, and say where nothing was found and why. Sends no requests."
  ),
  Command.withExamples([
    { command: "./sluice subject export --email jane@example.com" },
    { command: "./sluice subject export --contact 3FpZ81kQ --to jane --history" }
  ])
)

export const subject = Command.make("subject").pipe(
  Command.withDescription("Answer the request of a person for their data."),
  Command.withExamples([{ command: "./sluice subject export --email jane@example.com" }]),
  Command.withSubcommands([subjectExport])
)
