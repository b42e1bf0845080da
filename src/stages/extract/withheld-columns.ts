/** A vault that stores no value that the settings keep out, so that nothing that is made from the vault has one. */
import { Effect, Layer } from "effect"
import { at, membersOf, parseExact } from "../../catalog/json.ts"
import type { Resource } from "../../catalog/resource.ts"
import { type WithholdOptions, type Withholder, withholderOf } from "../../catalog/withhold.ts"
import { secretRemover } from "../../catalog/secrets.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { withheldNames } from "../../catalog/withheld.ts"
import { type PseudonymKey, columnHash } from "../../settings/masking.ts"
import type { Failure } from "../../values/failure.ts"
import { type PageEntry, isPage } from "../../stores/vault/entry.ts"
import type { Frame } from "../../stores/vault/frame.ts"
import { Vault } from "../../stores/vault/vault.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { hasTable, query } from "../../stores/warehouse/query.ts"
import { orNull } from "../../values/rows.ts"

/** `key`: of the hashes, if any column is hashed. */
export const withoutWithheld = <E, R>(
  vault: Layer.Layer<Vault, E, R>,
  resources: ReadonlyArray<Resource>,
  key: PseudonymKey | undefined
): Layer.Layer<Vault, E | Failure, R | Warehouse> =>
  resources.some((resource) => resource.withheld !== undefined || secretRemover(resource) !== undefined)
    ? Layer.effect(
        Vault,
        Effect.gen(function* () {
          const inner = yield* Vault
          const fields = yield* storedFields()
          const withhold = frameWithholder(resources, key, fields)
          return Vault.of({
            ...inner,
            append: (frame) =>
              Effect.suspend(() => {
                // What extract makes of a list of custom fields is known before a page with their values.
                learn(fields, frame)
                return inner.append(withhold(frame))
              })
          })
        })
      ).pipe(Layer.provide(vault))
    : vault

/** The keys of custom fields by their ids, by location. */
type CustomFields = Map<string, Map<string, string>>

const storedFields = Effect.fnUntraced(function* () {
  const isThere = yield* hasTable("crm.custom_fields")
  const columns = { location: String, id: orNull(String), key: orNull(String) }
  const sql = "SELECT location_id AS location, id, field_key AS key FROM crm.custom_fields"
  const rows = isThere ? yield* query(columns, sql) : []
  const fields: CustomFields = new Map()
  for (const { id, key, location } of rows) add(fields, location, id, key)
  return fields
})

const learn = (fields: CustomFields, { entry, body }: Frame): void => {
  if (!isPage(entry) || entry.resource !== "custom_fields" || body.length === 0) return
  const found = at(parseExact(String(body), entry.hasBigNumbers), entry.records)
  for (const field of Array.isArray(found) ? found : [found])
    add(fields, entry.location, at(field, "id") ?? at(field, "_id"), at(field, "fieldKey"))
}

/** A field without a key has its id instead. */
const add = (fields: CustomFields, location: string, id: unknown, key: unknown): void => {
  const known = fields.get(location) ?? new Map<string, string>()
  if (typeof id === "string") known.set(id, typeof key === "string" ? key : id)
  fields.set(location, known)
}

interface Target {
  readonly resource: Resource
  /** `undefined` if nothing of it is kept out. */
  readonly withhold: Withholder | undefined
  /** What is kept out of its tables. */
  readonly names: ReadonlyArray<string>
}

const frameWithholder = (resources: ReadonlyArray<Resource>, key: PseudonymKey | undefined, fields: CustomFields) => {
  const options: WithholdOptions = { hash: columnHash(key), fieldsOf: (location) => fields.get(location) }
  const targets = resources.map((resource): Target => {
    const own = withholderOf(resource, resources, options)
    const remove = secretRemover(resource)
    const withhold: Withholder | undefined =
      own && remove ? (sent, location) => own(remove(sent), location) : (own ?? remove)
    return { resource, withhold, names: own ? namesOf(resource) : [] }
  })
  return (frame: Frame): Frame => {
    const { entry } = frame
    if (!isPage(entry) || frame.body.length === 0) return frame
    const own = targets.filter(
      ({ resource: { embeddedIn, table } }) =>
        table === entry.resource || (embeddedIn?.table === entry.resource && !entry.parent)
    )
    if (own.every(({ withhold }) => withhold === undefined)) return frame
    const body = parseExact(String(frame.body), entry.hasBigNumbers)
    return {
      entry: { ...entry, withheld: [...new Set(own.flatMap(({ names }) => names))] },
      body: JSON.stringify(withheldBody(body, entry, own))
    }
  }
}

const namesOf = (resource: Resource): ReadonlyArray<string> => {
  const tables = new Set(tablesOf(resource).map(({ name }) => name))
  return (resource.withheld ? withheldNames(resource.withheld) : []).filter((name) => {
    const [, table = name] = /([a-z_0-9]+)(\.[a-z_0-9]+)?$/.exec(name) ?? []
    return name.startsWith("custom field") || tables.has(table)
  })
}

/** A page with nothing but its records. */
const withheldBody = (body: unknown, { kind, location, records }: PageEntry, targets: ReadonlyArray<Target>): unknown =>
  [...Map.groupBy(targets, ({ resource }) => resource.embeddedIn?.records ?? records)].reduce<unknown>(
    (made, [path, targets]) => {
      const one = (record: unknown): unknown =>
        targets.reduce((sent, { resource: { filter }, withhold }) => {
          const isOther = filter !== undefined && kind === "page" && at(sent, filter.field) !== filter.is
          return isOther || withhold === undefined ? sent : withhold(sent, location)
        }, record)
      const found = at(body, path)
      if (found === undefined) return made
      return withAt(made, path, Array.isArray(found) ? found.map(one) : found === null ? null : one(found))
    },
    {}
  )

/** A copy with this value at a dotted path. */
const withAt = (body: unknown, path: string, value: unknown): unknown => {
  if (path === "") return value
  const [name = "", ...rest] = path.split(".")
  return { ...membersOf(body), [name]: withAt(at(body, name) ?? {}, rest.join("."), value) }
}
