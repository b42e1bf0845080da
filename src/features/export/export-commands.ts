/** The commands that export the tables. The target is an argument, because `--output` is the output folder in every command. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { common, flag, list, text } from "../../run/flags.ts"
import { load } from "../../run/load.ts"

const except = list("except", "Leave these tables or families out.")

const exportExcel = Command.make(
  "excel",
  {
    ...common,
    file: Argument.String("file").pipe(Argument.withDescription("Excel workbook to write: contacts.xlsx.")),
    only: list("only", "Export these tables, wide views or families: contacts_wide,payments."),
    except,
    deleted: flag("deleted", "Include deleted rows.")
  },
  (flags) => load(import("./export-excel.ts"), (_) => _.exportExcel(flags))
).pipe(
  Command.withDescription("Write tables into one Excel workbook, each on a sheet of its own."),
  Command.withExamples([
    { command: "./sluice export excel sales.xlsx --only contacts_wide,opportunities_wide,invoices" },
    { command: "./sluice export excel payments.xlsx --only payments", description: "All tables of a family." }
  ])
)

const exportBundle = Command.make(
  "bundle",
  {
    ...common,
    target: Argument.String("target").pipe(
      Argument.withDescription("Folder to write; a file if the name ends in .tar or .zip.")
    ),
    only: list("only", "Export these tables or families: contacts,payments. Without it, all tables."),
    except,
    sign: text("sign", "Sign with a key outside of the output folder: minisign:FILE or ssh:FILE."),
    timestamp: text("timestamp", "Request a timestamp (RFC 3161) from this URL of an authority."),
    profile: text("profile", "Take the release of the [[publish]] folder with this profile, such as analytics."),
    encryptTo: list("encrypt-to", "Encrypt a .tar.age or .zip.age to this recipient of age; may be repeated."),
    force: flag("force", "Replace an existing bundle.")
  },
  (flags) => load(import("./export-bundle.ts"), (_) => _.exportBundle(flags))
).pipe(
  Command.withDescription(
    "Write tables of the current release with checksums, control totals and the runs that read them, so that an auditor can check them without sluice: a bag (BagIt 1.0)."
  ),
  Command.withExamples([
    { command: "./sluice export bundle audit-2026-11" },
    {
      command: "./sluice export bundle invoices.zip --only invoices,payments",
      description: "Two families, as one file."
    }
  ])
)

const exportVerify = Command.make(
  "verify",
  { folder: Argument.String("folder").pipe(Argument.withDescription("Folder of a bundle.")), json: common.json },
  (flags) => load(import("./export-verify.ts"), (_) => _.exportVerify(flags))
).pipe(
  Command.withDescription(
    "Check a bundle: every file, its checksums, its description and its control totals. Ends with exit code 0 only if everything was compared and agrees. Changes nothing."
  ),
  Command.withExamples([{ command: "./sluice export verify audit-2026-11" }])
)

export const exportTables = Command.make("export").pipe(
  Command.withDescription("Export tables: into an Excel workbook, or with everything that an auditor needs."),
  Command.withExamples([
    { command: "./sluice export excel contacts.xlsx --only contacts" },
    { command: "./sluice export bundle audit-2026-11" },
    { command: "./sluice export verify audit-2026-11" }
  ]),
  Command.withSubcommands([exportExcel, exportBundle, exportVerify])
)
