/** Chooses the rows of a sample, with their values as text. */
import { Effect, Random } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { type Column, keyOf } from "../../catalog/tables.ts"
import { queryNumber } from "../../stores/warehouse/query.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { type Row, Warehouse } from "../../stores/warehouse/warehouse.ts"
import { asText } from "./compare.ts"
import { type KnownTable, knownTables } from "./existing-tables.ts"

/** A row of the warehouse, with the values that the path of its request needs and those that are compared. */
export interface Chosen {
  readonly known: KnownTable
  readonly row: Row
}

/** Chooses from the tables in turn, so that a small sample does not consist of rows of the largest table only. */
export const choose = Effect.fn("verify.choose")(function* (catalogue: Catalogue, location: string, rows: number) {
  const warehouse = yield* Warehouse
  const { tables } = yield* knownTables(catalogue)
  const readable = tables.filter(({ table, parent, resource }) => table === parent && resource.getOne !== undefined)
  const live = ({ current }: KnownTable) =>
    `${current} WHERE location_id = ${literal(location)} AND _deleted_at IS NULL`
  const open: Array<{ readonly known: KnownTable; readonly available: number; wanted: number }> = []
  for (const known of readable) {
    open.push({ known, available: yield* queryNumber(`SELECT count(*) FROM ${live(known)}`), wanted: 0 })
  }
  for (let left = rows; left > 0;) {
    const next = (yield* Random.shuffle(open.filter(({ available, wanted }) => wanted < available))).slice(0, left)
    if (next.length === 0) break
    for (const one of next) one.wanted++
    left -= next.length
  }
  const chosen: Array<Chosen> = []
  for (const { known, wanted } of open.filter(({ wanted }) => wanted > 0)) {
    const compared = known.columns.filter(isCompared)
    const keys = known.columns.filter((column) => !isCompared(column) && keyNames(known).has(column.name))
    const columns = [...keys.map((column) => name(column.name)), ...compared.map(asText), readAt].join(", ")
    const sample = `(SELECT * FROM ${live(known)}) USING SAMPLE reservoir(${wanted} ROWS)`
    for (const row of yield* warehouse.rows(`SELECT ${columns} FROM ${sample}`)) chosen.push({ known, row })
  }
  return chosen
})
/** When the row was read, in epoch milliseconds. */
const readAt = "epoch_ms(_synced_at) AS _read_at"

/** Columns that a path may name, in addition to those that are compared. */
const keyNames = ({ resource }: KnownTable): ReadonlySet<string> =>
  new Set([...keyOf(resource), ...(resource.childOf ? [resource.childOf.column] : [])])

/** The service does not have sluice's own columns. */
export const isCompared = ({ type }: Column): boolean => type !== "system"
