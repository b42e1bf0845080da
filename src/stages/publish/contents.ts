/** The checksums of the tables of a release. Those of unchanged rows are taken from the previous release. */
import { Effect } from "effect"
import { type Content, added, contentChange, contentsOfEach, empty } from "../../stores/warehouse/content.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { anyOrder } from "../../stores/warehouse/parts.ts"
import { changedRows } from "../../stores/warehouse/meta/content-versions.ts"
import type { TableChange } from "./changes.ts"
import type { TableContent } from "../../output/manifest.ts"
import type { Making } from "./release.ts"

/** By how much the contents of tables differ from those of the previous release, by `schema.table`. */
export type ContentChanges = ReadonlyMap<string, Content>

export const contentsOf = Effect.fn("publish.contents")(function* (
  tables: ReadonlyArray<TableChange>,
  changes: ContentChanges,
  { previous, stored }: Pick<Making, "previous" | "stored">
) {
  const known = new Map(
    (previous?.manifest.tables ?? []).map((one) => [pathOf(one.schema, { name: one.table }), one] as const)
  )
  const all = tables
    .filter(({ wide }) => !wide)
    .flatMap((table) => (["crm", "crm_history"] as const).map((schema) => ({ schema, table })))
  const found = all.map(({ schema, table }) => {
    const path = pathOf(schema, table)
    const before = known.get(path)
    const change = changes.get(path)
    if (!before) return undefined
    if (table.change === "none") return before
    return change && { ...before, ...added(before, change) }
  })
  const whole = all.flatMap(({ schema, table }, index) => (found[index] ? [] : [pathOf(schema, table)]))
  const contents = yield* anyOrder(wholeContents(whole, stored))
  return all.map(({ schema, table }, index): TableContent => {
    const path = pathOf(schema, table)
    const columns = stored.of(path).columns.map(({ name, type }) => [name, type] as const)
    return found[index] ?? { schema, table: table.name, ...contents(path), columns: Object.fromEntries(columns) }
  })
})

/** What the changed records of a table make of its content. `copy`: the table as the previous release has it. */
export const changeOfContent = (copy: string, path: string, table: TableChange, { columns }: TableContent) =>
  contentChange(
    changedRows(copy, table),
    changedRows(path, table),
    Object.entries(columns).map(([column, type]) => ({ name: column, type }))
  )

export const pathOf = (schema: string, table: { readonly name: string }): string => `${schema}.${name(table.name)}`

/** Reads all rows of these tables. */
const wholeContents = Effect.fnUntraced(function* (paths: ReadonlyArray<string>, stored: Making["stored"]) {
  const relations = paths.flatMap((path) => {
    const { columns, rows } = stored.of(path)
    return rows === 0 ? [] : [{ from: path, columns, size: rows }]
  })
  const sums = yield* contentsOfEach(relations)
  return (path: string) => sums.get(path) ?? empty
})
