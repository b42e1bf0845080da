/**
 * What the models contain: their columns with types, and from which columns of tables each is made. An empty database says so,
 * because it knows the types of expressions and parses their SQL.
 */
import { Array as Arr } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import { personalDataClasses, worstOf } from "../../../catalog/personal-data.ts"
import { metaTableStatements, publishedMetaTables } from "../../../stores/warehouse/meta/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { type ContractTable, contractOf } from "../contracts/contract.ts"
import { readModels } from "./files.ts"
import { type Relation, lineageOf, tableOf } from "./lineage.ts"
import { figureText, readMetrics } from "./metrics.ts"
import { type Model, refsOf, sourcesOf, sqlOf } from "./model.ts"
import { orderOf } from "./order.ts"

export type DescribedModel = Awaited<ReturnType<typeof describedModels>>[number]

/** By model, its columns with their types. */
export type ColumnTypes = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * The models without the staging views, in the order of their names. `folder`: those of the user. `released`: what the current
 * release has, of which rows decide the columns of some, such as those of a PIVOT.
 */
export const describedModels = async (catalogue: Catalogue, folder?: string, released: ColumnTypes = new Map()) => {
  const tables = contractOf(catalogue)
  const defined = new Set(tables.map((table) => table.name))
  const { models } = orderOf(await readModels(folder), ({ schema, table }) =>
    schema === "meta" ? publishedMetaTables.includes(table) : defined.has(table)
  )
  const { relations, states, types } = await built(models, tables)
  const figures = Map.groupBy((await readMetrics()).values(), ({ model }) => model)
  const columnOf = new Map<string, (typeof tables)[number]["columns"][number]>(
    tables.flatMap((table) => table.columns.map((column) => [`${table.name}.${column.name}`, column] as const))
  )
  const readsOf = (model: Model): ReadonlyArray<string> => [
    ...sourcesOf(model).map(sourceName),
    ...refsOf(model).flatMap((ref) => {
      const view = models.find(({ isStaging, name }) => name === ref && isStaging && !ref.startsWith("stg_"))
      return view ? readsOf(view) : shownRef(ref)
    })
  ]
  return models
    .filter(({ isStaging }) => !isStaging)
    .map((model) => {
      const own = types.get(`bi.${model.name}`) ?? released.get(model.name) ?? new Map<string, string>()
      const lineage = relations.get(`bi.${model.name}`)
      return {
        name: model.name,
        description: model.description ?? "",
        file: model.file,
        /** Columns that together identify a row; empty if no test says it. */
        key: model.key,
        /** As what each state counts, and why, as lines of Markdown. */
        states: states.get(model.name) ?? [],
        /** The figures that are made of it, as lines of Markdown. */
        figures: (figures.get(model.name) ?? []).map(figureText),
        /** The tables and models that its SQL names. */
        reads: [...new Set(readsOf(model))],
        columns: Array.from(own, ([column, type]) => {
          const origin = lineage?.get(column)
          const { copyOf, from = [] } = origin ?? {}
          const copied = columnOf.get(copyOf ?? "")
          const said = model.columns[column]
          const { description = "", personalData } = said ?? {}
          const personal = personalDataClasses.find((one) => one === (personalData ?? "none")) ?? "none"
          return {
            name: column,
            type,
            ...(said
              ? { description, personal }
              : inherited(origin && { copied, from: Array.from(from, (one) => columnOf.get(one)) })),
            /** The columns of tables from which it is made, as far as the SQL says it: `contacts.email`. */
            from: [...from],
            /** The column whose value it is, unchanged. */
            ...(copyOf && { copyOf }),
            ...(copied?.documentedValues && { documentedValues: copied.documentedValues })
          }
        })
      }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** What is said of a column about which the user says nothing. `origin`: nothing if the SQL does not say of what it is made. */
const inherited = (origin: Origin | undefined) =>
  origin
    ? {
        description: origin.copied?.description ?? "",
        personal: worstOf(origin.from.map((one) => one?.personal ?? "none"))
      }
    : {
        description:
          "Rows of the account decide its name or its values; the SQL does not say of which columns it is made",
        // That class may contain anything.
        personal: "direct" as const
      }

interface Origin {
  readonly copied: Meaning | undefined
  readonly from: ReadonlyArray<Meaning | undefined>
}
type Meaning = Pick<ContractTable["columns"][number], "description" | "personal">

const sourceName = ({ schema, table }: { readonly schema: string; readonly table: string }) =>
  schema === "crm" ? table : `${schema}.${table}`

/** A staging view has the columns of its table. */
const shownRef = (ref: string): string => (ref.startsWith("stg_") ? ref.slice("stg_".length) : `bi.${ref}`)

/** Of each fact, as what its states count. */
const statesSql = `SELECT fact, '- Counts as ' || counts_as || ': ' || string_agg(states || ' (' || reason || ')', '; ' ORDER BY n) || '.'
  FROM (
    SELECT fact, counts_as, reason, string_agg('\`' || state || '\`', ', ' ORDER BY n) AS states, min(n) AS n
    FROM (SELECT *, row_number() OVER () AS n FROM bi.dim_state) GROUP BY ALL
  ) GROUP BY fact, counts_as ORDER BY fact, min(n)`

/** The types of the columns, and the lineage, by `schema.table`. A model whose SQL is wrong has none. */
const built = (models: ReadonlyArray<Model>, tables: ReadonlyArray<ContractTable>) =>
  inMemory(async (connection) => {
    const versions = ["_valid_from TIMESTAMPTZ", "_valid_to TIMESTAMPTZ"]
    const definitions = tables.flatMap((table) => {
      const columns = table.columns.map((column) => `${name(column.name)} ${column.type}`)
      return [
        `CREATE TABLE crm.${name(table.name)} (${columns.join(", ")})`,
        `CREATE TABLE crm_history.${name(table.name)} (${[...columns, ...versions].join(", ")})`
      ]
    })
    const schemas = ["crm", "crm_history", "meta", "bi"].map((schema) => `CREATE SCHEMA ${schema}`)
    await connection.run([...schemas, ...metaTableStatements, ...definitions].join(";\n"))
    const statements = models.map((model) => ({
      model,
      sql: sqlOf(model, (reference) =>
        "ref" in reference ? `bi.${name(reference.ref)}` : `${reference.source.schema}.${name(reference.source.table)}`
      )
    }))
    for (const { model, sql } of statements)
      await connection.run(`CREATE VIEW bi.${name(model.name)} AS ${sql}`).catch(() => undefined)
    const columns = await connection.runAndReadAll(
      `SELECT schema_name || '.' || table_name, column_name, replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ')
       FROM duckdb_columns() WHERE NOT internal ORDER BY schema_name, table_name, column_index`
    )
    const types = new Map<string, Map<string, string>>()
    for (const row of columns.getRows()) {
      const [path = "", column = "", type = ""] = row.map(String)
      types.set(path, (types.get(path) ?? new Map<string, string>()).set(column, type))
    }
    const trees = await connection.runAndReadAll(
      statements.map(({ sql }) => `SELECT json_serialize_sql(${literal(sql)})`).join(" UNION ALL ") || "SELECT '{}'"
    )
    const relations = new Map<string, Relation>()
    const relationOf = (schema: string, table: string): Relation | undefined => {
      const path = `${schema}.${table}`
      const shown = schema === "meta" ? path : table
      const own = types.get(path)
      return relations.get(path) ?? (own && tableOf(shown, own.keys()))
    }
    for (const [{ model }, [tree]] of Arr.zip(statements, trees.getRows())) {
      relations.set(`bi.${model.name}`, lineageOf(JSON.parse(String(tree)), relationOf))
    }
    const states = new Map<string, Array<string>>()
    for (const row of (await connection.runAndReadAll(statesSql)).getRows()) {
      const [fact = "", line = ""] = row.map(String)
      states.set(fact, [...(states.get(fact) ?? []), line])
    }
    return { types, relations, states }
  })
