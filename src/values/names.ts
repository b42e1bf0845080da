/** Names by which readers know things of the account, instead of ids. */

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
  return new Map(placed.map(({ id, name }) => [id, still.get(name)!.length > 1 ? `${name} (…${id.slice(-6)})` : name]))
}
