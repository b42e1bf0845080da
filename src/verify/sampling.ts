/** Which rows a sample takes, with their values as text. */
import { Effect, Random } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import { type Column, keyOf } from "../catalog/tables.ts"
import type { Failure } from "../failure.ts"
import { literal, name } from "../warehouse/sql.ts"
import { type Row, Warehouse } from "../warehouse/warehouse.ts"
import { asText } from "./compare.ts"
import { type KnownTable, knownTables } from "./existing-tables.ts"

/** A row with every value that its request needs or that is compared. */
export interface Chosen {
  readonly known: KnownTable
  readonly row: Row
}

/** The tables take turns, so that a sample of a few rows does not come from the largest table alone. */
export const choose = Effect.fn("verify.choose")(function* (
  catalogue: Catalogue,
  location: string,
  rows: number
): Effect.fn.Return<ReadonlyArray<Chosen>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const { tables } = yield* knownTables(catalogue)
  const readable = tables.filter(({ table, parent, resource }) => table === parent && resource.getOne !== undefined)
  const live = ({ current }: KnownTable) =>
    `${current} WHERE location_id = ${literal(location)} AND _deleted_at IS NULL`
  const open: Array<{ readonly known: KnownTable; readonly held: number; wanted: number }> = []
  for (const known of readable) {
    const [row] = yield* warehouse.rows(`SELECT count(*) AS n FROM ${live(known)}`)
    open.push({ known, held: Number(row?.["n"]), wanted: 0 })
  }
  for (let left = rows; left > 0;) {
    const able = (yield* Random.shuffle(open.filter(({ held, wanted }) => wanted < held))).slice(0, left)
    if (able.length === 0) break
    for (const one of able) one.wanted++
    left -= able.length
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
/** When we read the row, epoch milliseconds. */
const readAt = "epoch_ms(_synced_at) AS _read_at"

/** Columns that the request for a row may need, beside those that are compared. */
const keyNames = ({ resource }: KnownTable): ReadonlySet<string> =>
  new Set([...keyOf(resource), ...(resource.childOf ? [resource.childOf.column] : [])])

/** Of the system's columns the service knows nothing. */
export const isCompared = ({ type }: Column): boolean => type !== "system"
