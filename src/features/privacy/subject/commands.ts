/** The commands by which an account answers for personal data. */
import { Unjudged } from "../erasure/job.ts"
import { FileCounts } from "../commands/file-counts.ts"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { argument, common, flag, list, setting, text } from "../../../command/flags.ts"
import { load } from "../../../command/load.ts"
import { Hold } from "../erasure/hold.ts"
import { command, group } from "../../../command/command.ts"

const person = {
  email: list("email", "Email address of the person; may be repeated."),
  phone: list("phone", "Phone number of the person, in any spelling; may be repeated."),
  contact: list("contact", "Id of the person's contact; may be repeated."),
  all: flag("all", "Take every contact that shares an address with the person.")
}

const subjectExport = command({
  name: "export",
  summary:
    "Write everything that the tables contain about a person as a page, JSON and CSV, and say where nothing was found and why. Without --refresh, it sends no requests.",
  flags: {
    ...common,
    location: setting("location"),
    ...person,
    to: text(
      "to",
      "Folder to write, and the name of the zip file beside it; without it, exports/subject-<contact id> in the output folder."
    ),
    history: flag("history", "Include earlier versions of the rows."),
    refresh: flag("refresh", "Sync the tables that can contain a person first."),
    searchText: flag("search-text", "List records of others whose texts contain an address or the name of the person."),
    force: flag("force", "Replace the folder if it exists.")
  },
  examples: [
    { command: "./sluice subject export --email jane@example.com" },
    { command: "./sluice subject export --contact 3FpZ81kQ --to jane --history" }
  ],
  run: (flags) => load(import("../commands/subject-export.ts"), (_) => _.subjectExport(flags))
})

const subjectErase = command({
  name: "erase",
  summary:
    "Remove a person from the vault, the tables, the published files and the files of their records, search every file for them, and write a certificate. Later syncs do not store the person again.",
  flags: {
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
  examples: [
    { command: "./sluice subject erase --email jane@example.com", description: "What would be removed." },
    { command: './sluice subject erase --email jane@example.com --apply --reason "request of 3 March"' },
    { command: './sluice subject erase --contact 3FpZ81kQ --keep-financial --apply --reason "left us"' }
  ],
  run: (flags) => load(import("../commands/subject-erase.ts"), (_) => _.subjectErase(flags))
})

const reidentify = command({
  name: "reidentify",
  summary: "Find the contact for whom a pseudonym stands. Needs masking.key.",
  flags: {
    ...common,
    pseudonym: argument("pseudonym", "A pseudonym of a masked release: eml_k1_ and 26 characters."),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why the person has to be known; it is recorded."))
  },
  examples: [
    {
      command: './sluice subject reidentify eml_k1_jmjc3wayzs3g2fm5n6scumidmy --reason "complaint, ticket 123"'
    }
  ],
  run: (flags) => load(import("../commands/subject-reidentify.ts"), (_) => _.reidentify(flags))
})

export const subject = group({
  name: "subject",
  summary: "Answer the request of a person for their data or its erasure, or find a person behind a pseudonym.",
  commands: [subjectExport, subjectErase, reidentify]
})

const holdAdd = command({
  name: "add",
  summary: "Keep records from erasure and retention until the hold is released.",
  flags: {
    ...common,
    id: argument("id", "Name of the hold: case-2026-17."),
    contact: list("contact", "Hold the records of this contact; may be repeated."),
    table: list("table", "Hold all records of this table, or of all with *; may be repeated."),
    reason: text("reason", "Why."),
    by: text("by", "Who sets it; without it, the user of the system.")
  },
  examples: [{ command: './sluice hold add case-2026-17 --contact 3FpZ81kQ --reason "court order"' }],
  run: (flags) => load(import("../commands/hold.ts"), (_) => _.holdAdd(flags))
})
const holdList = command({
  name: "list",
  summary: "Print the holds.",
  flags: common,
  examples: [{ command: "./sluice hold list" }],
  run: (flags) => load(import("../commands/hold.ts"), (_) => _.holdList(flags))
})
const holdRelease = command({
  name: "release",
  summary: "Release a hold.",
  flags: { ...common, id: argument("id", "Name of the hold.") },
  examples: [{ command: "./sluice hold release case-2026-17" }],
  run: (flags) => load(import("../commands/hold.ts"), (_) => _.holdRelease(flags))
})
export const hold = group({
  name: "hold",
  summary: "Keep records from erasure and retention, for a dispute or an audit.",
  commands: [holdAdd, holdList, holdRelease]
})

export const retention = command({
  name: "retention",
  summary:
    "Erase the records that are older than the settings say, from the vault, the tables and the published files, and write a certificate.",
  flags: { ...common, apply: flag("apply", "Erase. Without it, the command only prints what it would remove.") },
  examples: [
    { command: "./sluice retention", description: "What would be removed." },
    { command: "./sluice retention --apply" }
  ],
  run: (flags) => load(import("../commands/retention.ts"), (_) => _.retention(flags))
})

/** What the commands print with `--json`. */
export const privacyResults = () => {
  /** The plan, or with `applied` the erasure. */
  const SubjectErase = Schema.Struct({
    applied: Schema.Boolean,
    /** Rows with their earlier versions, by table. */
    rows: Schema.Record(Schema.String, Schema.Int),
    records: Schema.Int,
    /** Financial records that stay without the person, and their rows by table. */
    recordsKept: Schema.Int,
    rowsKept: Schema.Record(Schema.String, Schema.Int),
    /** Records that stay because the rule, by age or by address, could not judge them. */
    unjudged: Schema.Array(Unjudged),
    ...FileCounts,
    /** Segments of the vault that were rewritten. */
    segments: Schema.optionalKey(Schema.Int),
    certificate: Schema.optionalKey(Schema.String),
    /** Whether everything in reach was searched, and no address of the person and no row of their records was found. */
    isErased: Schema.optionalKey(Schema.Boolean),
    found: Schema.optionalKey(
      Schema.Array(Schema.Struct({ place: Schema.String, label: Schema.String, form: Schema.String }))
    ),
    unsearched: Schema.optionalKey(Schema.Array(Schema.String)),
    /** The folders outside of the output folder that ever received data, and what is there now. */
    places: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          name: Schema.String,
          folder: Schema.String,
          state: Schema.Literals(["cleaned", "left", "removed", "out of reach"])
        })
      )
    )
  })
  const Contacts = Schema.Array(Schema.Struct({ id: Schema.String, location: Schema.String }))
  return {
    "subject-reidentify": Schema.Struct({
      pseudonym: Schema.String,
      /** Several if they share an address. */
      contacts: Schema.Array(
        Schema.Struct({
          location: Schema.String,
          id: Schema.String,
          name: Schema.String,
          email: Schema.String,
          phone: Schema.String
        })
      )
    }),
    "subject-export": Schema.Struct({
      folder: Schema.String,
      zip: Schema.String,
      /** `published`: another program had the warehouse open, and the rows are those of the last release. */
      source: Schema.Literals(["warehouse", "published"]),
      contacts: Contacts,
      /** Contacts that share an address with these and were not included. */
      others: Contacts,
      /** Contacts that may be the person. */
      possible: Schema.optionalKey(Contacts),
      /** Records that may be about the person, by the addresses that they have. */
      possibleRecords: Schema.optionalKey(
        Schema.Array(Schema.Struct({ table: Schema.String, location: Schema.String, key: Schema.String }))
      ),
      records: Schema.Int,
      tables: Schema.Array(Schema.Struct({ name: Schema.String, rows: Schema.Int })),
      files: Schema.Int,
      /** Texts of other records that contain an address or the name; only with `--search-text`. */
      candidates: Schema.optionalKey(Schema.Int),
      coverage: Schema.Array(
        Schema.Struct({
          resource: Schema.String,
          records: Schema.Int,
          mentions: Schema.Int,
          isComplete: Schema.Boolean,
          finding: Schema.String,
          completeAt: Schema.optionalKey(Schema.String)
        })
      )
    }),
    "subject-erase": SubjectErase,
    retention: SubjectErase,
    /** The holds after the command. */
    hold: Schema.Struct({ holds: Schema.Array(Hold) })
  }
}
