/** What becomes of what the service sends and no definition names. */
import type { SettingValues } from "../settings/table.ts"
import type { Resource } from "./resource.ts"

/**
 * `evolve`: unknown fields are kept in `_extra`. `discard`: they stay in the vault alone. `freeze`: the same, and the
 * resource ends incomplete until they are accepted. All of them are told in `meta.schema_changes`.
 */
type Policy = SettingValues["schema"]["policy"]

export interface SchemaPolicies {
  readonly policy: Policy
  /** By table of the resource, where it is another. */
  readonly byResource: ReadonlyMap<string, Policy>
  /** `table.field` of what a frozen resource may send all the same. */
  readonly accepted: ReadonlySet<string>
}
export const evolving: SchemaPolicies = { policy: "evolve", byResource: new Map(), accepted: new Set() }

export const policyOf = ({ policy, byResource }: SchemaPolicies, { table }: Resource): Policy =>
  byResource.get(table) ?? policy

/** Whether the resource has to stay as it is, and this is something else. */
export const isRefused = (policies: SchemaPolicies, resource: Resource, table: string, field: string): boolean =>
  policyOf(policies, resource) === "freeze" && !policies.accepted.has(`${table}.${field}`)

/** Whether an unknown field goes into the tables. Decided from the settings alone, so that a rebuild decides alike. */
export const isKept = (policies: SchemaPolicies, resource: Resource, table: string, field: string): boolean =>
  policyOf(policies, resource) !== "discard" && !isRefused(policies, resource, table, field)
