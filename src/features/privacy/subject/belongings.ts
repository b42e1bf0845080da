/**
 * Finds the records of every resource that belong to a person, by the links of the definitions (`catalog/person.ts`). A
 * record that only contains an address of the person belongs to them unless it names another contact: then it is a mention.
 */
import { Effect } from "effect"
import { linksOf } from "../../../catalog/person-links.ts"
import type { PersonLinks } from "../../../catalog/person.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { idColumn, keyText, pathOf } from "../../../catalog/tables.ts"
import { rowsOfEach } from "../../../stores/warehouse/groups.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { orNull } from "../../../values/rows.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { isAddressSql, isPossibleSql } from "./addresses.ts"
import { addressesTable, contactsTable } from "./find.ts"

export interface LinkedResource {
  readonly resource: Resource
  readonly links: PersonLinks
  /** The resource whose records name the ids of these, which are part of them, as emails are of messages. */
  readonly parent: Resource | undefined
}

/** Resources whose records may belong to people, each after those that its links refer to. */
export const linkedResources = (resources: ReadonlyArray<Resource>): ReadonlyArray<LinkedResource> => {
  const linked = resources.flatMap((resource): ReadonlyArray<LinkedResource> => {
    const { childOf } = resource
    const links = linksOf(resource)
    const parent = childOf?.ids === undefined ? undefined : resources.find(({ table }) => table === childOf.table)
    return links ? [{ resource, links, parent }] : []
  })
  const ordered: Array<LinkedResource> = []
  const add = (one: LinkedResource) => {
    if (ordered.includes(one)) return
    for (const table of [...Object.values(one.links.records ?? {}), ...(one.parent ? [one.parent.table] : [])])
      add(linked.find(({ resource }) => resource.table === table)!)
    ordered.push(one)
  }
  // What belongs to any record comes after all records.
  for (const one of linked.toSorted((a, b) => Number(isOwned(a)) - Number(isOwned(b)))) add(one)
  return ordered
}

const isOwned = ({ links }: LinkedResource): boolean => links.owner !== undefined

/** SQL: whether the record that owns a row is among the chosen ones of these resources. */
export const isOfChosen = (owner: NonNullable<PersonLinks["owner"]>, owners: ReadonlyArray<Resource>): string =>
  owners.length === 0
    ? "false"
    : `(location_id, ${name(owner.table)}, ${name(owner.key)}) IN (${owners
        .map((one) => `SELECT (location_id, ${literal(one.table)}, key) FROM ${keysTable(one)}`)
        .join(" UNION ALL ")})`

/** SELECT of the keys of records that are part of chosen records of another table, and not of others. */
export const partsOfChosen = (resource: Resource, parent: Resource, schemas: ReadonlyArray<string>): string => {
  const ids = (schema: string, condition: string) =>
    `SELECT location_id, ${resource.childOf!.ids!} AS id FROM ${schema}.${name(parent.table)}
     WHERE (location_id, ${keyText(parent)}) ${condition} (SELECT (location_id, key) FROM ${keysTable(parent)})`
  return `SELECT location_id, ${keyText(resource)} AS key FROM crm.${name(resource.table)}
    WHERE (location_id, id) IN (SELECT (location_id, id) FROM (${schemas.map((schema) => ids(schema, "IN")).join(" UNION ")}))
      AND (location_id, id) NOT IN (SELECT (location_id, id) FROM (${ids("crm", "NOT IN")}) WHERE id IS NOT NULL)`
}

/** A table in memory with the `location_id` and `key` of each record that belongs to the person. */
export const keysTable = ({ table }: Resource): string => `memory.main.${name(`subject_keys_${table}`)}`
export const keysOf = (resource: Resource) =>
  query(
    { location: String, key: String },
    `SELECT location_id AS location, key FROM ${keysTable(resource)} ORDER BY ALL`
  )

/** The same of records of other contacts that contain an address of the person. */
export const mentionsTable = ({ table }: Resource): string => `memory.main.${name(`subject_mentions_${table}`)}`

type Schemas = ReadonlyArray<"crm" | "crm_history">

/** To run after `findContacts`, in the order of `linkedResources`. `schemas`: with `crm_history`, earlier versions count too. */
export const findBelongings = Effect.fn("subject.belongings")(function* (
  linked: ReadonlyArray<LinkedResource>,
  schemas: Schemas,
  /** The resources whose records were found before. */
  before: ReadonlyArray<Resource> = []
) {
  const resources = [...before, ...linked.map(({ resource }) => resource)]
  const sql = linked.map((one, index) => belongingsSql(one, schemas, resources.slice(0, before.length + index)))
  yield* (yield* Warehouse).run(sql.join(";\n"))
})

/**
 * Records that were not found and may be about the person all the same, since what they have in a column of addresses may be
 * one of theirs. Contacts are not among them. To run after `findBelongings`.
 */
export const findPossibleRecords = Effect.fn("subject.possibleRecords")(function* (
  linked: ReadonlyArray<LinkedResource>,
  schemas: Schemas
) {
  const addresses = yield* query(
    { email: orNull(String), digits: orNull(String) },
    `SELECT email, digits FROM ${addressesTable} ORDER BY ALL`
  )
  const emails = addresses.flatMap(({ email }) => email ?? [])
  const digits = addresses.flatMap((one) => one.digits ?? [])
  const searched = linked.flatMap(({ links, resource }) => {
    const found = selects(resource, links, schemas, (column, table) =>
      links.addresses?.includes(pathOf(resource, table, column))
        ? isPossibleSql(name(column), emails, digits)
        : undefined
    )
    return resource.table === "contacts" || found.length === 0 ? [] : [{ resource, found, size: 0 }]
  })
  const records = yield* rowsOfEach(
    { location: String, key: String },
    searched,
    ({ found, resource }) =>
      `SELECT location_id AS location, key FROM ((${found.join(" UNION ")}) EXCEPT (FROM ${keysTable(resource)} UNION FROM ${mentionsTable(resource)}))`
  )
  return records.map(([{ resource }, { key, location }]) => ({ table: resource.table, location, key }))
})
export type PossibleRecord = Effect.Success<ReturnType<typeof findPossibleRecords>>[number]

const belongingsSql = (
  { resource, links, parent }: LinkedResource,
  schemas: Schemas,
  before: ReadonlyArray<Resource>
): string => {
  const found = (conditions: (column: string, table: string) => string | undefined) =>
    selects(resource, links, schemas, conditions)
  const byContact = found((column, table) =>
    links.contacts?.includes(pathOf(resource, table, column))
      ? `(location_id, ${name(column)}) IN (SELECT (location_id, id) FROM ${contactsTable})`
      : undefined
  )
  const byRecord = found((column, table) => {
    const of = links.records?.[pathOf(resource, table, column)]
    if (column === links.owner?.key) return isOfChosen(links.owner, before)
    return (
      of &&
      `(location_id, ${name(column)}) IN (SELECT (location_id, key) FROM memory.main.${name(`subject_keys_${of}`)})`
    )
  })
  const byAddress = found((column, table) =>
    links.addresses?.includes(pathOf(resource, table, column)) ? isAddressSql(name(column), addressesTable) : undefined
  )
  const union = (parts: ReadonlyArray<string>) =>
    parts.length === 0 ? "SELECT NULL::VARCHAR AS location_id, NULL::VARCHAR AS key WHERE false" : parts.join(" UNION ")
  const certain = union([...byContact, ...byRecord, ...(parent ? [partsOfChosen(resource, parent, schemas)] : [])])
  const others = union(
    found((column, table) =>
      links.contacts?.includes(pathOf(resource, table, column))
        ? `${name(column)} IS NOT NULL AND (location_id, ${name(column)}) IN (SELECT (location_id, id) FROM crm.contacts)`
        : undefined
    )
  )
  return `CREATE OR REPLACE TABLE ${mentionsTable(resource)} AS
     (${union(byAddress)}) EXCEPT (${certain});
     CREATE OR REPLACE TABLE ${keysTable(resource)} AS
     (${certain}) UNION (FROM ${mentionsTable(resource)} WHERE (location_id, key) NOT IN (SELECT (location_id, key) FROM (${others})));
     DELETE FROM ${mentionsTable(resource)} WHERE (location_id, key) IN (SELECT (location_id, key) FROM ${keysTable(resource)})`
}

/** SELECTs of the keys of records for which a condition on a column of theirs, or of a child table, holds. */
const selects = (
  resource: Resource,
  links: PersonLinks,
  schemas: ReadonlyArray<string>,
  conditions: (column: string, table: string) => string | undefined
): ReadonlyArray<string> => {
  const { addresses = [], contacts = [], owner, records = {} } = links
  const paths = [...contacts, ...Object.keys(records), ...addresses, ...(owner ? [owner.key] : [])]
  return paths.flatMap((path) => {
    const [table = "", column = ""] = path.includes(".") ? path.split(".") : [resource.table, path]
    const condition = conditions(column, table)
    const key = table === resource.table ? keyText(resource) : name(idColumn(resource.table))
    return condition === undefined
      ? []
      : schemas.map((schema) => `SELECT location_id, ${key} AS key FROM ${schema}.${name(table)} WHERE ${condition}`)
  })
}
