/**
 * The values of a table as PostgreSQL can hold them, by SQL of DuckDB. What it cannot hold becomes NULL before it is sent, and
 * is noted with its table, column and key: one value never stops a delivery.
 */
import * as Effect from "effect/Effect"
import { kindOf } from "../../catalog/kinds.ts"
import { type StoredColumn, shortDecimal } from "../../stores/warehouse/content.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { type TextFunction, Warehouse } from "../../stores/warehouse/warehouse.ts"
import { counted } from "../../values/finding.ts"
import { postgresName, postgresType } from "./shape.ts"

/** A field has at most 1 GB, and COPY takes as much for a whole row. */
export const textBytesMax = 250_000_000
/** PostgreSQL's own form of JSON, which is six times as long for small numbers, may have 256 MB. */
const jsonBytesMax = 40_000_000
/** The stack of the server, by default of 2 MB, is enough for four times as many. */
const jsonDepthMax = 2000
/** A row has to fit into a page of 8 kB, with 24 bytes of each column at most: longer values are stored elsewhere. */
const columnsThatFit = 300
const rowBytesMax = 8160 - 24

/** Keys of the rows that lack a value, by table and column. */
export type Unheld = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const unheldFunction = "sluice_unheld"
const jsonFunction = "sluice_held_json"

/** Adds the functions that the SQL of this module calls. Returns what is noted while it runs. */
export const noteUnheld = Effect.gen(function* () {
  const warehouse = yield* Warehouse
  const unheld = new Map<string, Map<string, Set<string>>>()
  const note = (table: string | null, column: string | null, key: string | null) => {
    const columns = unheld.get(table!) ?? new Map<string, Set<string>>()
    unheld.set(table!, columns.set(column!, (columns.get(column!) ?? new Set()).add(key ?? "")))
    return null
  }
  yield* warehouse.textFunction(unheldFunction, 3, ([table, column, key]) => note(table!, column!, key!), true)
  const heldJson: TextFunction = ([table, column, key, text]) =>
    isHeldJson(text!) ? text! : note(table!, column!, key!)
  yield* warehouse.textFunction(jsonFunction, 4, heldJson, true)
  return unheld as Unheld
})

/** A sentence for the columns of a table that are NULL in the same rows. */
export const unheldSentences = (unheld: Unheld, table: string): ReadonlyArray<string> =>
  [...Map.groupBy(unheld.get(table) ?? [], ([, keys]) => JSON.stringify([...keys])).values()].map((columns) => {
    const keys = [...columns[0]![1]]
    const named = columns.map(([column]) => `${table}.${column}`)
    return `${some(named)} ${named.length === 1 ? "is" : "are"} NULL in ${counted(keys.length, "row")} (${some(keys)}), because PostgreSQL cannot hold what is there`
  })

/** The first three of a list. */
const some = (texts: ReadonlyArray<string>): string =>
  texts.length > 4 ? `${texts.slice(0, 3).join(", ")} and ${texts.length - 3} more` : texts.join(", ")

interface Held {
  /** Its name in messages. */
  readonly name: string
  readonly columns: ReadonlyArray<StoredColumn>
  /** Columns that identify a row. */
  readonly key: ReadonlyArray<string>
}

/** A SELECT of the values that PostgreSQL gets, by its names. `as`: other SQL for some values. */
export const heldRows = (
  table: Held,
  from: string,
  as: (column: StoredColumn) => string | undefined = () => undefined
): string => {
  const { columns } = table
  const isTooWide = columns.length > columnsThatFit
  const values = columns.map((column, index) => {
    const value = as(column) ?? heldValue(table, column)
    const fitting =
      index < columnsThatFit
        ? value
        : `CASE WHEN sluice_bytes <= ${rowBytesMax} THEN ${value} WHEN ${name(column.name)} IS NOT NULL THEN ${unheldOf(table, column)} END`
    const named = name(postgresName(column.name))
    return fitting === named ? named : `${fitting} AS ${named}`
  })
  return `SELECT ${values.join(", ")} FROM ${isTooWide ? `(SELECT *, ${bytesOf(columns)} AS sluice_bytes FROM ${from})` : from}`
}

/** How many bytes of its page a row needs at most. */
const bytesOf = (columns: ReadonlyArray<StoredColumn>): string => {
  const each = columns.map(({ name: column, type }) => {
    const value = name(column)
    const most =
      postgresType(type) === "text"
        ? `least(strlen(${value}::VARCHAR) + 1, 24)`
        : String(bytes[postgresType(type)] ?? 24)
    return `if(${value} IS NULL, 0, ${most})`
  })
  return `${Math.ceil(columns.length / 8)} + list_sum([${each.join(", ")}])`
}

/** The bytes of each type, with what is left free before them. */
const bytes: Readonly<Record<string, number>> = { boolean: 1, date: 7, bigint: 15, timestamptz: 15, timestamp: 15 }

const unheldOf = ({ name: table, key }: Held, { name: column }: StoredColumn): string =>
  `${unheldFunction}(${placeAndKey(table, column, key)})`

const placeAndKey = (table: string, column: string, key: ReadonlyArray<string>) =>
  `${literal(table)}, ${literal(column)}, ${key.length === 0 ? "''" : `concat_ws(' ', ${key.map((one) => `${name(one)}::VARCHAR`).join(", ")})`}`

/** The text or value that COPY reads. */
export const heldValue = (table: Held, column: StoredColumn): string => {
  const { name: own, type } = column
  const value = name(own)
  const sql = postgresType(type)
  const unheld = unheldOf(table, column)
  if (sql === "jsonb") {
    const json = jsonText(kindOf(type) === "json" ? `${value}::VARCHAR` : `to_json(${value})::VARCHAR`)
    return `CASE WHEN ${mayBeUnheldJson(json)} THEN ${jsonFunction}(${placeAndKey(table.name, own, table.key)}, ${json}) ELSE ${json} END`
  }
  if (sql === "text")
    return `CASE WHEN strlen(${value}::VARCHAR) > ${textBytesMax} THEN ${unheld} ELSE replace(${value}::VARCHAR, chr(0), '') END`
  const earliest = times[sql]
  if (earliest !== undefined) {
    const text = `${value}::VARCHAR`
    const isLate = sql === "date" ? `${value} > '5874897-12-31' AND isfinite(${value})` : "false"
    return `CASE WHEN ${value} >= '0001-01-01' AND NOT (${isLate}) THEN ${text}
      WHEN ${value} = '-infinity' THEN ${text}
      WHEN ${value} >= '${earliest}' AND ${value} < '0001-01-01' THEN replace(${text}, ' (BC)', '') || ' BC'
      WHEN ${value} IS NOT NULL THEN ${unheld} END`
  }
  if (kindOf(type) === "decimal") return shortDecimal(value, type)
  if (sql !== "text[]") return value
  const item = `'"' || replace(replace(replace(item, chr(0), ''), '\\', '\\\\'), '"', '\\"') || '"'`
  return `'{' || array_to_string(list_transform(${value}, item -> coalesce(${item}, 'NULL')), ',') || '}'`
}

/** The earliest value of the types of times; their latest ones, except of dates, are later than those of DuckDB. */
const times: Readonly<Record<string, string>> = {
  date: "4714-11-24 (BC)",
  timestamp: "4714-11-24 (BC) 00:00:00",
  timestamptz: "4714-11-24 (BC) 00:00:00+00"
}

/** PostgreSQL stores no NUL character. The first alternative skips what only looks like one in JSON: an escaped backslash. */
const jsonText = (value: string): string =>
  `CASE WHEN contains(${value}, '\\u0000') THEN regexp_replace(${value}, '(\\\\\\\\)|\\\\u0000', '\\1', 'g') ELSE ${value} END`

/** What only a look at each of its values decides. DuckDB takes numbers and commas that are no JSON. */
const mayBeUnheldJson = (json: string, more = ""): string =>
  `strlen(${json}) > ${2 * jsonDepthMax} OR regexp_matches(${json}, '[eE][+-]?[0-9]{4}|[:\\[,]\\s*[+-]?(?i:nan|inf)|,\\s*[\\]}]${more}')`

/**
 * Whether a column can be sent as it is to a table that may be made anew: PostgreSQL has each value then, or refuses all.
 * `isJsonHeld`: `unheldJson` is false for the table.
 */
export const isPlain = ({ type }: StoredColumn, isJsonHeld: boolean): boolean =>
  kindOf(type) === "json" ? isJsonHeld : /^(text|date|timestamp|timestamptz)$/.test(postgresType(type))

/** SQL of a condition on all rows of a table: some JSON has to be checked value by value. `undefined`: it has no JSON. */
export const unheldJson = (columns: ReadonlyArray<StoredColumn>): string | undefined => {
  const texts = columns.filter(({ type }) => kindOf(type) === "json").map((column) => `${name(column.name)}::VARCHAR`)
  const all = `concat_ws(' ', ${texts.join(", ")})`
  return texts.length === 0 ? undefined : `bool_or(${mayBeUnheldJson(all, "|\\\\u0000")})`
}

const isHeldJson = (text: string): boolean => {
  if (Buffer.byteLength(text) > jsonBytesMax) return false
  let level: ReadonlyArray<unknown>
  try {
    level = [JSON.parse(text)]
  } catch {
    return false
  }
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > jsonDepthMax) return false
    level = level.flatMap((value) => (value instanceof Object ? Object.values(value) : []))
  }
  return !longNumber.test(text) || !longNumber.test(text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '""'))
}

/** More digits than a number has: 131,072 before the point, and 16,383 behind it. */
const longNumber = /[eE][+-]?0*[1-9]\d{4}|\d{16000}/
