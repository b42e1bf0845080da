/** The commands that export the tables. The target is an argument, because `--output` is the output folder in every command. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { common, flag, list } from "./flags.ts"
import { load } from "./load.ts"

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

export const exportTables = Command.make("export").pipe(
  Command.withDescription("Export tables into an Excel workbook."),
  Command.withExamples([{ command: "./sluice export excel contacts.xlsx --only contacts" }]),
  Command.withSubcommands([exportExcel])
)
