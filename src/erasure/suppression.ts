/**
 * The list of erased people and records, which keeps syncs, backfills and rebuilds from storing them again. It contains keyed
 * hashes only: without the key, nobody can find out whose they are, and with it only by trying an address or id.
 */
import * as Effect from "effect/Effect"
import { createHmac, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { PersonLinks } from "../catalog/person.ts"
import type { Resource } from "../catalog/resource.ts"
import { keySeparator } from "../catalog/tables.ts"
import { type Failure, fileFailure } from "../failure.ts"
import { onDisk, writeDurably } from "../io/files.ts"
import { emailOf, phoneDigitsOf } from "../subject/addresses.ts"

export const suppressionPaths = (output: string) => ({
  list: join(output, "suppressed.json"),
  key: join(output, "suppressed.key")
})

/** What may be on the list: a contact, an address, or a record by its table and key. */
export type Identifier =
  | { readonly kind: "contact"; readonly location: string; readonly id: string }
  | { readonly kind: "address"; readonly value: string }
  | { readonly kind: "record"; readonly table: string; readonly location: string; readonly key: string }

export interface Suppression {
  readonly size: number
  readonly has: (identifier: Identifier) => boolean
}

/** The list of an output folder; `undefined` if nobody was erased. Fails if its key is missing. */
export const readSuppression = Effect.fn("erasure.readSuppression")(function* (
  output: string
): Effect.fn.Return<Suppression | undefined, Failure> {
  const { key, list } = suppressionPaths(output)
  if (!existsSync(list)) return undefined
  const secret = yield* onDisk(key, "read", () => readFile(key))
  const { entries } = yield* onDisk(list, "read", async () => parseList(await readFile(list, "utf8")))
  const known = new Set(entries)
  const hmac = hasher(secret)
  return { size: known.size, has: (identifier) => known.has(hmac(identifier)) }
})

/** Adds identifiers to the list, durably, before anything is removed. */
export const suppress = Effect.fn("erasure.suppress")(function* (
  output: string,
  identifiers: ReadonlyArray<Identifier>
): Effect.fn.Return<Suppression, Failure> {
  const { key, list } = suppressionPaths(output)
  if (!existsSync(key)) {
    // A list without its key protects nobody: a new key would hide that.
    if (existsSync(list)) return yield* fileFailure(key, "read", new Error(`the key of ${list} is missing`))
    yield* onDisk(key, "written", () => writeDurably(key, randomBytes(32).toString("base64")))
  }
  const hmac = hasher(yield* onDisk(key, "read", () => readFile(key)))
  const before = existsSync(list)
    ? (yield* onDisk(list, "read", async () => parseList(await readFile(list, "utf8")))).entries
    : []
  const entries = [...new Set([...before, ...identifiers.map(hmac)])].toSorted()
  yield* onDisk(list, "written", () => writeDurably(list, `${JSON.stringify({ version: 1, entries }, null, 1)}\n`))
  const known = new Set(entries)
  return { size: known.size, has: (identifier) => known.has(hmac(identifier)) }
})

const parseList = (text: string): { readonly entries: ReadonlyArray<string> } => JSON.parse(text)

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
  }
}

/** The form in which addresses are on the list: an email address in lower case, or the digits of a phone number. */
export const addressIdentifiers = (value: string): ReadonlyArray<Identifier> => {
  const digits = phoneDigitsOf(value)
  return [{ kind: "address", value: digits ?? emailOf(value) }]
}

/** A row as the normaliser makes it: its columns, and the rows of its child tables by table. */
export type SentRow = Readonly<Record<string, unknown>>

/**
 * Whether a row belongs to somebody on the list alone. A record that names another contact belongs to that one, also if it
 * contains an address of the person, or names them among others.
 */
export const isSuppressed = (
  { has }: Suppression,
  { table, person }: Resource,
  location: string,
  key: ReadonlyArray<unknown>,
  row: SentRow
): boolean => {
  if (has({ kind: "record", table, location, key: key.map(String).join(keySeparator) })) return true
  if (!person) return false
  const contacts = valuesOf(ownColumns(person.contacts), row)
  // A contact with an address of the person is that person.
  if (contacts.length > 0 && table !== "contacts") return contacts.every((id) => has({ kind: "contact", location, id }))
  for (const [path, of] of Object.entries(person.records ?? {}))
    if (valuesOf([path], row).some((id) => has({ kind: "record", table: of, location, key: id }))) return true
  return valuesOf(person.addresses, row).some((value) => addressIdentifiers(value).some(has))
}

/** The paths that are columns of the record itself. */
export const ownColumns = (paths: PersonLinks["contacts"]): ReadonlyArray<string> =>
  (paths ?? []).filter((path) => !path.includes("."))

/** The texts at these paths: a column, or a column of the rows of a child table. */
const valuesOf = (paths: PersonLinks["contacts"], row: SentRow): ReadonlyArray<string> =>
  (paths ?? []).flatMap((path) => {
    const [table, column] = path.split(".") as [string, string | undefined]
    const values =
      column === undefined ? [row[path]] : ((row[table] ?? []) as ReadonlyArray<SentRow>).map((child) => child[column])
    return values.filter((value): value is string => typeof value === "string" && value !== "")
  })
