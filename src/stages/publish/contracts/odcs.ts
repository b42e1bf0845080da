/** The contract as an Open Data Contract Standard document, version 3.1.0 (Bitol, https://bitol-io.github.io). */
import { typesOf } from "../../../catalog/kinds.ts"
import type { ContractColumn, ContractTable } from "./contract.ts"

/** The document as YAML. */
export const contractText = async (tables: ReadonlyArray<ContractTable>, version: string): Promise<string> => {
  const { stringify } = await import("yaml")
  return stringify(odcsDocument(tables, version), { lineWidth: 0 })
}

/** Version of the contract: the one of sluice that releases it. */
export const odcsDocument = (tables: ReadonlyArray<ContractTable>, version: string) => ({
  apiVersion: "v3.1.0",
  kind: "DataContract",
  id: "sluice-account",
  name: "Account",
  version,
  status: "active",
  domain: "crm",
  description: {
    purpose: "The records of an account on the Account Platform as normalised tables.",
    limitations:
      "A table has the rows that the API returned when it was last read; meta.runs says when, and whether it was complete.",
    usage: "Deleted records stay, with _deleted_at. Select rows where it is NULL for those that exist."
  },
  schema: odcsTables(tables)
})

export const odcsTables = (tables: ReadonlyArray<ContractTable>) =>
  tables.map((table) => ({
    name: table.name,
    physicalName: table.name,
    physicalType: "table",
    logicalType: "object",
    description: table.description,
    ...(table.key.length > 0 && { dataGranularityDescription: `One row per ${table.key.join(", ")}.` }),
    tags: [table.family],
    properties: table.columns.map((column) => propertyOf(table, column)),
    ...(table.parent && { relationships: [parentRelationship(table, table.parent)] }),
    ...(table.key.length > 0 && {
      quality: [
        {
          type: "library",
          metric: "duplicateValues",
          description: "The key identifies a row.",
          mustBe: 0,
          arguments: { properties: [...table.key] }
        }
      ]
    })
  }))

const propertyOf = ({ key }: ContractTable, column: ContractColumn) => ({
  name: column.name,
  physicalType: column.type,
  logicalType: typesOf(column.type).logicalType,
  description: column.description,
  classification: column.personal,
  required: column.isRequired,
  ...(key.includes(column.name) && { primaryKey: true, primaryKeyPosition: key.indexOf(column.name) + 1 }),
  ...(column.refersTo && {
    relationships: [{ type: "foreignKey", to: `${column.refersTo.table}.${column.refersTo.column}` }]
  }),
  ...(column.documentedValues && {
    customProperties: [{ property: "documentedValues", value: column.documentedValues }]
  })
})

const parentRelationship = ({ name }: ContractTable, parent: NonNullable<ContractTable["parent"]>) => ({
  type: "foreignKey",
  from: [`${name}.location_id`, `${name}.${parent.column}`],
  to: [`${parent.table}.location_id`, `${parent.table}.id`]
})
