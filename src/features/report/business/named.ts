/** Things of the account, with names that tell them apart. */
import { distinctNames } from "../../../values/names.ts"

interface Thing {
  readonly location: string
  readonly id: string
  readonly name: string
}

/** To a name that is not the only one, that of the location is added, or else the end of the id. */
export const named = <Row extends Thing>(rows: ReadonlyArray<Row>, placeOf: (location: string) => string) => {
  const idOf = ({ location, id }: Thing) => `${location}/${id}`
  const things = new Map(rows.map((row) => [idOf(row), row]))
  const names = distinctNames(
    Array.from(things, ([id, { name, location }]) => ({ id, name, place: placeOf(location) }))
  )
  return rows.map((row) => ({ ...row, name: names.get(idOf(row))! }))
}
