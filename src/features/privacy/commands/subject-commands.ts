/** The commands by which an account answers for personal data. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { common, flag, list, setting, text } from "../../../run/flags.ts"
import { load } from "../../../run/load.ts"

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
    refresh: flag("refresh", "Sync the tables that can contain a person first."),
    searchText: flag("search-text", "List records of others whose texts contain an address or the name of the person."),
    force: flag("force", "Replace the folder if it exists.")
  },
  (flags) => load(import("./subject-export.ts"), (_) => _.subjectExport(flags))
).pipe(
  Command.withDescription(
    "Write everything that the tables contain about a person as a page, JSON and CSV, and say where nothing was found and why. Without --refresh, it sends no requests."
  ),
  Command.withExamples([
    { command: "./sluice subject export --email jane@example.com" },
    { command: "./sluice subject export --contact 3FpZ81kQ --to jane --history" }
  ])
)

const subjectErase = Command.make(
  "erase",
  {
    ...common,
    location: setting("location"),
    ...person,
    keepFinancial: flag(
      "keep-financial",
      "Keep invoices, orders, payments and subscriptions without the person, so that sums stay true."
    ),
    reason: text("reason", "Why the person is erased, for the certificate."),
    apply: flag("apply", "Erase. Without it, the command only prints what it would remove.")
  },
  (flags) => load(import("./subject-erase.ts"), (_) => _.subjectErase(flags))
).pipe(
  Command.withDescription(
    "Remove a person from the vault, the tables, the published files and the recordings, search every file for them, and write a certificate. Later syncs do not store the person again."
  ),
  Command.withExamples([
    { command: "./sluice subject erase --email jane@example.com", description: "What would be removed." },
    { command: './sluice subject erase --email jane@example.com --apply --reason "request of 3 March"' },
    { command: './sluice subject erase --contact 3FpZ81kQ --keep-financial --apply --reason "left us"' }
  ])
)

const reidentify = Command.make(
  "reidentify",
  {
    ...common,
    pseudonym: Argument.String("pseudonym").pipe(
      Argument.withDescription("A pseudonym of a masked release: eml_k1_ and 26 characters.")
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why the person has to be known; it is recorded."))
  },
  (flags) => load(import("./subject-reidentify.ts"), (_) => _.reidentify(flags))
).pipe(
  Command.withDescription("Find the contact for whom a pseudonym stands. Needs masking.key."),
  Command.withExamples([
    {
      command: './sluice subject reidentify eml_k1_jmjc3wayzs3g2fm5n6scumidmy --reason "complaint, ticket 123"'
    }
  ])
)

export const subject = Command.make("subject").pipe(
  Command.withDescription(
    "Answer the request of a person for their data or its erasure, or find a person behind a pseudonym."
  ),
  Command.withExamples([{ command: "./sluice subject export --email jane@example.com" }]),
  Command.withSubcommands([subjectExport, subjectErase, reidentify])
)

const holdAdd = Command.make(
  "add",
  {
    ...common,
    id: Argument.String("id").pipe(Argument.withDescription("Name of the hold: case-2026-17.")),
    contact: list("contact", "Hold the records of this contact; may be repeated."),
    table: list("table", "Hold all records of this table, or of all with *; may be repeated."),
    reason: text("reason", "Why."),
    by: text("by", "Who sets it; without it, the user of the system.")
  },
  (flags) => load(import("./hold.ts"), (_) => _.holdAdd(flags))
).pipe(
  Command.withDescription("Keep records from erasure and retention until the hold is released."),
  Command.withExamples([{ command: './sluice hold add case-2026-17 --contact 3FpZ81kQ --reason "court order"' }])
)
const holdList = Command.make("list", common, (flags) => load(import("./hold.ts"), (_) => _.holdList(flags))).pipe(
  Command.withDescription("Print the holds."),
  Command.withExamples([{ command: "./sluice hold list" }])
)
const holdRelease = Command.make(
  "release",
  { ...common, id: Argument.String("id").pipe(Argument.withDescription("Name of the hold.")) },
  (flags) => load(import("./hold.ts"), (_) => _.holdRelease(flags))
).pipe(
  Command.withDescription("Release a hold."),
  Command.withExamples([{ command: "./sluice hold release case-2026-17" }])
)
export const hold = Command.make("hold").pipe(
  Command.withDescription("Keep records from erasure and retention, for a dispute or an audit."),
  Command.withExamples([{ command: "./sluice hold list" }]),
  Command.withSubcommands([holdAdd, holdList, holdRelease])
)

export const retention = Command.make(
  "retention",
  { ...common, apply: flag("apply", "Erase. Without it, the command only prints what it would remove.") },
  (flags) => load(import("./retention.ts"), (_) => _.retention(flags))
).pipe(
  Command.withDescription(
    "Erase the records that are older than the settings say, from the vault, the tables and the published files, and write a certificate."
  ),
  Command.withExamples([
    { command: "./sluice retention", description: "What would be removed." },
    { command: "./sluice retention --apply" }
  ])
)
