/** The tables of a release, as they are in its DuckDB file, which is open, and as PostgreSQL gets them. */
import * as Effect from "effect/Effect"
import { query } from "../../stores/warehouse/query.ts"
import { name } from "../../stores/warehouse/sql.ts"
import type { WideView } from "../../stores/warehouse/wide-view.ts"
import type { TableName } from "../../stages/publish/changes.ts"
import type { WholeManifest } from "../../stages/publish/manifest.ts"
import { dependentOnRuns } from "../../stages/publish/models.ts"
import type { Model } from "../../stages/publish/models/model.ts"
import { orNull } from "../../values/rows.ts"
import { type Shape, postgresName, postgresType } from "./shape.ts"

export interface ReleaseTable extends Shape {
  /** In the state and the manifest: `contacts`, `bi.dim_contact`. */
  readonly name: string
  /** In the DuckDB file: schema and table. */
  readonly schema: "main" | "bi"
  readonly table: string
  /** Names in DuckDB of the columns that identify a row. */
  readonly duckdbKey: ReadonlyArray<string>
  readonly wide: WideView | undefined
  /** The records to which its rows belong; absent for models. */
  readonly records?: { readonly resource: string; readonly key: ReadonlyArray<string> }
  /** Equal versions have equal rows. */
  readonly version: string
  /** How many rows it has; `undefined`: the file has a view. */
  readonly rows: number | undefined
}

/** Where the models of a schema are. */
export const modelSchema = (schema: string): string => `${schema}_bi`

/** More columns than PostgreSQL stores in a table. */
const columnsMax = 1590

export const releaseTables = Effect.fn("postgres.releaseTables")(function* (
  schema: string,
  { run, state }: Pick<WholeManifest, "run" | "state">,
  tables: ReadonlyArray<TableName>,
  models: ReadonlyArray<Model>
) {
  const stored = new Map(
    (yield* query(
      { path: String, comment: textOf, rows: orNull(Number) },
      `SELECT schema_name || '.' || table_name AS path, comment, estimated_size AS rows FROM duckdb_tables() WHERE database_name = 'crm'
       UNION ALL SELECT schema_name || '.' || view_name, comment, NULL FROM duckdb_views() WHERE database_name = 'crm' AND NOT internal`
    )).map((one) => [one.path, one])
  )
  const columns = Map.groupBy(
    yield* query(
      { path: String, name: String, type: String, comment: textOf },
      `SELECT schema_name || '.' || table_name AS path, column_name AS name, data_type AS type, comment FROM duckdb_columns()
       WHERE database_name = 'crm' AND schema_name IN ('main', 'bi') ORDER BY column_index`
    ),
    ({ path }) => path
  )
  const tooMany: Array<string> = []
  const found = namedTables({ run, state }, tables, models).flatMap(([one, keys]) => {
    const path = `${one.schema}.${one.table}`
    const its = columns.get(path)
    if (its !== undefined && its.length > columnsMax) tooMany.push(one.name)
    if (its === undefined || its.length > columnsMax) return []
    const { comment, rows } = stored.get(path)!
    const shape = shaped(one, keys, one.schema === "bi" ? modelSchema(schema) : schema, its, comment)
    return [{ ...shape, rows: rows ?? undefined }]
  })
  if (tooMany.length > 0)
    yield* Effect.annotateLogs(Effect.logWarning("tables with more columns than PostgreSQL stores are left out"), {
      tables: tooMany.join(", "),
      columns_max: columnsMax
    })
  return found
})

interface Keys {
  readonly key: ReadonlyArray<string>
  readonly indexed: ReadonlyArray<string>
}

type Named = Pick<ReleaseTable, "name" | "schema" | "table" | "wide" | "version" | "records">

/** The tables and models of a release with their keys, whether its DuckDB file has them or not. */
const namedTables = (
  { run, state }: Pick<WholeManifest, "run" | "state">,
  tables: ReadonlyArray<TableName>,
  models: ReadonlyArray<Model>
): ReadonlyArray<readonly [Named, Keys]> => {
  const ofRuns = dependentOnRuns(models)
  return [
    ...tables.map((table): readonly [Named, Keys] => [
      {
        name: table.name,
        schema: "main",
        table: table.name,
        wide: table.wide,
        version: state.versions[table.name]!,
        records: { resource: table.resource, key: table.recordKey }
      },
      {
        key: table.wide ? ["location_id", ...table.key] : table.key,
        indexed: table.definition.columns.flatMap(({ name, references, role }) =>
          references !== undefined || role === "contact" || role === "created" || role === "changed" ? [name] : []
        )
      }
    ]),
    ...models
      .filter(({ isStaging }) => !isStaging)
      .map((model): readonly [Named, Keys] => [
        {
          name: `bi.${model.name}`,
          schema: "bi",
          table: model.name,
          wide: undefined,
          // Each release has other rows of these.
          version: `${state.models![model.name]}${ofRuns.has(model.name) ? ` ${run}` : ""}`
        },
        { key: model.key, indexed: model.references.map(({ column }) => column) }
      ])
  ]
}

const shaped = (
  one: Named,
  keys: Keys,
  schema: string,
  columns: ReadonlyArray<{ readonly name: string; readonly type: string; readonly comment: string | undefined }>,
  comment: string | undefined
): Omit<ReleaseTable, "rows"> => {
  const existing = new Set(columns.map((column) => column.name))
  const duckdbKey = keys.key.every((column) => existing.has(column)) ? keys.key : []
  return {
    ...one,
    path: `${name(schema)}.${name(postgresName(one.table))}`,
    comment,
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type,
      as: postgresName(column.name),
      sql: postgresType(column.type),
      comment: column.comment
    })),
    duckdbKey,
    key: duckdbKey.map(postgresName),
    indexed: keys.indexed.filter((column) => existing.has(column)).map(postgresName)
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
