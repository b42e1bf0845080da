/** The smallest account that still differs: records are taken away as long as it does. */
import { byNormaliser, withAccounts } from "./load.ts"
import { differences } from "./second.ts"
import type { World } from "./world.ts"

type Change = (model: string, sql: string) => string

const differencesOf = (worlds: ReadonlyArray<World>, change?: Change) =>
  withAccounts(worlds, byNormaliser, async (modelsOf) => {
    const found = await modelsOf(change)
    return worlds.map((world) => differences(world, worlds, found))
  })

/** Each try takes about a second. */
const triesMax = 40

const smallest = async (world: World, change?: Change): Promise<readonly [World, ReadonlyArray<string>]> => {
  // Without its location, a record is of no account.
  const [places, others] = [true, false].map((is) => world.records.filter(({ list }) => (list === "locations") === is))
  let best: World = { ...world, records: [...places!, ...others!] }
  let [wrong = []] = await differencesOf([best], change)
  let tries = 0
  const isTaken = async (smaller: World) => {
    const [found = []] = await differencesOf([smaller], change).catch(() => [])
    tries++
    if (found.length > 0) [best, wrong] = [smaller, found]
    return found.length > 0
  }
  for (let size = Math.ceil(best.records.length / 2); size >= 1 && wrong.length > 0; size = Math.floor(size / 2))
    for (let from = places!.length; from < best.records.length && tries < triesMax;)
      if (!(await isTaken({ ...best, records: best.records.toSpliced(from, size) }))) from += size
  return [best, wrong]
}

/**
 * What differs between the models and the second computation, for people: the first differences, and the smallest account with
 * one. Empty if nothing does. `change`: makes the SQL of a model another.
 */
export const wrongIn = async (worlds: ReadonlyArray<World>, change?: Change): Promise<string> => {
  const all = await differencesOf(worlds, change)
  const index = all.findIndex((own) => own.length > 0)
  if (index === -1) return ""
  const [world, wrong] = await smallest(worlds[index]!, change)
  const records = world.records.map(({ list, location, nights }) => JSON.stringify([list, location, nights]))
  return [
    `Seed ${world.seed}: ${all[index]![0]}; ${all.filter((own) => own.length > 0).length} of ${all.length} accounts differ.`,
    ...(wrong.length === 0 ? ["It does not differ alone."] : wrong.slice(0, 5)),
    ...records
  ].join("\n")
}
