/** `sluice dictionary`: the meaning of tables, models and columns, and what is read of every operation of the API. */
import { Effect } from "effect"
import { coverageOf } from "../../catalog/coverage.ts"
import {
  type DescribedTable,
  coverageTable,
  describedTables,
  dictionary as wholeDictionary,
  tableSection
} from "../../catalog/dictionary.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { choosableNames, namedTables } from "../../catalog/published-tables.ts"
import { closest, suggestion } from "../../settings/closest.ts"
import { defaultCatalogue } from "../../run/catalogue.ts"
import { columnLines, coverageLines, entryOf, listLines, modelEntry } from "./dictionary-text.ts"
import type { DescribedModel } from "../../stages/publish/models/described.ts"
import { modelFamily, modelSection, modelSections } from "../../stages/publish/models/dictionary.ts"
import { CommandError } from "../../run/console/errors.ts"
import { Output } from "../../run/console/output.ts"
import { printResult } from "../../run/result.ts"
import { terminalWidth } from "../../values/text.ts"

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
  const known = describedTables(catalogue)
  // To describe the models takes a database.
  const onlyTables = coverage || (names.length > 0 && names.every((name) => catalogue.familyByTable.has(name)))
  const models = onlyTables ? [] : yield* allModels(catalogue)
  const named = yield* chosenFrom(known, models, catalogue, names)
  const chosen = personalData ? named.tables.flatMap(personalOnly) : named.tables
  const chosenModels = personalData ? named.models.flatMap(personalColumns) : named.models
  const width = terminalWidth(stdout)
  if (html) {
    const { dictionaryPage } = yield* Effect.promise(() => import("../../stages/publish/contracts/dictionary-page.ts"))
    const { accountFacts } = yield* Effect.promise(() => import("./account-facts.ts"))
    const facts = yield* accountFacts
    const page = { tables: chosen, models: chosenModels, facts }
    print((yield* Effect.promise(() => dictionaryPage(catalogue, page))).trimEnd())
    return 0
  }
  if (coverage) {
    const operations = coverageOf(catalogue)
    if (json) return yield* printResult("coverage", { exitCode: 0, data: { operations } })
    for (const line of width === undefined ? [coverageTable(catalogue)] : coverageLines(operations, width)) print(line)
    return 0
  }
  if (json) {
    const data = { tables: chosen.map(({ table }) => table), models: chosenModels }
    return yield* printResult("dictionary", { exitCode: 0, data })
  }
  const isWhole = names.length === 0 && !personalData
  if (width === undefined) {
    print(
      isWhole
        ? `${wholeDictionary(catalogue)}\n\n${modelSections(models)}`
        : [...chosen.map((one) => tableSection(catalogue, one)), ...chosenModels.map(modelSection)].join("\n\n")
    )
    return 0
  }
  const entries = [...chosen.map((one) => entryOf(catalogue, one)), ...chosenModels.map(modelEntry)]
  const lines = isWhole ? listLines(entries, width) : entries.flatMap((one) => columnLines(one, width))
  for (const line of lines) print(line)
  if (names.length === 0 && !personalData) say("Next: ./sluice dictionary contacts")
  return 0
})

/** The table with the columns that contain personal data; nothing if it has none. */
const personalOnly = (described: DescribedTable): ReadonlyArray<DescribedTable> => {
  const columns = described.table.columns.filter(({ personal }) => personal !== "none")
  return columns.length === 0 ? [] : [{ ...described, table: { ...described.table, columns } }]
}

/** The models with the columns that contain personal data. */
const personalColumns = (model: DescribedModel): ReadonlyArray<DescribedModel> => {
  const columns = model.columns.filter(({ personal }) => personal !== "none")
  return columns.length === 0 ? [] : [{ ...model, columns }]
}

const allModels = Effect.fnUntraced(function* (catalogue: Catalogue) {
  const { defaultModels } = yield* Effect.promise(() => import("../../run/default-models.ts"))
  return yield* defaultModels(catalogue)
})

/** A model is named with its schema or without. */
const chosenFrom = Effect.fnUntraced(function* (
  tables: ReadonlyArray<DescribedTable>,
  models: ReadonlyArray<DescribedModel>,
  catalogue: Catalogue,
  names: ReadonlyArray<string>
) {
  const modelNames = models.map(({ name }) => name)
  const all = [...tables.map(({ table }) => table.name), ...modelNames]
  const families = new Map([...catalogue.familyByTable, ...modelNames.map((name) => [name, modelFamily] as const)])
  const namesOf = (written: string) => namedTables(written.replace(/^bi\./, ""), all, families)
  const unknown = names.find((name) => namesOf(name).length === 0)
  if (unknown !== undefined) {
    const near = closest(unknown, choosableNames(all, families))
    return yield* new CommandError({
      ends: "usage",
      message: `${unknown}: there is no such table, model or family${suggestion(near)}`,
      next: near === undefined ? "./sluice dictionary" : `./sluice dictionary ${near}`
    })
  }
  if (names.length === 0) return { tables, models }
  const named = new Set(names.flatMap(namesOf))
  return {
    tables: tables.filter(({ table }) => named.has(table.name)),
    models: models.filter(({ name }) => named.has(name))
  }
})
