/** Names by which readers know things of the account, instead of ids. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../values/failure.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { count } from "./format.ts"
import { ownName } from "./mask.ts"

/** Something of the account; `place`: the name of its location. */
export interface Named {
  readonly id: string
  readonly name: string
  readonly place?: string
}

/** A name for each thing. To those of the same name, that of their location is added, or else the end of their id. */
export const distinctNames = (things: ReadonlyArray<Named>): ReadonlyMap<string, string> => {
  const alike = Map.groupBy(things, ({ name }) => name)
  const placed = things.map(({ id, name, place }) => {
    const places = new Set(alike.get(name)!.map((one) => one.place))
    return { id, name: places.size > 1 && place !== undefined ? `${name}, ${place}` : name }
  })
  const still = Map.groupBy(placed, ({ name }) => name)
  return new Map(
    placed.map(({ id, name }) => [id, still.get(name)!.length > 1 ? `${name} (…${ownName(id.slice(-6))})` : name])
  )
}

/** The names of the locations by id; nothing of those that were never read or have none. */
export const locationNames = Effect.fn("report.locations")(function* (): Effect.fn.Return<
  ReadonlyMap<string, string>,
  Failure,
  Warehouse
> {
  const warehouse = yield* Warehouse
  const [column] = yield* warehouse.rows(
    `SELECT 1 FROM duckdb_columns() WHERE table_name = 'locations' AND column_name = 'name' AND database_name = current_database()
       AND schema_name = if(database_name = 'crm', 'main', 'crm')`
  )
  if (column === undefined) return new Map()
  const rows = yield* warehouse.rows("SELECT DISTINCT id, name FROM crm.locations WHERE trim(name) <> '' ORDER BY ALL")
  return distinctNames(rows.map(({ id, name }) => ({ id: String(id), name: ownName(String(name)) })))
})

/** `A`, `A and B`, `A, B and 38 others`. */
export const listed = (names: ReadonlyArray<string>, shown = 3): string => {
  const parts =
    names.length > shown ? [...names.slice(0, shown - 1), `${count(names.length - shown + 1)} others`] : names
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}
