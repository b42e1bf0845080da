/** The documents of a release: the description of its files as a Data Package. */
import { Effect } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { Failure } from "../../../values/failure.ts"
import { columnsOf } from "../../../stores/warehouse/columns.ts"
import { sluiceVersion } from "../../../values/version.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { WideView } from "../../../stores/warehouse/wide-views.ts"
import { type ContractTable, contractOf } from "./contract.ts"
import { type PackagedFile, dataPackage } from "./data-package.ts"

export interface Document {
  /** In the folder of the release. */
  readonly path: string
  readonly text: string
}

export const releaseDocuments = Effect.fn("contracts.releaseDocuments")(function* (
  catalogue: Catalogue,
  wide: ReadonlyArray<WideView>,
  files: ReadonlyArray<PackagedFile>,
  forSpreadsheets: boolean
): Effect.fn.Return<ReadonlyArray<Document>, Failure, Warehouse> {
  const tables = contractOf(catalogue)
  const wideTables = yield* Effect.forEach(wide, (view) => wideTable(view, tables))
  const described = dataPackage({ files, tables: [...tables, ...wideTables], forSpreadsheets, version: sluiceVersion })
  return [{ path: "datapackage.json", text: `${JSON.stringify(described, null, 1)}\n` }]
})

const wideTable = Effect.fnUntraced(function* (
  { view, table, columns }: WideView,
  tables: ReadonlyArray<ContractTable>
) {
  const base = tables.find((one) => one.name === table)!
  const types = new Map((yield* columnsOf(`crm.${name(view)}`)).map((column) => [column.name, column.type]))
  const own = columns.map(({ column, label, personal }) => ({
    name: column,
    type: types.get(column) ?? "VARCHAR",
    description: label,
    personal,
    isRequired: false
  }))
  return {
    ...base,
    name: view,
    description: `${base.description} With one column for each custom field.`,
    columns: [...base.columns, ...own]
  }
})
