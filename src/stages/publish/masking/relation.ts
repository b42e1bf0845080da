/** One table, masked while it is read, for a command that writes it to a pipe. */
import { Effect } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { findIn, itemAt } from "../../../catalog/present.ts"
import { tablesOf } from "../../../catalog/tables.ts"
import { columnsOf } from "../../../stores/warehouse/columns.ts"
import type { WideView } from "../../../stores/warehouse/wide-view.ts"
import { historyColumns } from "./copy.ts"
import { maskedColumns, shownFields } from "./expressions.ts"
import { maskedMetaTables } from "./meta-tables.ts"
import type { Masking } from "../../../settings/masking.ts"

interface Relation {
  readonly schema: string
  readonly name: string
  /** FROM clauses that together return its rows. */
  readonly parts: ReadonlyArray<string>
  /** The wide view that it is. */
  readonly wide?: WideView | undefined
}

/** FROM clauses that return the rows masked. With pseudonyms, `definePseudonyms` comes before. */
export const maskedParts = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  views: ReadonlyArray<WideView>,
  masking: Masking,
  { schema, name, parts, wide }: Relation
) {
  if (schema === "meta") return maskedMetaTables().flatMap(([table, select]) => (table === name ? [`(${select})`] : []))
  const tables = catalogue.resources.flatMap(tablesOf)
  const table = findIn(tables, (one) => one.name === (wide?.table ?? name), `definition of ${name}`)
  // A column of a custom field has the class of the field, and the type that its definition says.
  const types = wide && new Map((yield* columnsOf(itemAt(parts, 0))).map((column) => [column.name, column.type]))
  const custom = (wide?.columns ?? []).map(({ column, personal }) => ({
    name: column,
    sql: types?.get(column) ?? "VARCHAR",
    personal,
    isCustom: true as const
  }))
  const own = schema === "crm_history" ? [...table.columns, ...historyColumns] : table.columns
  const select = maskedColumns(masking, table.name, [...own, ...custom], shownFields(views))
  return parts.map((part) => `(SELECT ${select} FROM ${part})`)
})
