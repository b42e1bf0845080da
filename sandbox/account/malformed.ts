import { type Collection, type Data, type Entry, entry } from "./collection.ts"
import { deepValue, malformedText, spellBirthday, spellFlag, spellInstant, spellMoney } from "./malformed-values.ts"
import { Random, streams } from "./random.ts"
import type { AccountContext } from "./context.ts"

type Malform = (random: Random, data: Data, entry: Entry) => Data

/** With the malformed variant, the record with malformed values that a live service may send; else the record itself. */
export const withMalformedValues = (
  context: AccountContext,
  build: (entry: Entry) => Data,
  malform: Malform
): ((entry: Entry) => Data) =>
  context.malformed
    ? (entry) => {
        const random = new Random(context.seed + 7, streams.malformed, entry.source as number)
        // The key stays the same; only other fields are malformed.
        return malform(random, build(entry), entry)
      }
    : build

/** Rewrites the timestamps, flags and money of the named fields, and sometimes replaces a named text by a difficult one. */
export const malformFields =
  (fields: { instants?: string; flags?: string; money?: string; texts?: string }): Malform =>
  (random, data) => {
    const result: Data = { ...data }
    for (const name of split(fields.instants)) {
      if (typeof result[name] === "string") result[name] = spellInstant(random, Date.parse(result[name]))
    }
    for (const name of split(fields.flags)) result[name] = spellFlag(random, result[name])
    for (const name of split(fields.money)) result[name] = spellMoney(random, result[name])
    const texts = split(fields.texts)
    if (texts.length > 0 && random.chance(0.05)) result[random.pick(texts)] = malformedText(random)
    if (texts.length > 0 && random.chance(0.05)) result[random.pick(texts)] = random.pick(["", null, undefined])
    return result
  }

export const malformContact: Malform = (random, data, entry) => {
  const base = malformFields({
    instants: "dateAdded dateUpdated lastActivity",
    flags: "dnd",
    texts: "firstName lastName companyName address1 city source website timezone"
  })(random, data, entry)
  const values = (data["customFields"] as ReadonlyArray<Data>).map((value) =>
    random.chance(0.1)
      ? { ...value, value: random.pick([deepValue(random), malformedText(random), null, true, []]) }
      : value
  )
  return {
    ...base,
    ...(random.chance(0.3) && { dateOfBirth: spellBirthday(random) }),
    customFields: random.chance(0.01) ? null : values,
    tags: random.chance(0.02)
      ? random.pick([null, ["vip", "vip"], ["VIP", "vip", ""], [null, "x"], "vip"])
      : data["tags"],
    ...(random.chance(0.02) && {
      dndSettings: { Call: { status: "active" }, SMS: null, pigeon: { status: "perhaps" } }
    }),
    ...(random.chance(0.03) && { attributionSource: deepValue(random) })
  }
}

/** Some records are listed without an id, and some twice: an older version with an older date. */
export const addOrphans = (context: AccountContext, collection: Collection): void => {
  if (!context.malformed) return
  const idField = (data: Data): string => ("_id" in data ? "_id" : "id")
  const rows = [...collection.live()]
  const random = new Random(context.seed, streams.malformed + 500, rows.length)
  for (let made = 0; made < 3 && rows.length > 0; made++) {
    const like = random.pick(rows)
    const data = collection.data(like)
    collection.addOrphan(
      entry({ ...like, id: null, source: { ...data, [idField(data)]: made < 2 ? null : undefined } })
    )
  }
  for (let stale = Math.ceil(rows.length / 400); stale > 0; stale--) {
    const like = random.pick(rows)
    const earlier = random.between(10, 30) * 86_400_000
    const data = collection.data(like)
    const old = Object.fromEntries(
      ["dateAdded", "dateUpdated", "createdAt", "updatedAt", "lastMessageDate"]
        .filter((name) => data[name] !== undefined)
        .map((name) => [name, new Date(dateOf[name]!(like) - earlier).toISOString()])
    )
    const times = { created: like.created - earlier, updated: like.updated - earlier, last: like.last - earlier }
    collection.addOrphan(entry({ ...like, ...times, source: { ...data, ...old } }))
  }
}

const dateOf: Record<string, (entry: Entry) => number> = {
  dateAdded: (entry) => entry.created,
  createdAt: (entry) => entry.created,
  dateUpdated: (entry) => entry.updated,
  updatedAt: (entry) => entry.updated,
  lastMessageDate: (entry) => entry.last
}

/** With the malformed variant, every 500th id is the previous id with upper and lower case swapped. */
export const idBeside = (
  context: AccountContext,
  index: number,
  id: string,
  previous: string | null | undefined
): string =>
  context.malformed && index % 500 === 1 && typeof previous === "string"
    ? previous.replaceAll(/[a-z]/gi, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()))
    : id

const split = (names: string | undefined): ReadonlyArray<string> => names?.split(" ") ?? []
