/** The tables of a bundle: as published, as the definitions describe them, and the resources that fill them. */
import { resourceOf } from "../../../catalog/resource.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { type PublishedTable, publishedTables } from "../../../catalog/published-tables.ts"
import { type ContractTable, contractOf } from "../../../stages/publish/contracts/contract.ts"
import { dataPackage } from "../../../stages/publish/contracts/data-package.ts"
import { sluiceVersion } from "../../../values/version.ts"
import type { TableFile } from "./payload.ts"
import type { Release, ReleasedTable } from "./source.ts"

export interface BundledTable {
  readonly released: ReleasedTable
  readonly published: PublishedTable
}

/** In the order of the release. A table without a definition any more is left out, as the next release will. */
export const bundledTables = (
  catalogue: Catalogue,
  { tables }: Pick<Release, "tables">,
  chosen: ReadonlyArray<string>
): ReadonlyArray<BundledTable> => {
  const defined = new Map(publishedTables(catalogue).map((table) => [table.name, table]))
  return tables.flatMap((released) => {
    const published = defined.get(released.name)
    return published && chosen.includes(released.name) ? [{ released, published }] : []
  })
}

/** The resources in `meta` that fill the tables; the pages of another resource may contain their records. */
export const resourcesOf = (
  { resources }: Catalogue,
  tables: ReadonlyArray<BundledTable>
): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    tables.map(({ published }) => {
      const resource = resourceOf(resources, published.resource)
      return [published.name, [resource.table, ...(resource.embeddedIn ? [resource.embeddedIn.table] : [])]]
    })
  )

/** Describes the columns that the files have: the definitions may be newer than the release. */
export const packageOf = (
  catalogue: Catalogue,
  tables: ReadonlyArray<BundledTable>,
  files: ReadonlyArray<TableFile>
): object => {
  const contract = new Map(contractOf(catalogue).map((table) => [table.name, table]))
  return dataPackage({
    files: files.map((file) => ({ ...file, path: file.path.replace(/^data\//, "") })),
    tables: tables.map(({ released }) => withColumnsOf(contract.get(released.name)!, released)),
    version: sluiceVersion
  })
}

const withColumnsOf = (table: ContractTable, { columns }: ReleasedTable): ContractTable => ({
  ...table,
  columns: Object.entries(columns).map(
    ([name, type]) =>
      table.columns.find((column) => column.name === name) ?? {
        name,
        type,
        description: "A column that the present definitions do not have",
        personal: "direct",
        isRequired: false
      }
  )
})
