/** `sluice dictionary`: the meaning of tables, models and columns, and what is read of every operation of the API. */
import { Effect } from "effect"
import { coverageOf } from "../../catalog/coverage.ts"
import {
  coverageTable,
  describedTables,
  dictionary as wholeDictionary,
  markdownOf,
  tableDescribed
} from "../../catalog/dictionary.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import type { PersonalData } from "../../catalog/personal-data.ts"
import { choosableNames, namedTables } from "../../catalog/published-tables.ts"
import type { Flags } from "../../settings/read.ts"
import { closest, suggestion } from "../../settings/closest.ts"
import { defaultCatalogue } from "../../command/catalogue.ts"
import { columnLines, coverageLines, listLines } from "./dictionary-text.ts"
import { modelDescribed, modelFamily, modelSections } from "../../stages/publish/models/dictionary.ts"
import { usageError } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { info, shown } from "../../console/result.ts"
import { terminalWidth } from "../../values/text.ts"

interface DictionaryFlags {
  /** Tables or families; empty: all. */
  readonly tables: ReadonlyArray<string>
  readonly coverage: boolean
  readonly personalData: boolean
  readonly as: "html" | undefined
  readonly config: string | undefined
  readonly output: string | undefined
}

/** Aligned text if it goes to a terminal, otherwise Markdown. */
export const dictionary = Effect.fn("command.dictionary")(function* ({
  tables: names,
  coverage,
  personalData,
  as,
  ...settings
}: DictionaryFlags) {
  const { print, stdout } = yield* Output
  const catalogue = yield* defaultCatalogue(settings)
  // The models can be described only with a database.
  const onlyTables = coverage || (names.length > 0 && names.every((name) => catalogue.familyByTable.has(name)))
  const models = onlyTables ? [] : yield* allModels(catalogue, settings)
  const isNamed = yield* namedBy(catalogue, models, names)
  const chosenOf = <A extends Named & WithColumns>(one: A): ReadonlyArray<A> =>
    isNamed(one) ? (personalData ? personalOnly(one) : [one]) : []
  const chosen = describedTables(catalogue).flatMap((one) => chosenOf(one.table).map((table) => ({ ...one, table })))
  const chosenModels = models.flatMap(chosenOf)
  const described = [...chosen.map((one) => tableDescribed(catalogue, one)), ...chosenModels.map(modelDescribed)]
  const width = terminalWidth(stdout)
  if (as) {
    const { dictionaryPage } = yield* Effect.promise(() => import("../../stages/publish/contracts/dictionary-page.ts"))
    const { accountFacts } = yield* Effect.promise(() => import("./account-facts.ts"))
    const facts = yield* accountFacts(settings)
    print(dictionaryPage(catalogue, described, facts).trimEnd())
    return 0
  }
  if (coverage) {
    const operations = coverageOf(catalogue)
    return shown("coverage", { exitCode: 0, data: { operations } }, () =>
      width === undefined ? [coverageTable(catalogue)] : coverageLines(operations, width)
    )
  }
  const isWhole = names.length === 0 && !personalData
  const data = { tables: chosen.map(({ table }) => table), models: chosenModels }
  return shown("dictionary", { exitCode: 0, data }, () => {
    if (width === undefined)
      return isWhole
        ? [wholeDictionary(catalogue), "", modelSections(models)]
        : [described.map(markdownOf).join("\n\n")]
    return isWhole
      ? [...listLines(described, width), info("Next: ./sluice dictionary contacts")]
      : described.flatMap((one) => columnLines(one, width))
  })
})

interface Named {
  readonly name: string
}

interface WithColumns {
  readonly columns: ReadonlyArray<{ readonly personal: PersonalData }>
}

/** The table or model with the columns that contain personal data; nothing if it has none. */
const personalOnly = <A extends WithColumns>(one: A): ReadonlyArray<A> => {
  const columns = one.columns.filter(({ personal }) => personal !== "none")
  return columns.length === 0 ? [] : [{ ...one, columns }]
}

const allModels = Effect.fnUntraced(function* (catalogue: Catalogue, settings: Flags) {
  const { defaultModels } = yield* Effect.promise(() => import("../../command/default-models.ts"))
  return yield* defaultModels(catalogue, settings)
})

/** A model is named with its schema or without. */
const namedBy = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  models: ReadonlyArray<Named>,
  names: ReadonlyArray<string>
) {
  const families = new Map([...catalogue.familyByTable, ...models.map(({ name }) => [name, modelFamily] as const)])
  const all = [...families.keys()]
  const namesOf = (written: string) => namedTables(written.replace(/^bi\./, ""), all, families)
  const unknown = names.find((name) => namesOf(name).length === 0)
  if (unknown !== undefined) {
    const near = closest(unknown, choosableNames(all, families))
    return yield* usageError(
      `${unknown}: there is no such table, model or family${suggestion(near)}`,
      near === undefined ? "./sluice dictionary" : `./sluice dictionary ${near}`
    )
  }
  const named = new Set(names.flatMap(namesOf))
  return ({ name }: Named) => names.length === 0 || named.has(name)
})
