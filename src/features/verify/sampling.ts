/** Chooses the rows of a sample, with their values as text. */
import { Effect, Random } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { type Column, keyOf } from "../../catalog/tables.ts"
import { queryNumber } from "../../stores/warehouse/query.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { type Row, Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type KnownTable, knownTables } from "./existing-tables.ts"
import { isDeepStrictEqual } from "node:util"
import { instantMs } from "../../catalog/timestamps.ts"

/** A row of the warehouse, with the values that the path of its request needs and those that are compared. */
export interface Chosen {
  readonly known: KnownTable
  readonly row: Row
}

/** Chooses from the tables in turn, so that a small sample does not consist of rows of the largest table only. */
export const choose = Effect.fn("verify.choose")(function* (catalogue: Catalogue, location: string, rows: number) {
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
    for (const row of yield* (yield* Warehouse).rows(`SELECT ${columns} FROM ${sample}`)) chosen.push({ known, row })
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

/** SQL for the column as the text that `same` compares; timestamps in epoch milliseconds. */
const asText = ({ name: column, type }: Column): string =>
  `${type === "instant" ? `epoch_ms(${name(column)})` : name(column)}::VARCHAR AS ${name(column)}`

/** `theirs` is the value that the normaliser returned. */
export const same = ({ type }: Column, ours: string, theirs: unknown): boolean => {
  const sent = textOf(theirs)
  switch (type) {
    case "instant":
      return Number(ours) === epochMs(theirs)
    case "decimal":
    case "count":
      return plainNumber(ours) === plainNumber(sent)
    case "json":
      return isDeepStrictEqual(parsed(ours), typeof theirs === "string" ? parsed(sent) : theirs)
    default:
      return withoutMark(ours) === withoutMark(sent)
  }
}

/** Epoch milliseconds of a value that the normaliser accepts as a timestamp; a date is its first moment. */
export const epochMs = (value: unknown): number => instantMs(value) ?? Number.NaN

/** The value for people. */
export const shown = ({ type }: Column, text: string): string =>
  JSON.stringify(
    type === "instant" && /^-?\d+$/.test(text)
      ? new Date(Number(text)).toISOString()
      : text.length > 60
        ? `${text.slice(0, 60)}…`
        : text
  )

/** Keeps all digits of a number, which a double would not. */
export const textOf = (value: unknown): string => (JSON.isRawJSON(value) ? value.rawJSON : String(value))

/** `7.5000` and `7.5` are the same number, and so are `-0` and `0`. */
const plainNumber = (text: string): string => {
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text
  return short === "-0" ? "0" : short
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The driver removes a byte order mark at the beginning of a text. */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, "")
