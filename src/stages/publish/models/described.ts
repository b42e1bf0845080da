/**
 * What the models contain: their columns with types, and from which columns of tables each is made. An empty database says so,
 * because it knows the types of expressions and parses their SQL.
 */
import type { Catalogue } from "../../../catalog/discover.ts"
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import { personalDataClasses } from "../../../catalog/personal-data.ts"
import { metaTableStatements, publishedMetaTables } from "../../../stores/warehouse/meta/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { type ContractTable, contractOf } from "../contracts/contract.ts"
import { readModels } from "./files.ts"
import { type Relation, lineageOf } from "./lineage.ts"
import { type Model, refsOf, sourcesOf, sqlOf } from "./model.ts"
import { orderOf } from "./order.ts"

export type DescribedModel = Awaited<ReturnType<typeof describedModels>>[number]

/** The models without the staging views, in the order of their names. `folder`: those of the user. */
export const describedModels = async (catalogue: Catalogue, folder?: string) => {
  const tables = contractOf(catalogue)
  const defined = new Set(tables.map((table) => table.name))
  const { models } = orderOf(await readModels(folder), ({ schema, table }) =>
    schema === "meta" ? publishedMetaTables.includes(table) : defined.has(table)
  )
  const { relations, types } = await built(models, tables)
  return models
    .filter(({ isStaging }) => !isStaging)
    .map((model) => {
      const own = types.get(`bi.${model.name}`) ?? new Map<string, string>()
      const lineage = relations.get(`bi.${model.name}`)
      return {
        name: model.name,
        description: model.description ?? "",
        file: model.file,
        /** Columns that together identify a row; empty if no test says it. */
        key: model.key,
        /** The tables and models that its SQL names. */
        reads: [...new Set([...sourcesOf(model).map(sourceName), ...refsOf(model).map(shownRef)])],
        columns: Array.from(own, ([column, type]) => {
          const { description = "", personalData = "none" } = model.columns[column] ?? {}
          const { copyOf, from = [] } = lineage?.get(column) ?? {}
          const personal = personalDataClasses.find((one) => one === personalData) ?? "none"
          return {
            name: column,
            type,
            description,
            personal,
            /** The columns of tables from which it is made, as far as the SQL says it: `contacts.email`. */
            from: [...from],
            /** The column whose value it is, unchanged. */
            ...(copyOf && { copyOf })
          }
        })
      }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

const sourceName = ({ schema, table }: { readonly schema: string; readonly table: string }) =>
  schema === "crm" ? table : `${schema}.${table}`

/** A staging view has the columns of its table. */
const shownRef = (ref: string): string => (ref.startsWith("stg_") ? ref.slice("stg_".length) : `bi.${ref}`)

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
      return (
        relations.get(path) ??
        (own &&
          new Map(
            Array.from(own.keys(), (column) => [
              column,
              { from: new Set([`${shown}.${column}`]), copyOf: `${shown}.${column}` }
            ])
          ))
      )
    }
    for (const [index, [tree]] of trees.getRows().entries()) {
      const { model } = statements[index]!
      relations.set(`bi.${model.name}`, lineageOf(JSON.parse(String(tree)), relationOf))
    }
    return { types, relations }
  })
