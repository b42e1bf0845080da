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
export type ListedAs =
  | { readonly kind: "contact"; readonly location: string; readonly id: string }
  | { readonly kind: "address"; readonly value: string }
  | { readonly kind: "record"; readonly table: string; readonly location: string; readonly key: string }

export type Identifier =
  | ListedAs
  /** Financial records of this contact or address, or this financial record, are kept without the person. */
  | { readonly kind: "financial"; readonly of: ListedAs }

export type RecordKey = ListedAs & { readonly kind: "record" }

/** The records that go, and those that stay without the person. */
export const recordsIn = (
  identifiers: ReadonlyArray<Identifier>
): { readonly removed: ReadonlyArray<RecordKey>; readonly kept: ReadonlyArray<RecordKey> } => ({
  removed: identifiers.filter((one) => one.kind === "record"),
  kept: identifiers.flatMap((one) => (one.kind === "financial" && one.of.kind === "record" ? [one.of] : []))
})

export interface Suppression {
  readonly size: number
  readonly has: (identifier: Identifier) => boolean
  /** The same for the same contact, and for other contacts another one. */
  readonly pseudonym: (location: string, contact: string) => string
}

/** The list of an output folder; `undefined` if nobody was erased. Fails if its key is missing. */
export const readSuppression = Effect.fn("erasure.readSuppression")(function* (
  output: string
): Effect.fn.Return<Suppression | undefined, Failure> {
  const { key, list } = suppressionPaths(output)
  if (!existsSync(list)) return undefined
  const secret = yield* onDisk(key, "read", () => readFile(key))
  const { entries } = yield* onDisk(list, "read", async () => parseList(await readFile(list, "utf8")))
  return suppressionOf(entries, secret)
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
  const secret = yield* onDisk(key, "read", () => readFile(key))
  const hmac = hasher(secret)
  const before = existsSync(list)
    ? (yield* onDisk(list, "read", async () => parseList(await readFile(list, "utf8")))).entries
    : []
  const entries = [...new Set([...before, ...identifiers.map(hmac)])].toSorted()
  yield* onDisk(list, "written", () => writeDurably(list, `${JSON.stringify({ version: 1, entries }, null, 1)}\n`))
  return suppressionOf(entries, secret)
})

const suppressionOf = (entries: ReadonlyArray<string>, secret: Buffer): Suppression => {
  const known = new Set(entries)
  const hmac = hasher(secret)
  return {
    size: known.size,
    has: (identifier) => known.has(hmac(identifier)),
    pseudonym: (location, contact) =>
      `erased-${createHmac("sha256", secret).update(["pseudonym", location, contact].join("\0")).digest("hex").slice(0, 20)}`
  }
}

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
    case "financial":
      return ["financial", ...partsOf(identifier.of)]
  }
}

/** The form in which addresses are on the list: an email address in lower case, or the digits of a phone number. */
export const addressIdentifiers = (value: string): ReadonlyArray<ListedAs & { readonly kind: "address" }> => {
  const digits = phoneDigitsOf(value)
  return [{ kind: "address", value: digits ?? emailOf(value) }]
}

/** A row as the normaliser makes it: its columns, and the rows of its child tables by table. */
export type SentRow = Readonly<Record<string, unknown>>

/**
 * What happens to a row of somebody who is on the list: whether it is stored, not at all, or without the person. It belongs
 * to them alone: a record that names another contact belongs to that one, also if it contains an address of the person, or
 * names them among others.
 */
export const treatmentOf = (
  { has }: Suppression,
  { table, person }: Resource,
  location: string,
  key: ReadonlyArray<unknown>,
  row: SentRow
): "stored" | "removed" | "anonymised" => {
  const record: Identifier = { kind: "record", table, location, key: key.map(String).join(keySeparator) }
  if (has(record)) return "removed"
  if (has({ kind: "financial", of: record })) return "anonymised"
  if (!person) return "stored"
  const listed = (found: ReadonlyArray<ListedAs>) =>
    found.length === 0
      ? "stored"
      : person.isFinancial && found.some((of) => has({ kind: "financial", of }))
        ? "anonymised"
        : "removed"
  const contacts = valuesOf(ownColumns(person.contacts), row).map((id) => ({ kind: "contact", location, id }) as const)
  // A contact with an address of the person is that person.
  if (contacts.length > 0 && table !== "contacts") return listed(contacts.every(has) ? contacts : [])
  for (const [path, of] of Object.entries(person.records ?? {})) {
    const parents = valuesOf([path], row).map((id) => ({ kind: "record", table: of, location, key: id }) as const)
    if (parents.some((parent) => has(parent) || has({ kind: "financial", of: parent }))) return "removed"
  }
  return listed(valuesOf(person.addresses, row).flatMap(addressIdentifiers).filter(has))
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
