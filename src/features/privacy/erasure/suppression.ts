/**
 * The list of erased people and records, which keeps syncs, backfills and rebuilds from storing them again. It contains keyed
 * hashes only: without the key, nobody can find out whose they are, and with it only by trying an address or id.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash, createHmac, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename } from "node:path"
import { type Failure, failure, fileFailure } from "../../../values/failure.ts"
import { onDisk, readJson, writeDurably } from "../../../output/files.ts"
import { type Identifier, type ListedAs, jobPath } from "./job.ts"
import { type PhoneForms, emailsIn, phoneDigitsIn, phoneReader } from "../subject/addresses.ts"
import { countriesByLocation } from "../subject/find.ts"
import { recordsOf } from "../../../stores/ledger/given.ts"
import { type Safeguard, safeguardOf, storeSafeguard } from "../../../stores/warehouse/meta/safeguards.ts"
import { outputPaths } from "../../../output/paths.ts"

export const suppressionPaths = (output: string) => ({
  list: outputPaths(output).suppressed,
  key: outputPaths(output).suppressedKey
})

export type Suppression = Effect.Success<ReturnType<typeof suppressionOf>>

/** What `suppressed.json` contains. */
const List = Schema.Struct({
  version: Schema.Literal(1),
  entries: Schema.Array(Schema.String),
  /** By location: how phone numbers without the code of the country are meant. Absent in lists of earlier versions. */
  countries: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
type List = typeof List.Type

/** The list of an output folder; `undefined` if nobody was erased. Fails if its key is missing. */
export const readSuppression = Effect.fn("erasure.readSuppression")(function* (output: string) {
  const { key } = suppressionPaths(output)
  const list = yield* readList(output)
  if (list === undefined) return undefined
  const secret = yield* onDisk(key, "read", () => readFile(key))
  return yield* suppressionOf(list, secret)
})

/** Adds identifiers to the list, durably, before anything is removed. */
export const suppress = Effect.fn("erasure.suppress")(function* (
  output: string,
  identifiers: ReadonlyArray<Identifier>
) {
  const { key, list } = suppressionPaths(output)
  const listed = yield* readList(output)
  if (!existsSync(key)) {
    // A list without its key protects nobody: a new key would hide that.
    if (listed) return yield* fileFailure(key, "read", new Error(`the key of ${list} is missing`))
    yield* onDisk(key, "written", () => writeDurably(key, randomBytes(32).toString("base64")))
  }
  const secret = yield* onDisk(key, "read", () => readFile(key))
  const before: List = listed ?? { version: 1, entries: [] }
  const after: List = {
    version: 1,
    entries: [...new Set([...before.entries, ...identifiers.map(hasher(secret))])].toSorted(),
    countries: { ...before.countries, ...Object.fromEntries(yield* countriesByLocation()) }
  }
  yield* onDisk(list, "written", () => writeDurably(list, `${JSON.stringify(after, null, 1)}\n`))
  yield* storeSafeguard(basename(list), safeguardIn(after))
  return yield* suppressionOf(after, secret)
})

/** The number of entries on the list and their checksum, as the ledger names them. */
export const suppressionState = (output: string): Effect.Effect<Safeguard, Failure> =>
  Effect.map(parseList(output), (list) => safeguardIn(list ?? { version: 1, entries: [] }))

const safeguardIn = ({ entries }: List): Safeguard => ({
  entries: entries.length,
  sha256: createHash("sha256").update(entries.join("\n")).digest("hex")
})

const parseList = (output: string) => readJson(suppressionPaths(output).list, List)

/** The list, `undefined` if nobody was erased. A list that was lost would bring everybody back, so that fails. */
const readList = Effect.fnUntraced(function* (output: string) {
  const { key, list } = suppressionPaths(output)
  const found = yield* parseList(output)
  const records = yield* recordsOf(output)
  const named = records.flatMap(({ detail: { suppressed } }) => Option.toArray(decodeSafeguard(suppressed)))
  const known = [...named, ...[yield* safeguardOf(basename(list))].filter((one) => one !== undefined)]
  const wasErased =
    existsSync(outputPaths(output).certificates) || records.some(({ kind }) => kind === "erase" || kind === "retention")
  // The key is written first; an erasure that was killed then has erased nobody yet.
  const hasBegun = existsSync(key) && !existsSync(jobPath(output))
  const most = known.reduce((one, other) => (other.entries > one.entries ? other : one), { entries: 0, sha256: "" })
  const has = found && safeguardIn(found)
  const detail =
    has === undefined
      ? known.length > 0 || wasErased || hasBegun
        ? "it is missing, and people were erased here"
        : undefined
      : has.entries < most.entries
        ? `it has ${has.entries} entries, and had ${most.entries}`
        : has.entries === most.entries && has.sha256 !== most.sha256
          ? "its entries are not those that were written"
          : undefined
  if (detail === undefined) return found
  return yield* failure({
    _tag: "SafeguardLost",
    path: list,
    detail,
    next: "Restore it from a backup. Without one, sync into another folder and erase these people there."
  })
})

const decodeSafeguard = Schema.decodeUnknownOption(Schema.Struct({ entries: Schema.Int, sha256: Schema.String }))

const suppressionOf = Effect.fnUntraced(function* ({ countries: known, entries }: List, secret: Buffer) {
  const listed = new Set(entries)
  const hmac = hasher(secret)
  const countries: Readonly<Record<string, string>> = {
    ...known,
    ...Object.fromEntries(yield* countriesByLocation())
  }
  const all = [...new Set(Object.values(countries))]
  const formsOf = yield* Effect.promise(phoneReader)
  return {
    size: listed.size,
    has: (identifier: Identifier) => listed.has(hmac(identifier)),
    /** An address, in each form in which it may be on the list. */
    addressesIn: (location: string, value: string) => {
      const country = countries[location]
      return addressIdentifiers(value, formsOf(value, country === undefined ? all : [country]))
    },
    /** The same for the same contact, and for other contacts another one. */
    pseudonym: (location: string, contact: string) =>
      `erased-${createHmac("sha256", secret).update(["pseudonym", location, contact].join("\0")).digest("hex").slice(0, 20)}`
  }
})

const hasher = (key: Buffer) => (identifier: Identifier) =>
  createHmac("sha256", key).update(partsOf(identifier).join("\0")).digest("hex").slice(0, 32)

const partsOf = (identifier: Identifier): ReadonlyArray<string> => {
  switch (identifier.kind) {
    case "contact":
      return ["contact", identifier.location, identifier.id]
    case "address":
      return ["address", identifier.value]
    case "record":
      return ["record", identifier.table, identifier.location, identifier.key]
    case "financial":
      return ["financial", ...partsOf(identifier.of)]
  }
}

/**
 * The forms in which an address is on the list: an email address in lower case, or a phone number as the digits that were
 * typed, and with the code of the country.
 */
export const addressIdentifiers = (
  value: string,
  { international }: Pick<PhoneForms, "international">
): ReadonlyArray<ListedAs & { readonly kind: "address" }> => {
  const digits = phoneDigitsIn(value)
  const own = digits.length > 0 ? digits : emailsIn(value)
  return [...new Set([...own, ...international])].map((one) => ({ kind: "address", value: one }))
}
