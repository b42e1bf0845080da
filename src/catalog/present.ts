/** What must be there: one that is missing is a defect, which names it. `what`: the words for it. */

const missing = (what: string): never => {
  throw new Error(`there is no ${what}`)
}

export const present = <A>(value: A, what: string): NonNullable<A> => value ?? missing(what)

export const itemAt = <A>(list: ArrayLike<A>, place: number): NonNullable<A> =>
  list[place] ?? missing(`item ${place} in a list of ${list.length}`)

export const findIn = <A>(list: ReadonlyArray<A>, is: (one: A) => boolean, what: string): NonNullable<A> =>
  list.find(is) ?? missing(what)

/** A map whose keys are all known to those who ask it. */
export class TotalMap<Key, Value> extends Map<Key, Value> {
  of(key: Key): NonNullable<Value> {
    return this.get(key) ?? missing(`${String(key)} in a map of ${[...this.keys()].join(", ").slice(0, 200)}`)
  }
}
