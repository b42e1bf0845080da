/**
 * What identifies a row of a table, and which columns refer to rows of others: from the definitions of the tables and from the
 * tests of the models. The views and the history of a table have its columns, and refer as it does.
 */
import { firstWide } from "../../catalog/tables.ts"
import type { ContractTable } from "../../stages/publish/contracts/contract.ts"
import type { Model, ModelColumn, Source } from "../../stages/publish/models/model.ts"
import { stagingName } from "../../stages/publish/models/staging.ts"
import type { CatalogTable } from "./messages.ts"

/** The column of another table whose value this is. */
export interface Target {
  readonly schema: string
  readonly table: string
  readonly column: string
}

interface Shape {
  /** Columns that identify a row; none for a table whose rows have no address. */
  readonly key: ReadonlyArray<string>
  readonly references: ReadonlyMap<string, Target>
  /** Of the numbers of a model, what a sum says. */
  readonly numbers?: Readonly<Record<string, Pick<ModelColumn, "number">>>
  /** What the rows of a model are about: the pipelines of the table that it reads first. */
  readonly subject?: string | undefined
  /** The table of which a view without sentences of its own has the rows that exist. */
  readonly existing?: string
}

/** By schema and name. */
export type Links = ReadonlyMap<string, Shape>

const addressOf = (schema: string, name: string): string => `${schema}.${name}`

export const linksOf = (tables: ReadonlyArray<ContractTable>, models: ReadonlyArray<Model>): Links =>
  new Map([...tables.flatMap(shapesOf), ...models.flatMap(modelShapes(tables, models))])

const shapesOf = (table: ContractTable): ReadonlyArray<readonly [string, Shape]> => {
  const { columns, key, name } = table
  const references = new Map(
    columns.flatMap(({ name: column, refersTo }) => (refersTo ? [[column, { schema: "main", ...refersTo }]] : []))
  )
  const own = key.filter((column) => column !== "location_id")
  // A row that only repeats a row of the table leads to it.
  const [column = ""] = own
  const repeated =
    own.length === 1 ? new Map([...references, [column, { schema: "main", table: name, column }]]) : references
  return [
    [addressOf("main", name), { key, references }],
    [addressOf("main", `${name}_wide`), { key, references }],
    [addressOf("main", `${name}_changes`), { key: [], references: repeated }],
    [addressOf("crm_history", name), { key: [], references: repeated }],
    [addressOf("bi", stagingName(table)), { key: [], references: repeated, existing: addressOf("main", name) }]
  ]
}

const modelShapes = (tables: ReadonlyArray<ContractTable>, models: ReadonlyArray<Model>) => {
  const families = new Map(
    tables.flatMap((table) => [table.name, stagingName(table)].map((name) => [name, table.family]))
  )
  const subjects = new Map<string, string | undefined>()
  const subjectOf = (name: string): string | undefined => {
    const model = models.find((one) => one.name === name)
    // A model that refers to itself is not built.
    if (!model || subjects.has(name)) return subjects.get(name) ?? families.get(name)
    subjects.set(name, undefined)
    const first = model.pieces.find((piece) => typeof piece === "object")
    const of = (source: Source) => families.get(source.table) ?? source.schema
    const subject = first && ("ref" in first ? subjectOf(first.ref) : of(first.source))
    subjects.set(name, subject)
    return subject
  }
  return ({ columns: numbers, isStaging, key, name, references }: Model): ReadonlyArray<readonly [string, Shape]> => {
    const targets = references.map(
      ({ column, to }) => [column, { schema: "bi", table: to.model, column: to.column }] as const
    )
    const shape = { key, references: new Map(targets), numbers, subject: subjectOf(name) }
    return isStaging ? [] : [[addressOf("bi", name), shape]]
  }
}

/** The tables of a release with their keys and references, as far as the release has their columns. */
export const withLinks = (tables: ReadonlyArray<CatalogTable>, links: Links) => {
  const byAddress = new Map(tables.map((table) => [addressOf(table.schema, table.name), table]))
  const columnsOf = new Map(
    Array.from(byAddress, ([address, { columns }]) => [address, new Map(columns.map((one) => [one.name, one]))])
  )
  const isThere = ({ schema, table, column }: Target) => columnsOf.get(addressOf(schema, table))?.has(column)
  return Array.from(byAddress, ([address, table]) => {
    const {
      key = [],
      numbers,
      references,
      subject,
      existing
    } = links.get(address) ?? links.get(firstWide(address)) ?? {}
    const base = existing === undefined ? undefined : byAddress.get(existing)
    const sentences = existing === undefined ? undefined : columnsOf.get(existing)
    return {
      ...table,
      subject,
      comment: table.comment ?? (base ? `Rows that exist of ${base.name}. ${base.comment ?? ""}` : null),
      key: key.every((column) => columnsOf.get(address)?.has(column)) ? key : [],
      columns: table.columns.map((column) => {
        const target = references?.get(column.name)
        return {
          ...column,
          number: numbers?.[column.name]?.number,
          comment: column.comment ?? sentences?.get(column.name)?.comment ?? null,
          ...(target && isThere(target) && { refersTo: target })
        }
      })
    }
  })
}
