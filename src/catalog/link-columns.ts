/** The columns with links to files, by the names that `files.fetch` has for them. */
import { type Resource } from "./resource.ts"
import { type Table, tablesOf } from "./tables.ts"

export interface LinkColumn {
  /** As `files.fetch` names it: its table, or `custom_fields`. */
  readonly group: string
  readonly resource: Resource
  readonly table: Table
  readonly column: string
  /** Whether the value is JSON with links anywhere in it. */
  readonly isJson: boolean
  /** Whether only the values of some fields are files: those of this column in the same row. */
  readonly fieldColumn?: string
}

const customFields = "custom_fields"

/** Those that the settings store. */
export const linkColumns = (resources: ReadonlyArray<Resource>): ReadonlyArray<LinkColumn> =>
  resources.flatMap((resource) =>
    tablesOf(resource).flatMap((table) =>
      table.columns.flatMap(({ name, role, sql, withheld }): ReadonlyArray<LinkColumn> => {
        if (withheld !== undefined || table.isExcluded) return []
        const place = { resource, table, column: name }
        if (role === "file") return [{ ...place, group: table.name, isJson: sql === "JSON" }]
        if (role !== "customValue" || sql !== "JSON" || resource.wide?.table !== table.name) return []
        return [{ ...place, group: customFields, isJson: true, fieldColumn: resource.wide.field }]
      })
    )
  )

/** The columns that `files.fetch` names. `unknown`: the first name that no column has. */
export const chosenLinks = (resources: ReadonlyArray<Resource>, names: ReadonlyArray<string>) => {
  const all = linkColumns(resources)
  const groups = [...new Set(all.map(({ group }) => group))].toSorted()
  const columns = names.includes("all") ? all : all.filter(({ group }) => names.includes(group))
  return { columns, groups, unknown: names.find((name) => name !== "all" && !groups.includes(name)) }
}

/** How a column is written in `crm.files`: that of a child table with its table. */
export const columnOfLink = ({ column, resource, table }: LinkColumn): string =>
  table.name === resource.table ? column : `${table.name}.${column}`
