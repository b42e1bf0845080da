/** Builds models in schema `bi` of the DuckDB file that is attached. */
import { Effect } from "effect"
import type { Failure } from "../../values/failure.ts"
import { wrong } from "../../values/finding.ts"
import { type Model, type ModelProblem, type Source, refsOf, sourcesOf, sqlOf } from "./models/model.ts"
import { type StoredTable, type StoredTables, tablesIn } from "../../stores/warehouse/columns.ts"
import { query, queryTexts, whileAttached } from "../../stores/warehouse/query.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { catalogName } from "../../stores/warehouse/database.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { attachedName, inAttached } from "./snapshot.ts"

export const modelPath = (model: Pick<Model, "name">): string => `bi.${name(model.name)}`

/**
 * Builds `wanted`, keeps `kept`, and removes every other model from a file that has some; unless it is masked, except the table
 * of a model that cannot be built. Returns what is wrong with those models, and of those that are `known` already.
 */
export const buildModels = Effect.fn("publish.buildModels")(function* (
  wanted: ReadonlyArray<Model>,
  kept: ReadonlySet<string>,
  known: ReadonlyArray<ModelProblem>,
  { isMasked, isUpdated }: { readonly isMasked: boolean; readonly isUpdated: boolean }
): Effect.fn.Return<Built, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const problems = [...known]
  const build = Effect.gen(function* () {
    yield* warehouse.run("CREATE SCHEMA IF NOT EXISTS bi")
    // The statement that builds a table replaces the earlier one only if it succeeds.
    const replaced = wanted.filter(({ isView }) => !isView).map((model) => model.name)
    const stay = new Set(isMasked ? [] : [...replaced, ...known.map(({ where }) => where)])
    for (const [model, kind] of isUpdated ? yield* existingModels : [])
      if (!kept.has(model) && (kind === "VIEW" || !stay.has(model)))
        yield* warehouse.run(`DROP ${kind} bi.${name(model)}`)
    for (const models of withViewsTogether(wanted)) {
      // The failure of several does not name the one that cannot be built.
      if (models.length > 1 && problems.length === 0 && (yield* create(models)) === undefined) continue
      for (const model of models) {
        const missing = refsOf(model).find((ref) => problems.some(({ where }) => where === ref))
        const what = missing === undefined ? yield* create([model]) : `the model ${missing} could not be built`
        if (what !== undefined) problems.push(wrong(model.name, `${model.file}: ${what}`))
      }
    }
    const tables = yield* tablesIn(literal(attachedName), ["bi"])
    const built = wanted.filter((model) => !problems.some(({ where }) => where === model.name))
    const descriptions = built.flatMap((model) => descriptionsOf(model, tables.of(modelPath(model))))
    if (descriptions.length > 0) yield* warehouse.run(descriptions.join(";\n"))
    return { problems, tables }
  })
  return yield* inAttached(build)
})

interface Built {
  readonly problems: ReadonlyArray<ModelProblem>
  /** The models in the file, by `modelPath`. */
  readonly tables: StoredTables
}

/**
 * The models among `failed` whose earlier table is in the file. `earlier`: a DuckDB file of the release before, from which it
 * is taken if this file was written anew.
 */
export const keepEarlierTables = Effect.fn("publish.keepEarlierTables")(function* (
  failed: ReadonlySet<string>,
  earlier: string | undefined
): Effect.fn.Return<ReadonlyArray<string>, Failure, Warehouse> {
  if (failed.size === 0) return []
  const kept = new Set((yield* existingModels).map(([model]) => model).filter((model) => failed.has(model)))
  const missing = failed.difference(kept)
  if (earlier === undefined || missing.size === 0) return [...kept]
  const copy = Effect.gen(function* () {
    const found = yield* queryTexts(
      `SELECT table_name FROM duckdb_tables() WHERE database_name = '${earlierName}' AND schema_name = 'bi'`
    )
    for (const table of found)
      if (missing.has(table)) {
        yield* (yield* Warehouse).run(
          `CREATE TABLE ${attachedName}.bi.${name(table)} AS FROM ${earlierName}.bi.${name(table)}`
        )
        kept.add(table)
      }
  })
  yield* whileAttached(earlier, earlierName, copy)
  return [...kept]
})

const earlierName = "sluice_earlier"

/** Shows the tables of the warehouse in a file that has none, by the names that they have in the published one. */
export const showSources = Effect.fnUntraced(function* (models: ReadonlyArray<Model>) {
  const sources = new Map(models.flatMap(sourcesOf).map((source) => [sourceName(source), source]))
  yield* (yield* Warehouse).run(
    [
      ...["crm_history", "meta"].map((schema) => `CREATE SCHEMA ${attachedName}.${schema}`),
      ...[...sources].map(
        ([shown, { schema, table }]) =>
          `CREATE VIEW ${attachedName}.${shown} AS FROM ${catalogName}.${schema}.${name(table)}`
      )
    ].join(";\n")
  )
})

/** The models in the file, and whether each is a table or a view. */
const existingModels = Effect.map(
  query(
    { model: String, type: (type) => (type === "VIEW" ? "VIEW" : "TABLE") },
    `SELECT table_name AS model, table_type AS type FROM information_schema.tables
     WHERE table_catalog = ${literal(attachedName)} AND table_schema = 'bi'`
  ),
  (found) => found.map(({ model, type }) => [model, type] as const)
)

/** The models in order, each table alone and the views between two tables together: most models are views that cost little. */
const withViewsTogether = (models: ReadonlyArray<Model>): ReadonlyArray<ReadonlyArray<Model>> => {
  const groups: Array<Array<Model>> = []
  for (const model of models) {
    const last = groups.at(-1)
    if (model.isView && last?.[0]?.isView) last.push(model)
    else groups.push([model])
  }
  return groups
}

/** Returns what is wrong with the SQL of models. Other failures, such as a full disk, end the release. */
const create = (models: ReadonlyArray<Model>) => {
  const statements = models.map((model) => {
    const sql = sqlOf(model, (reference) =>
      "ref" in reference ? modelPath({ name: reference.ref }) : sourceName(reference.source)
    )
    return `CREATE OR REPLACE ${kindOf(model)} ${modelPath(model)} AS ${sql}`
  })
  return Effect.flatMap(Warehouse, ({ run }) => run(statements.join(";\n"))).pipe(
    Effect.as(undefined),
    Effect.catchIf(
      ({ reason }) => reason._tag === "StatementRejected" || reason._tag === "OutOfMemory",
      ({ reason }) => Effect.succeed("detail" in reason ? reason.detail : reason._tag)
    )
  )
}

const kindOf = ({ isView }: Model) => (isView ? "VIEW" : "TABLE")

/** The statements that describe a model and its columns that exist. */
const descriptionsOf = (model: Model, { columns }: StoredTable): ReadonlyArray<string> => {
  const existing = columns.map((column) => column.name)
  const path = modelPath(model)
  return [
    ...(model.description === undefined
      ? []
      : [`COMMENT ON ${kindOf(model)} ${path} IS ${literal(model.description)}`]),
    ...Object.entries(model.columns).flatMap(([column, { description }]) =>
      description !== undefined && existing.includes(column)
        ? [`COMMENT ON COLUMN ${path}.${name(column)} IS ${literal(description)}`]
        : []
    )
  ]
}

/** The current rows are in the main schema of the published file. */
const sourceName = ({ schema, table }: Source): string => `${schema === "crm" ? "main" : schema}.${name(table)}`
