/** The links of a definition to people, with those that follow from the roles of its columns. */
import type { PersonLinks } from "./person.ts"
import type { Resource } from "./resource.ts"
import type { Role } from "./roles.ts"
import { pathOf, tablesOf } from "./tables.ts"

const addressRoles: ReadonlyArray<Role | undefined> = ["email", "phone", "emailOrPhone"]

/** `undefined` for records that belong to no person. */
export const linksOf = (resource: Resource): PersonLinks | undefined => {
  const { person } = resource
  if (person === undefined || person.addresses !== undefined) return person
  const known = derived.get(resource)
  if (known) return known
  const addresses = tablesOf(resource).flatMap((table) =>
    table.columns.flatMap(({ name, role }) => (addressRoles.includes(role) ? [pathOf(resource, table.name, name)] : []))
  )
  const links = { ...person, addresses }
  derived.set(resource, links)
  return links
}

/** An erasure asks for those of every record. */
const derived = new WeakMap<Resource, PersonLinks>()
