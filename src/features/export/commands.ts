/** The commands that export the tables. The target is an argument, because `--output` is the output folder in every command. */
import * as Schema from "effect/Schema"
import { argument, common, flag, list, text } from "../../command/flags.ts"
import { load } from "../../command/load.ts"
import { command, group } from "../../command/command.ts"

const except = list("except", "Leave these tables or families out.")

const exportExcel = command({
  name: "excel",
  summary: "Write tables into one Excel workbook, each on a sheet of its own.",
  flags: {
    ...common,
    file: argument("file", "Excel workbook to write: contacts.xlsx."),
    only: list(
      "only",
      "Export these tables, wide views or families: contacts_wide,invoices,payments. The family of invoices is 'invoices/*'."
    ),
    except,
    deleted: flag("deleted", "Include deleted rows.")
  },
  examples: [
    { command: "./sluice export excel sales.xlsx --only contacts_wide,opportunities_wide,invoices" },
    { command: "./sluice export excel payments.xlsx --only payments", description: "All tables of a family." }
  ],
  run: (flags) => load(import("./export-excel.ts"), (_) => _.exportExcel(flags))
})

const exportBundle = command({
  name: "bundle",
  summary:
    "Write tables of the current release with checksums, control totals and the runs that read them, so that an auditor can check them without sluice: a bag (BagIt 1.0).",
  flags: {
    ...common,
    target: argument("target", "Folder to write; a file if the name ends in .tar or .zip."),
    only: list("only", "Export these tables or families: contacts,payments,'invoices/*'. Without it, all tables."),
    except,
    sign: text("sign", "Sign with a key outside of the output folder: minisign:FILE or ssh:FILE."),
    profile: text("profile", "Take the release of the [[publish]] folder with this profile, such as analytics."),
    force: flag("force", "Replace an existing bundle.")
  },
  examples: [
    { command: "./sluice export bundle audit-2026-11" },
    {
      command: "./sluice export bundle invoices.zip --only 'invoices/*,payments'",
      description: "Two families, as one file."
    }
  ],
  run: (flags) => load(import("./export-bundle.ts"), (_) => _.exportBundle(flags))
})

const exportVerify = command({
  name: "verify",
  summary:
    "Check a bundle: every file, its checksums, its description and its control totals. Ends with exit code 0 only if everything was compared and agrees. Changes nothing.",
  flags: { folder: argument("folder", "Folder of a bundle."), json: common.json },
  examples: [{ command: "./sluice export verify audit-2026-11" }],
  run: (flags) => load(import("./export-verify.ts"), (_) => _.exportVerify(flags))
})

export const exportTables = group({
  name: "export",
  summary: "Export tables: into an Excel workbook, or with everything that an auditor needs.",
  commands: [exportExcel, exportBundle, exportVerify]
})

/** What the commands print with `--json`. */
export const exportResults = () => ({
  "export-excel": Schema.Struct({
    file: Schema.String,
    sheets: Schema.Array(Schema.Struct({ name: Schema.String, table: Schema.String, rows: Schema.Int })),
    rows: Schema.Int,
    /** Values that are longer than a cell. */
    cut: Schema.Int
  }),
  "export-bundle": Schema.Struct({
    path: Schema.String,
    format: Schema.Literals(["folder", "tar", "zip"]),
    /** The run that published the release. */
    run: Schema.String,
    writtenAt: Schema.String,
    tables: Schema.Int,
    rows: Schema.Int,
    /** Of the payload. */
    files: Schema.Int,
    bytes: Schema.Int,
    /** SHA-256 of manifest-sha256.txt, which identifies the content. */
    manifestSha256: Schema.String
  }),
  "export-verify": Schema.Struct({
    folder: Schema.String,
    /** Whether everything was compared and agrees. */
    isIntact: Schema.Boolean,
    /** Of the payload. */
    files: Schema.Int,
    bytes: Schema.Int,
    /** The number of tables whose control totals agree with every file. */
    tables: Schema.Int,
    findings: Schema.Array(
      Schema.Struct({ level: Schema.Literals(["wrong", "notCompared"]), where: Schema.String, what: Schema.String })
    )
  })
})
