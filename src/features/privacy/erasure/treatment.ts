/** Whether a record belongs to an erased person, from its row as it would be stored. */
import { linksOf } from "../../../catalog/person-links.ts"
import type { PersonLinks } from "../../../catalog/person.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { keySeparator } from "../../../catalog/tables.ts"
import type { Identifier, ListedAs } from "./job.ts"
import type { Suppression } from "./suppression.ts"

/** A row as the normaliser makes it: its columns, and the rows of its child tables by table. */
export type SentRow = Readonly<Record<string, unknown>>

/**
 * What happens to a row of somebody who is on the list: whether it is stored, not at all, or without the person. It belongs
 * to them alone: a record that names another contact belongs to that one, also if it contains an address of the person, or
 * names them among others.
 */
export const treatmentOf = (
  { addressesIn, has }: Suppression,
  resource: Resource,
  location: string,
  key: ReadonlyArray<unknown>,
  row: SentRow
): "stored" | "removed" | "anonymised" => {
  const { table } = resource
  const person = linksOf(resource)
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
  if (person.owner) {
    const [of, owner] = [String(row[person.owner.table]), String(row[person.owner.key])]
    const parent = { kind: "record", table: of, location, key: owner } as const
    return has(parent) || has({ kind: "financial", of: parent }) ? "removed" : "stored"
  }
  return listed(
    valuesOf(person.addresses, row)
      .flatMap((value) => addressesIn(location, value))
      .filter(has)
  )
}

/** The paths that are columns of the record itself. */
export const ownColumns = (paths: PersonLinks["contacts"]): ReadonlyArray<string> =>
  (paths ?? []).filter((path) => !path.includes("."))

/** The texts at these paths: a column, or a column of the rows of a child table. */
const valuesOf = (paths: PersonLinks["contacts"], row: SentRow): ReadonlyArray<string> =>
  (paths ?? []).flatMap((path) => {
    const [table = "", column] = path.split(".")
    const values =
      column === undefined ? [row[path]] : ((row[table] ?? []) as ReadonlyArray<SentRow>).map((child) => child[column])
    return values.filter((value): value is string => typeof value === "string" && value !== "")
  })

/**
 * Whether a record that no definition can read contains something that is on the list, anywhere: then it is a record of an
 * erased person, because nobody can tell whose else it is.
 */
export const namesErased = (
  { addressesIn, has }: Suppression,
  { person, table }: Resource,
  location: string,
  record: unknown
): boolean => {
  const tables = [table, "contacts", ...Object.values(person?.records ?? {})]
  const isListed = (text: string): boolean =>
    has({ kind: "contact", location, id: text }) ||
    tables.some((of) => has({ kind: "record", table: of, location, key: text })) ||
    [text, ...(text.match(/[^\s<>"'(),:;]+@[^\s<>"'(),:;]+|\+?[0-9(][0-9() ./-]{5,}[0-9]/g) ?? [])]
      .flatMap((one) => addressesIn(location, one))
      .some(has)
  const visit = (value: unknown): boolean =>
    typeof value === "object" && value !== null && !JSON.isRawJSON(value)
      ? Object.entries(value).some(([name, member]) => isListed(name) || visit(member))
      : isListed(JSON.isRawJSON(value) ? value.rawJSON : String(value))
  return visit(record)
}
