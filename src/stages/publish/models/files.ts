/** Reads the models of sluice, which are the dbt project in `models/` and its staging views, and those of the user. */
import { cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import {
  type Model,
  type ModelColumn,
  type ModelNumber,
  type ModelProblem,
  type ModelReference,
  modelOf,
  numberText
} from "./model.ts"
import { discover } from "../../../catalog/discover.ts"
import { contractOf } from "../contracts/contract.ts"
import { wrong } from "../../../values/finding.ts"
import type { StatedCurrencies } from "../../../settings/account.ts"
import { installed } from "../../../values/installation.ts"
import { currenciesFile, currenciesSql, stagingFiles, stagingViews, timeZonesFile, timeZonesSql } from "./staging.ts"

/** The dbt project of sluice. */
export const projectFolder = installed("models/")
const ownFolder = join(projectFolder, "marts")

/** `folder`: the models of the user, in any folders below it. If it cannot be read, that is a problem of its models only. */
export const readModels = async (
  folder: string | undefined,
  currencies?: StatedCurrencies
): Promise<ReadonlyArray<Model | ModelProblem>> => [
  modelOf({ file: currenciesFile, text: currenciesSql(currencies), ...staging }),
  modelOf({ file: timeZonesFile, text: timeZonesSql, ...staging }),
  ...Array.from(stagingViews(await ownTables()), ([file, text]) => modelOf({ file, text, ...staging })),
  ...(await modelsIn(join(projectFolder, "staging"), projectFolder)).map((one) => ({ ...one, ...staging })),
  ...(await modelsIn(ownFolder, projectFolder)),
  ...(folder === undefined ? [] : await modelsIn(folder, folder).catch((error) => [unreadable(folder, error)]))
]

const staging = { isView: true, isStaging: true }

/** The tables of sluice's own definitions. The sentences on the columns of views are those of their tables. */
const ownTables = async () => contractOf(await discover())

/** Writes the dbt project into a folder; returns how many generated files it has. */
export const writeProject = async (folder: string, currencies?: StatedCurrencies): Promise<number> => {
  const files = await stagingFiles(await ownTables())
  await cp(projectFolder, folder, { recursive: true })
  await mkdir(join(folder, "staging"), { recursive: true })
  files.set(currenciesFile, currenciesSql(currencies))
  files.set(timeZonesFile, timeZonesSql)
  for (const [path, text] of files) await writeFile(join(folder, path), text)
  return files.size
}

const unreadable = (folder: string, error: unknown): ModelProblem =>
  wrong(folder, `${folder} (models.folder) cannot be read: ${error instanceof Error ? error.message : String(error)}`)

const modelsIn = async (folder: string, shown: string): Promise<ReadonlyArray<Model | ModelProblem>> => {
  const files = (await readdir(folder, { recursive: true })).toSorted()
  const described = await descriptionsIn(folder, files)
  return Promise.all(
    files
      .filter((file) => file.endsWith(".sql"))
      .map(async (file) => {
        const text = await readFile(join(folder, file), "utf8")
        const path = relative(shown, join(folder, file))
        const { isView = false, ...rest } = described.get(basename(file, ".sql")) ?? {}
        // The failure of a view would only be seen by whoever reads it, so models of the user are stored.
        return modelOf({ file: path, text, ...rest, isView: isView && folder === ownFolder })
      })
  )
}

interface Description {
  readonly isView: boolean
  readonly description?: string
  readonly columns?: Readonly<Record<string, ModelColumn>>
  readonly key?: ReadonlyArray<string>
  readonly references?: ReadonlyArray<ModelReference>
}

/** The sentences of dbt's property files, and what their tests say about keys. The tests themselves are for dbt. */
const descriptionsIn = async (folder: string, files: ReadonlyArray<string>) => {
  const found = new Map<string, Description>()
  for (const file of files.filter((one) => /\.ya?ml$/.test(one))) {
    const content = await propertiesIn(join(folder, file))
    for (const { name, description, columns, config, data_tests } of content?.models ?? [])
      found.set(name, {
        isView: config?.meta?.is_view === true,
        ...(description && { description }),
        key: keyIn(data_tests, columns),
        references: (columns ?? []).flatMap((one) => referencesIn(one.name, one.data_tests)),
        columns: Object.fromEntries(
          (columns ?? []).map(({ name, description }) => {
            const number = config?.meta?.numbers?.[name]
            const said = number ? `${description ?? name}${numberText(number)}` : description
            return [
              name,
              { description: said, personalData: config?.meta?.personal_data?.[name], ...(number && { number }) }
            ]
          })
        )
      })
  }
  return found
}

/** What `models/marts/_metrics.yml` has. */
export const metricsFile = async () => (await propertiesIn<MetricsFile>(join(ownFolder, "_metrics.yml")))!

const propertiesIn = async <Content = Properties>(path: string): Promise<Content | undefined> => {
  if (dirname(path) === ownFolder) {
    // The build has read sluice's own file, because YAML takes a third of a second. The sources have not.
    const built = await readFile(installed(`${basename(path)}.json`), "utf8").catch(() => undefined)
    if (built !== undefined) return JSON.parse(built)
  }
  const { parse } = await import("yaml")
  return parse(await readFile(path, "utf8"))
}

/** A test by its name alone, or with its arguments. */
type Test = string | Readonly<Record<string, { readonly arguments?: TestArguments } | undefined>>

interface TestArguments {
  readonly column_name?: string
  readonly to?: string
  readonly field?: string
}
type Tests = ReadonlyArray<Test> | undefined
type Columns = NonNullable<Properties["models"]>[number]["columns"]

const hasTest = (tests: Tests, name: string): boolean =>
  (tests ?? []).some((test) => test === name || (typeof test === "object" && name in test))

const referencesIn = (column: string, tests: Tests): ReadonlyArray<ModelReference> =>
  (tests ?? []).flatMap((test) => {
    const { to = "", field } = (typeof test === "object" && test["relationships"]?.arguments) || {}
    const [, model] = /^ref\(\s*['"](\w+)['"]\s*\)$/.exec(to) ?? []
    return model === undefined || field === undefined ? [] : [{ column, to: { model, column: field } }]
  })

/** The columns of the test `unique` of a model, which are joined to one text, or the column that has this test. */
const keyIn = (tests: Tests, columns: Columns): ReadonlyArray<string> => {
  for (const test of tests ?? []) {
    const joined = typeof test === "object" ? test["unique"]?.arguments?.column_name : undefined
    const [, list] = /^concat_ws\('\|', ([\w, ]+)\)$/.exec(joined ?? "") ?? []
    if (list !== undefined) return list.split(", ")
  }
  return (columns ?? [])
    .filter((one) => hasTest(one.data_tests, "unique"))
    .map(({ name }) => name)
    .slice(0, 1)
}

interface Properties {
  readonly models?: ReadonlyArray<{
    readonly name: string
    readonly description?: string
    readonly data_tests?: Tests
    readonly columns?: ReadonlyArray<{
      readonly name: string
      readonly description?: string
      readonly data_tests?: Tests
    }>
    /** The classes of personal data are those of the columns: dbt does not allow such facts on a column in every version. */
    readonly config?: {
      readonly meta?: {
        /** Whether the DuckDB file has it as a view; dbt stores it. */
        readonly is_view?: boolean
        readonly personal_data?: Readonly<Record<string, string>>
        readonly numbers?: Readonly<Record<string, ModelNumber>>
      }
    }
  }>
}

export interface SemanticModel {
  /** `ref('fct_revenue')` */
  readonly model: string
  readonly defaults?: { readonly agg_time_dimension: string }
  readonly entities: ReadonlyArray<{ readonly expr: string }>
  readonly dimensions: ReadonlyArray<{ readonly name: string; readonly expr?: string }>
  readonly measures?: ReadonlyArray<{
    readonly name: string
    readonly agg: string
    readonly expr: string
    readonly agg_time_dimension?: string
    readonly non_additive_dimension?: { readonly name: string }
  }>
}

interface MetricsFile {
  readonly semantic_models: ReadonlyArray<SemanticModel>
  readonly metrics: ReadonlyArray<{
    readonly name: string
    readonly label: string
    readonly description: string
    /** A measure, or a share of two metrics before it. */
    readonly type_params: { readonly measure?: string; readonly numerator?: string; readonly denominator?: string }
    readonly filter?: ReadonlyArray<string>
    readonly config?: { readonly meta: { readonly unit: string } }
  }>
}
