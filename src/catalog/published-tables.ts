/** The tables and wide views that are published. */
import type { Resource } from "./resource.ts"
import { type Table, keyOf, tablesOf, wideName } from "./tables.ts"

/** A table or wide view that is published. */
export interface PublishedTable {
  readonly name: string
  /** The definition; for a wide view, that of its table. */
  readonly definition: Table
  /** Columns that identify a row. */
  readonly key: ReadonlyArray<string>
  /** The table of its resource. */
  readonly resource: string
  /** Columns that identify, in a location, the record to which a row belongs. */
  readonly recordKey: ReadonlyArray<string>
}

export const publishedTables = (catalogue: {
  readonly resources: ReadonlyArray<Resource>
}): ReadonlyArray<PublishedTable> =>
  catalogue.resources.flatMap((resource) => {
    const tables = tablesOf(resource).map((definition) => ({
      name: definition.name,
      definition,
      key: definition.key,
      resource: resource.table,
      recordKey: definition.parentColumn === undefined ? keyOf(resource) : [definition.parentColumn]
    }))
    return resource.wide ? [...tables, { ...tables[0]!, name: wideName(resource), key: keyOf(resource) }] : tables
  })
