/** The links of a definition to people, with those that follow from the roles of its columns. */
import { perResource } from "./per-resource.ts"
import type { PersonLinks } from "./person.ts"
import type { Resource } from "./resource.ts"
import type { Role } from "./roles.ts"
import { pathOf, tablesOf } from "./tables.ts"

const addressRoles: ReadonlyArray<Role | undefined> = ["email", "phone", "emailOrPhone"]

/** `undefined` for records that belong to no person. */
export const linksOf = (resource: Resource): PersonLinks | undefined => {
  const { person } = resource
  return person === undefined || person.addresses !== undefined
    ? person
    : { ...person, addresses: addressesOf(resource) }
}

/** An erasure asks for those of every record. */
const addressesOf = perResource((resource) =>
  tablesOf(resource).flatMap((table) =>
    table.columns.flatMap(({ name, role }) => (addressRoles.includes(role) ? [pathOf(resource, table.name, name)] : []))
  )
)
