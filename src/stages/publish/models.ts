/**
 * The models of a release: in schema `bi` of the DuckDB file, and those that are tables also as Parquet and CSV. Without the
 * DuckDB file they are built in a temporary one. A model is built again if its SQL or one of its sources changed.
 */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { constants } from "node:fs"
import { copyFile, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { type FailedModel, storeModelProblems } from "../../stores/warehouse/meta/model-problems.ts"
import { storeUnknownStates, unknownStatesModel } from "../../stores/warehouse/meta/unknown-states.ts"
import { type Model, type Source, refsOf, sourcesOf } from "./models/model.ts"
import type { Ordered } from "./models/order.ts"
import { snapshotName } from "../../output/paths.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { buildModels, keepEarlierTables, modelPath, showSources } from "./build-models.ts"
import type { Changes } from "./changes.ts"
import type { StoredTables } from "../../stores/warehouse/columns.ts"
import { type Put, type ReleaseFormat, type earlierFiles, linkEarlier, putRows } from "./put.ts"
import type { Making } from "./release.ts"
import type { Rows } from "../../stores/formats/format.ts"
import { metadataFrom } from "../../stores/formats/metadata.ts"
import { attachedName, withAttached } from "./snapshot.ts"

/** The versions of models by name: a model with an equal version has equal rows. */
export type ModelVersions = Readonly<Record<string, string>>

/** Increase it when the program builds other rows from the same SQL. */
const layout = 1

/**
 * Tables of `meta` change with every run, which alone is no reason for a release; but another day of the last complete readings,
 * `days`, is one: what was due yesterday is overdue today.
 */
export const modelVersions = (
  { models }: Ordered,
  versions: Changes["versions"],
  days: ReadonlyArray<string>
): ModelVersions => {
  const found: Record<string, string> = {}
  const versionOf = ({ schema, table }: Source) =>
    schema === "meta" ? [schema, table === "watermarks" ? days : []].flat().join(" ") : versions[table]
  for (const model of models) {
    const inputs = [...refsOf(model).map((ref) => found[ref]), ...sourcesOf(model).map(versionOf)]
    found[model.name] = hash("sha256", JSON.stringify([layout, model, inputs])).slice(0, 32)
  }
  return found
}

/** Of each view, what its columns follow from as long as the tables of the warehouse have theirs: a view needs no update for new rows. */
export const viewShapes = ({ models }: Ordered): ModelVersions => {
  const found: Record<string, string> = {}
  const ofViews: Record<string, string> = {}
  for (const model of models) {
    const inputs = refsOf(model).map((ref) => found[ref])
    const shape = hash("sha256", JSON.stringify([layout, model, inputs])).slice(0, 32)
    found[model.name] = shape
    if (model.isView) ofViews[model.name] = shape
  }
  return ofViews
}

export interface PutModels {
  readonly files: ReadonlyArray<Put>
  /** Models that could not be built, and those that refer to them. The release has an earlier table of some. */
  readonly problems: ReadonlyArray<FailedModel>
}

interface ModelOptions {
  readonly fileFormats: ReadonlyArray<ReleaseFormat>
  readonly filesBefore: ReturnType<typeof earlierFiles>
  readonly hasDatabase: boolean
  /** The DuckDB file is an updated copy of the previous release's, which has its models. */
  readonly isUpdated: boolean
  readonly isMasked?: boolean | undefined
}

export const putModels = Effect.fn("publish.models")(function* (
  ordered: Ordered,
  versions: ModelVersions,
  { fileFormats, filesBefore, hasDatabase, isUpdated, isMasked = false }: ModelOptions,
  { building, previous, stored }: Making
): Effect.fn.Return<PutModels, Failure, Warehouse> {
  const { models, problems: wrong } = ordered
  const before = previous?.manifest
  const failedBefore = (before?.problems ?? []).map(({ model }) => model)
  const again = new Set([...dependentOnRuns(models), ...failedBefore])
  const shapes = viewShapes(ordered)
  const changed = new Set<Model>()
  for (const model of models)
    if (model.isView && isUpdated ? isOtherView(model) : hasOtherRows(model)) changed.add(model)
  const wanted = hasDatabase ? (isUpdated ? [...changed] : models) : withReferences(models, changed)
  if (models.length === 0 && !isUpdated) return { files: [], problems: wrong }

  const built = Effect.gen(function* () {
    if (!hasDatabase) yield* showSources(wanted)
    const kept = new Set(isUpdated ? models.filter((model) => !changed.has(model)).map(({ name }) => name) : [])
    const built = yield* buildModels(wanted, kept, wrong, { isMasked, isUpdated })
    const failed = new Set(built.problems.map(({ where }) => where))
    const earlierFiles = isMasked ? [] : yield* linkEarlierOf([...failed])
    const stale = new Set([
      ...earlierFiles.map(({ table }) => table),
      ...(isMasked ? [] : yield* earlierTables(failed)).map((model) => tableName({ name: model }))
    ])
    const problems = built.problems.map((one): FailedModel => {
      const kept = stale.has(tableName({ name: one.where })) ? keptOf(one.where) : undefined
      return { ...one, ...(kept && { kept }) }
    })
    if (hasDatabase) yield* (yield* Warehouse).transaction(storeModelProblems(problems, attachedName))
    if (!isMasked && !failed.has(unknownStatesModel) && models.some(({ name }) => name === unknownStatesModel))
      yield* (yield* Warehouse).run(storeUnknownStates(attachedName))
    const put = yield* Effect.forEach(
      models.filter((model) => !model.isStaging && !failed.has(model.name)),
      (model) => putEach(model, () => rowsOf(model, built.tables))
    )
    return { files: [...put.flat(), ...earlierFiles], problems }
  })
  if (hasDatabase) return yield* built
  const path = join(building, temporaryName)
  const result = yield* withAttached(path, stored, built)
  yield* onDisk(path, "removed", () => rm(path))
  return result

  function hasOtherRows(model: Model): boolean {
    return (
      again.has(model.name) ||
      before?.state.models?.[model.name] !== versions[model.name] ||
      (!model.isStaging && fileFormats.some(({ name }) => filesBefore(name, tableName(model)) === undefined))
    )
  }

  /** What a view refers to may have other columns, or none, once it is built again. */
  function isOtherView(model: Model): boolean {
    return (
      failedBefore.includes(model.name) ||
      before?.state.views?.[model.name] !== shapes[model.name] ||
      refsOf(model).some((ref) => [...changed].some(({ name }) => name === ref))
    )
  }

  function linkEarlierOf(failed: ReadonlyArray<string>) {
    const files = failed.flatMap((model) =>
      fileFormats.flatMap(({ name }) => filesBefore(name, tableName({ name: model })) ?? [])
    )
    return Effect.forEach(files, (file) => linkEarlier(file, building))
  }

  /** The failed models that have a table in the DuckDB file. A file that is written anew gets those of the release before. */
  function earlierTables(failed: ReadonlySet<string>) {
    return Effect.gen(function* () {
      const isThere = failed.size > 0 && before?.files.some(({ path }) => path === snapshotName)
      if (isUpdated || !isThere || !previous) return yield* keepEarlierTables(failed, undefined)
      // A copy, because a reader may have locked the file.
      const copy = join(building, earlierName)
      const from = join(previous.folder, snapshotName)
      yield* onDisk(copy, "written", () => copyFile(from, copy, constants.COPYFILE_FICLONE))
      const kept = yield* keepEarlierTables(failed, copy)
      yield* onDisk(copy, "removed", () => rm(copy))
      return kept
    })
  }

  /** Since when the table of a model that cannot be built is out of date. */
  function keptOf(model: string): FailedModel["kept"] {
    const known = before?.problems?.find((one) => one.model === model)
    if (known) return known.kept
    return before?.confirmedAt === undefined ? undefined : { run: before.run, at: before.confirmedAt }
  }

  function putEach(model: Model, rowsOfModel: () => Rows) {
    let rows = rowsOfModel
    return Effect.forEach(
      fileFormats,
      Effect.fnUntraced(function* ({ format, name }): Effect.fn.Return<Put, Failure, Warehouse> {
        const change = hasOtherRows(model) ? "all" : "none"
        const putting = { folder: join(name, "bi"), change, before: filesBefore(name, tableName(model)) } as const
        const file = yield* putRows(rows, format, putting, building)
        if ("sha256" in file) return file
        // To read a file takes half the time of most views.
        const isExact =
          change === "all" && format.reading?.areTexts === false && rows().columns.every(({ type }) => exact.test(type))
        const from = isExact && format.reading.from([join(building, file.path)], [])
        if (from) rows = () => ({ ...rowsOfModel(), from })
        return { ...file, table: tableName(model) }
      })
    )
  }
})

const rowsOf = (model: Model, tables: StoredTables): Rows => ({
  name: model.name,
  from: `${attachedName}.${modelPath(model)}`,
  columns: tables.of(modelPath(model)).columns,
  metadata: metadataFrom(model.description ?? "", { columns: model.columns })
})

/** Types that files have as tables do: a HUGEINT becomes a DOUBLE. */
const exact = /^(VARCHAR|JSON|BOOLEAN|INTEGER|BIGINT|DOUBLE|DATE|TIMESTAMP( WITH TIME ZONE)?|DECIMAL\(\d+,\d+\))$/

/** The name in the manifest. */
const tableName = ({ name }: Pick<Model, "name">): string => `bi.${name}`

const temporaryName = ".models.duckdb"
const earlierName = ".earlier.duckdb"

/** The models that depend on the state of the runs. They are built again with every release. */
export const dependentOnRuns = (models: ReadonlyArray<Model>): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const model of models)
    if (sourcesOf(model).some(({ schema }) => schema === "meta") || refsOf(model).some((ref) => found.has(ref)))
      found.add(model.name)
  return found
}

/** Some models and all to which they refer, in order. */
const withReferences = (models: ReadonlyArray<Model>, some: ReadonlySet<Model>): ReadonlyArray<Model> => {
  const found = new Set([...some].map(({ name }) => name))
  for (const model of models.toReversed()) if (found.has(model.name)) for (const ref of refsOf(model)) found.add(ref)
  return models.filter(({ name }) => found.has(name))
}
