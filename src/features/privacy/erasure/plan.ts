/** What an erasure would remove: the records of a person alone, the texts that identify them, and their files. */
import { Effect } from "effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { keyText } from "../../../catalog/tables.ts"
import type { Failure } from "../../../values/failure.ts"
import { type LinkedResource, findBelongings, keysTable, linkedResources } from "../subject/belongings.ts"
import { countRecords } from "../subject/collect.ts"
import { type FoundContact, addressesTable, contactsTable, countriesOfLocations } from "../subject/find.ts"
import { phoneReader } from "../subject/addresses.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import { filesOfRecords } from "../../../stores/warehouse/stored-files.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Wanted } from "./needles.ts"
import type { ErasurePlan, Identifier, ListedAs } from "./job.ts"
import { addressIdentifiers } from "./suppression.ts"
import { ownColumns } from "./treatment.ts"

/** To run after `findPerson`. `others`: contacts that share an address with the person and stay. */
export const planErasure = Effect.fn("erasure.plan")(function* (
  { resources }: Catalogue,
  contacts: ReadonlyArray<FoundContact>,
  others: ReadonlyArray<FoundContact>,
  keepFinancial = false
): Effect.fn.Return<ErasurePlan, Failure, Warehouse> {
  const persons: Array<ListedAs> = contacts.map(({ id, location }) => ({ kind: "contact", location, id }))
  const identifiers: Array<Identifier> = []
  const rows: Record<string, number> = {}
  const kept: Record<string, number> = {}
  const found: Array<Resource> = []
  for (const linked of linkedResources(resources)) {
    const isKept = keepFinancial && linked.links.isFinancial === true
    yield* findBelongings([linked], ["crm", "crm_history"], found)
    yield* keepOwn(linked)
    found.push(linked.resource)
    const records = yield* countRecords(linked.resource, isKept ? kept : rows)
    identifiers.push(...records.map((of): Identifier => (isKept ? { kind: "financial", of } : of)))
  }
  const [formsOf, countries] = [yield* Effect.promise(phoneReader), yield* countriesOfLocations()]
  const identifiersOf = (value: string) => addressIdentifiers(value, formsOf(value, countries))
  const shared = new Set(
    others.flatMap(({ emails, phones }) => [...emails, ...phones].flatMap(identifiersOf)).map(({ value }) => value)
  )
  const addresses = (yield* query(
    { value: String, isEmail: Boolean },
    `SELECT DISTINCT coalesce(email, digits) AS value, email IS NOT NULL AS isEmail FROM ${addressesTable} WHERE value IS NOT NULL ORDER BY ALL`
  )).filter(({ value }) => !identifiersOf(value).some((one) => shared.has(one.value)))
  persons.push(...addresses.flatMap(({ value }) => identifiersOf(value)))
  if (keepFinancial) identifiers.push(...persons.map((of): Identifier => ({ kind: "financial", of })))
  return {
    identifiers: [...persons, ...identifiers],
    texts: textsOf(
      contacts,
      addresses.flatMap(({ isEmail, value }) => (isEmail ? [value] : [])),
      addresses.flatMap(({ isEmail, value }) => {
        const { international, national } = formsOf(value, countries)
        return isEmail ? [] : [value, ...international, ...national]
      })
    ),
    files: yield* filesOfRecords(found, keysTable),
    rows,
    kept
  }
})

/** Removes records from the keys that name another contact: they belong to that one. */
const keepOwn = Effect.fnUntraced(function* ({ resource, links }: LinkedResource) {
  const columns = ownColumns(links.contacts)
  if (columns.length === 0 || resource.table === "contacts") return
  yield* (yield* Warehouse).run(
    `DELETE FROM ${keysTable(resource)} WHERE (location_id, key) IN (
       SELECT (location_id, ${keyText(resource)}) FROM crm.${name(resource.table)} WHERE ${columns
         .map(
           (column) =>
             `(${name(column)} <> '' AND (location_id, ${name(column)}) NOT IN (SELECT (location_id, id) FROM ${contactsTable}))`
         )
         .join(" OR ")})`
  )
})

/** Addresses must not be found afterwards. Names and ids may occur in what belongs to others. */
const textsOf = (
  contacts: ReadonlyArray<FoundContact>,
  emails: ReadonlyArray<string>,
  phones: ReadonlyArray<string>
): ReadonlyArray<Wanted> => {
  const labelled = (label: string, texts: ReadonlyArray<string>) =>
    [...new Set(texts)].map((text, index) => ({ label: `${label} ${index + 1}`, text }))
  return [
    ...labelled("email", emails),
    ...labelled("phone", phones),
    ...labelled(
      "contact id",
      contacts.map(({ id }) => id)
    ),
    ...labelled(
      "name",
      contacts.flatMap(({ name: text }) => (text !== null && /\S\s+\S/.test(text.trim()) ? [text.trim()] : []))
    )
  ]
}
