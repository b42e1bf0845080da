/** The names of locations, as results have them. */
import * as Effect from "effect/Effect"
import { locationNames } from "../stores/warehouse/locations.ts"

/** Without a member if no name is known. */
export const namesOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
  const names = yield* locationNames()
  const locations = ids.flatMap((location) => {
    const name = names.get(location)
    return name === undefined ? [] : [{ location, name }]
  })
  return locations.length === 0 ? {} : { locations }
})
