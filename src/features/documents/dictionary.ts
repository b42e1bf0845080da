/** `sluice dictionary`: the meaning of tables and columns, and what is read of every operation of the API. */
import { Effect } from "effect"
import { coverageOf } from "../../catalog/coverage.ts"
import {
  type DescribedTable,
  coverageTable,
  dictionary as wholeDictionary,
  describedTables,
  tableSection
} from "../../catalog/dictionary.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { choosableNames, namedTables } from "../../catalog/named-tables.ts"
import { closest, suggestion } from "../../settings/closest.ts"
import { defaultCatalogue } from "../../run/catalogue.ts"
import { columnLines, coverageLines, listLines } from "./dictionary-text.ts"
import { CommandError } from "../../run/console/errors.ts"
import { Output } from "../../run/console/output.ts"
import { printResult } from "../../run/result.ts"
import { terminalWidth } from "../../run/console/wrap.ts"

interface DictionaryFlags {
  /** Tables or families; empty: all. */
  readonly tables: ReadonlyArray<string>
  readonly json: boolean
  readonly coverage: boolean
  readonly personalData: boolean
  readonly html: boolean
}

/** On a terminal, aligned text; otherwise Markdown. */
export const dictionary = Effect.fn("cli.dictionary")(function* ({
  tables: names,
  json,
  coverage,
  personalData,
  html
}: DictionaryFlags) {
  const { print, say, stdout } = yield* Output
  const catalogue = yield* defaultCatalogue()
  const named = yield* chosenTables(catalogue, names)
  const chosen = personalData ? named.flatMap(personalOnly) : named
  const width = terminalWidth(stdout)
  if (html) {
    const { dictionaryPage } = yield* Effect.promise(() => import("../../stages/publish/contracts/dictionary-page.ts"))
    print((yield* Effect.promise(() => dictionaryPage(catalogue, chosen))).trimEnd())
    return 0
  }
  if (coverage) {
    const operations = coverageOf(catalogue)
    if (json) return yield* printResult("coverage", { exitCode: 0, data: { operations } })
    for (const line of width === undefined ? [coverageTable(catalogue)] : coverageLines(operations, width)) print(line)
    return 0
  }
  if (json) return yield* printResult("dictionary", { exitCode: 0, data: { tables: chosen.map(({ table }) => table) } })
  if (width === undefined) {
    print(
      names.length === 0 && !personalData
        ? wholeDictionary(catalogue)
        : chosen.map((one) => tableSection(catalogue, one)).join("\n\n")
    )
    return 0
  }
  const lines =
    names.length === 0 && !personalData
      ? listLines(chosen, width)
      : chosen.flatMap((one) => columnLines(catalogue, one, width))
  for (const line of lines) print(line)
  if (names.length === 0 && !personalData) say("Next: ./sluice dictionary contacts")
  return 0
})

/** The table with the columns that contain personal data; nothing if it has none. */
const personalOnly = (described: DescribedTable): ReadonlyArray<DescribedTable> => {
  const columns = described.table.columns.filter(({ personal }) => personal !== "none")
  return columns.length === 0 ? [] : [{ ...described, table: { ...described.table, columns } }]
}

const chosenTables = Effect.fnUntraced(function* (catalogue: Catalogue, names: ReadonlyArray<string>) {
  const all = describedTables(catalogue)
  const tables = all.map(({ table }) => table.name)
  const namesOf = (name: string) => namedTables(name, tables, catalogue.familyByTable)
  const unknown = names.find((name) => namesOf(name).length === 0)
  if (unknown !== undefined) {
    const near = closest(unknown, choosableNames(tables, catalogue.familyByTable))
    return yield* new CommandError({
      ends: "usage",
      message: `${unknown}: there is no such table or family${suggestion(near)}`,
      next: near === undefined ? "./sluice dictionary" : `./sluice dictionary ${near}`
    })
  }
  const named = new Set(names.flatMap(namesOf))
  return names.length === 0 ? all : all.filter(({ table }) => named.has(table.name))
})
