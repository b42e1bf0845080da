/**
 * A vault in which every field of every record of one person holds a word of its own: known fields of every type, which numbers
 * and times cannot hold; fields and items that no definition knows; and records without a key. Written from the definitions.
 */
import { Effect } from "effect"
import type { Catalogue } from "../../src/catalog/discover.ts"
import { type ChildField, type ColumnField, type Fields, columnName } from "../../src/catalog/fields.ts"
import { type Resource, childRequestOf } from "../../src/catalog/resource.ts"
import { keyOf } from "../../src/catalog/tables.ts"
import { linksOf } from "../../src/catalog/person-links.ts"
import { ageColumn } from "../../src/features/privacy/erasure/retention.ts"
import type { EndEntry, PageEntry } from "../../src/stores/vault/entry.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { checkpoint } from "./checkpoint.ts"

/** Whose record it is: a contact with an address. */
export interface Owner {
  readonly name: string
  readonly contact: string
  readonly email: string
  readonly phone: string
  /** When their records were made, ISO 8601. */
  readonly madeAt: string
  /** Whether its values are words that must not be found later. */
  readonly isWorded: boolean
}

/** A person whose values are words. */
export const wordedPerson: Owner = {
  name: "person",
  contact: "personcontact0001",
  email: "wanda.wordsmith@planted.example",
  phone: "+14155550137",
  madeAt: "2024-03-01T10:00:00.000Z",
  isWorded: true
}

/** The field of each word. */
export type Words = Map<string, string>
export const wordPattern = /qzx[0-9]{5}/g

const common = { location: "L", at: Date.UTC(2026, 0, 31, 10) }

/** The id of a record of an owner. */
export const idOf = ({ contact, name }: Pick<Owner, "name" | "contact">, table: string): string =>
  table === "contacts" ? contact : `${name}${table.replaceAll("_", "")}0001`

/** Appends what a run would read: the records of each owner in every table that can be about a person. */
export const appendWorded = Effect.fn("test.appendWorded")(function* (
  { resources }: Catalogue,
  run: { readonly id: string; readonly at: number },
  owners: ReadonlyArray<Owner>,
  words: Words
) {
  const vault = yield* Vault
  const parts = { ...common, run: run.id, at: run.at }
  const page = { kind: "page", partition: "all", request: {}, records: "records", hasBigNumbers: false, checkpoint }
  for (const resource of resources.filter(({ person, embeddedIn }) => person && !embeddedIn)) {
    const { table, filter, fields, detail } = resource
    const request = childRequestOf(resource)
    const under = (owner: Owner) => ({
      partition: request!.label,
      parent: {
        id: idOf(owner, resource.childOf?.ids === undefined ? request!.table : table),
        version: "1",
        done: true,
        full: true
      }
    })
    const all = owners.map((owner) => {
      const word = wordsOf(words, `${run.id} ${table}`, owner)
      const record = (own: Fields) => ({
        ...recordOf(resource, own, owner, word),
        ...(filter && { [filter.field]: filter.is })
      })
      return { owner, record, word }
    })
    // Nobody can tell whose these are by their key.
    const unreadable = () =>
      all
        .filter(({ owner }) => owner.isWorded)
        .map(({ owner, word }) => ({ unread: word("without a key"), mail: owner.email, deep: { tel: owner.phone } }))
    const pages: ReadonlyArray<readonly [Partial<PageEntry>, unknown]> = [
      ...(request?.kind === "children"
        ? all.map(({ owner, record }) => [under(owner), [record(fields)]] as const)
        : [[{}, [...all.map(({ record }) => record(fields)), ...unreadable()]] as const]),
      ...(request !== undefined && request.kind !== "children"
        ? all.map(
            ({ owner, record }) =>
              [{ ...under(owner), kind: "detail" } as const, [record({ ...fields, ...detail?.fields })]] as const
          )
        : [])
    ]
    for (const [more, records] of pages)
      yield* vault.append({
        entry: { ...parts, ...page, resource: table, ...more } as PageEntry,
        body: JSON.stringify({ records })
      })
    const outcome = { mode: "full", shortfalls: [], warnings: [], requests: 1 } as const
    yield* vault.append({ entry: { ...parts, kind: "end", resource: table, outcome } satisfies EndEntry, body: "" })
  }
  yield* vault.seal
})

/** A word for a field; the values of others look similar. */
const wordsOf =
  (words: Words, context: string, owner: Owner) =>
  (field: string): string => {
    if (!owner.isWorded) return `plain value of ${field}`
    const word = `qzx${String(words.size).padStart(5, "0")}`
    words.set(word, `${owner.name} ${context}.${field}`)
    return word
  }
type WordOf = ReturnType<typeof wordsOf>

const recordOf = (resource: Resource, fields: Fields, owner: Owner, word: WordOf): Record<string, unknown> => {
  const { childOf, table } = resource
  const person = linksOf(resource) ?? {}
  const age = ageColumn(resource)
  // What is requested by ids of its own has no column with the id of its parent.
  const parentColumn = childOf?.ids === undefined ? childOf?.column : undefined
  /** What links the record to the owner; `undefined` for other columns. `path`: as the links of the definition name it. */
  const linked = (path: string, references: string | undefined): string | undefined => {
    if (keyOf(resource).includes(path)) return path === parentColumn ? idOf(owner, childOf!.table) : undefined
    if (person.contacts?.includes(path)) return owner.contact
    // A message names its emails, which are found by this only.
    if (path === "message_emails.email_id") return idOf(owner, "emails")
    if (path === person.owner?.table) return "contacts"
    if (path === person.owner?.key) return owner.contact
    const of = person.records?.[path] ?? (path === parentColumn ? references : undefined)
    if (of !== undefined) return idOf(owner, of)
    if (person.addresses?.includes(path)) return /phone/.test(path) ? owner.phone : owner.email
    return undefined
  }
  const columnOf = (field: ColumnField, path: string): unknown => {
    if (path === "location_id") return common.location
    if (path === "id" || (keyOf(resource).includes(path) && field.type === "text"))
      return table === "contacts" ? owner.contact : (linked(path, field.references) ?? idOf(owner, table))
    if (keyOf(resource).includes(path)) return 1
    if (path === age) return owner.madeAt
    // There is no such file.
    if (field.role === "storedFile") return null
    // A value of any type has its text beside it.
    const ofText = linked(path, field.references) ?? linked(`${path}_text`, undefined)
    return ofText ?? (field.type === "json" ? { text: word(path) } : word(path))
  }
  const objectOf = (own: Fields, prefix: string, inTable: string): Record<string, unknown> => ({
    ...Object.fromEntries(
      Object.entries(own).flatMap(([name, field]): ReadonlyArray<readonly [string, unknown]> => {
        const path = `${inTable}${columnName(prefix, name, field.kind === "column" ? field : {})}`
        switch (field.kind) {
          case "column":
            return [[name, columnOf(field, path)]]
          case "object":
            return [[name, objectOf(field.fields, `${columnName(prefix, name, {})}_`, inTable)]]
          case "list":
            return [[name, [itemOf(field), word(`${path}[1]`), { unknownOfItem: word(`${path}[2]`) }]]]
          case "entries":
            return [[name, { [word(`${path} key`)]: itemOf(field) }]]
          case "transport":
            return [[name, word(path)]]
          case "alias":
            return []
        }
      })
    ),
    unknownField: word(`${inTable}${prefix}unknown`),
    unknownObject: { deep: [word(`${inTable}${prefix}unknown deep`)] }
  })
  const itemOf = ({ fields: own, table: inTable }: ChildField): unknown => {
    const { value, ...others } = own
    return value?.kind === "column" && Object.keys(others).length === 0
      ? columnOf(value, `${inTable}.${columnName("", "value", value)}`)
      : objectOf(own, "", `${inTable}.`)
  }
  return objectOf(fields, "", "")
}
