/**
 * Finds a person: the contacts with an address or id, also in earlier versions of their rows, and the contacts that share an
 * address with them. Creates the tables `subject_contacts` and `subject_addresses` in memory, which the other modules use.
 */
import { Effect } from "effect"
import { hasTable, query, queryNumber, queryTexts } from "../../../stores/warehouse/query.ts"
import { type RowOf, orNull } from "../../../values/rows.ts"
import { literal, selected } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { addressValues, emailForms, emailsSql, isAddressSql, isPossibleSql, phonesSql } from "./addresses.ts"

export interface Wanted {
  readonly emails: ReadonlyArray<string>
  /** Of phone numbers, as `digitsOf` returns them. */
  readonly digits: ReadonlyArray<string>
  readonly contacts: ReadonlyArray<string>
}

const textsIn = (json: unknown): ReadonlyArray<string> =>
  selected<ReadonlyArray<string | null>>(json).filter((text): text is string => !!text)

const contactColumns = {
  location: String,
  id: String,
  name: orNull(String),
  emails: textsIn,
  phones: textsIn,
  deletedAt: orNull(String),
  /** Whether the given address or id is that of the contact; otherwise it shares another address with one that is. */
  isMatch: Boolean
}
export type FoundContact = RowOf<typeof contactColumns>

/** The tables are in the memory of the connection, because the warehouse is only read. */
export const contactsTable = "memory.main.subject_contacts"
const possibleTable = "memory.main.subject_possible"
export const addressesTable = "memory.main.subject_addresses"

/** The countries of the locations, which say how a phone number without the code of its country is meant. */
export const countriesOfLocations = () =>
  queryTexts("SELECT DISTINCT upper(country) FROM crm.locations WHERE length(country) = 2")

/** The country of each location, if a sync has read it. */
export const countriesByLocation = Effect.fnUntraced(function* () {
  if (!(yield* hasTable("crm.locations"))) return new Map()
  const found = yield* query(
    { location: String, country: String },
    "SELECT location_id AS location, upper(country) AS country FROM crm.locations WHERE length(country) = 2 ORDER BY ALL"
  )
  return new Map(found.map(({ location, country }) => [location, country]))
})

/** Addresses that no contact has may belong to people who are no contacts; they count as theirs. */
export const findContacts = Effect.fn("subject.find")(function* (wanted: Wanted) {
  const warehouse = yield* Warehouse
  const given = addressValues(wanted.emails.flatMap(emailForms), wanted.digits)
  yield* warehouse.run(`CREATE OR REPLACE TABLE ${addressesTable} AS ${given}`)
  yield* warehouse.run(
    `CREATE OR REPLACE TABLE ${contactsTable} AS
     SELECT DISTINCT location_id, id, true AS is_match FROM ${everyVersion("contacts")}
     WHERE id IN (${["", ...wanted.contacts].map(literal).join(", ")})
     UNION ${withAddresses("true")}`
  )
  // Merged contacts and duplicates: each round adds those that share an address with the contacts that are known.
  for (let before = -1, known = yield* countOf(contactsTable); known > before;) {
    before = known
    yield* warehouse.run(`INSERT INTO ${addressesTable} ${addressesOfContacts} EXCEPT FROM ${addressesTable}`)
    yield* warehouse.run(
      `INSERT INTO ${contactsTable} SELECT location_id, id, is_match FROM (${withAddresses("false")} UNION ${mergedContacts}) AS found
       WHERE (location_id, id) NOT IN (SELECT (location_id, id) FROM ${contactsTable})`
    )
    known = yield* countOf(contactsTable)
  }
  return yield* query(contactColumns, described(contactsTable))
})

/** Contacts that were not found and may be the person all the same. */
export const findPossible = Effect.fn("subject.possible")(function* ({ digits, emails }: Omit<Wanted, "contacts">) {
  if (emails.length + digits.length === 0) return []
  const isPossible = (column: string) => isPossibleSql(column, emails.flatMap(emailForms), digits)
  const selects = contactAddresses.map(
    ([table, id, column]) =>
      `SELECT location_id, ${id} AS id, false AS is_match FROM ${everyVersion(table)} WHERE ${column} IS NOT NULL AND ${isPossible(column)}`
  )
  yield* (yield* Warehouse).run(
    `CREATE OR REPLACE TABLE ${possibleTable} AS FROM (${selects.join(" UNION ")})
     WHERE (location_id, id) NOT IN (SELECT (location_id, id) FROM ${contactsTable})`
  )
  return yield* query(contactColumns, described(possibleTable))
})

/** Keeps these contacts only, with their addresses and those that were given. */
export const keepContacts = Effect.fnUntraced(function* (
  kept: ReadonlyArray<Pick<FoundContact, "location" | "id">>,
  given: { readonly emails: ReadonlyArray<string>; readonly digits: ReadonlyArray<string> }
) {
  const warehouse = yield* Warehouse
  const keys = kept.map(({ location, id }) => `(${literal(location)}, ${literal(id)})`)
  yield* warehouse.run(
    `DELETE FROM ${contactsTable} ${keys.length === 0 ? "" : `WHERE (location_id, id) NOT IN (${keys.join(", ")})`}`
  )
  yield* warehouse.run(
    `CREATE OR REPLACE TABLE ${addressesTable} AS (${addressValues(given.emails.flatMap(emailForms), given.digits)}) UNION ${addressesOfContacts}`
  )
})

/** The current rows of a table and their earlier versions. */
const everyVersion = (table: string) =>
  `(SELECT * FROM crm.${table} UNION ALL BY NAME SELECT * EXCLUDE (_valid_from, _valid_to) FROM crm_history.${table})`

/** Columns with addresses of contacts: the table, its column with the id, and the column. */
const contactAddresses = [
  ["contacts", "id", "email"],
  ["contacts", "id", "phone"],
  ["contact_emails", "contact_id", "email"],
  ["contact_phones", "contact_id", "phone"]
] as const

const withAddresses = (isMatch: string) =>
  contactAddresses
    .map(
      ([table, id, column]) =>
        `SELECT DISTINCT location_id, ${id} AS id, ${isMatch} AS is_match FROM ${everyVersion(table)} WHERE ${isAddressSql(column, addressesTable)}`
    )
    .join(" UNION ")

const addressesOfContacts = contactAddresses
  .map(
    ([table, id, column]) =>
      `SELECT DISTINCT ${column === "email" ? `unnest(${emailsSql(column)}) AS email, NULL::VARCHAR AS digits` : `NULL::VARCHAR AS email, unnest(${phonesSql(column)}) AS digits`}
       FROM ${everyVersion(table)} WHERE (location_id, ${id}) IN (SELECT (location_id, id) FROM ${contactsTable}) AND ${column} IS NOT NULL`
  )
  .join(" UNION ")

/** Contacts that the service has merged since: only a payment still knows both. */
const mergedContacts = `SELECT location_id, merged_from_contact_id AS id, false AS is_match FROM crm.transactions
  WHERE merged_from_contact_id IS NOT NULL AND (location_id, contact_id) IN (SELECT (location_id, id) FROM ${contactsTable})`

const described = (table: string) => `
  SELECT s.location_id AS location, s.id, bool_or(s.is_match) AS isMatch, any_value(coalesce(c.name, concat_ws(' ', c.first_name, c.last_name))) AS name,
    any_value(c._deleted_at)::VARCHAR AS deletedAt,
    to_json(list_distinct(list(c.email) || flatten(list(e.emails)))) AS emails, to_json(list_distinct(list(c.phone) || flatten(list(p.phones)))) AS phones
  FROM ${table} AS s LEFT JOIN crm.contacts AS c USING (location_id, id)
  LEFT JOIN (SELECT location_id, contact_id AS id, list(email) AS emails FROM crm.contact_emails GROUP BY ALL) AS e USING (location_id, id)
  LEFT JOIN (SELECT location_id, contact_id AS id, list(phone) AS phones FROM crm.contact_phones GROUP BY ALL) AS p USING (location_id, id)
  GROUP BY ALL ORDER BY isMatch DESC, s.location_id, s.id`

const countOf = (table: string) => queryNumber(`SELECT count(*) FROM ${table}`)
