/** The schema policy: what happens to fields that the service sends and no definition names. */
import type { Resource } from "./resource.ts"

/**
 * `evolve`: the column `_extra` holds unknown fields. `discard`: only the vault holds them. `freeze`: only the vault holds
 * them, and the resource is incomplete until the settings accept them. `meta.schema_changes` lists them in each case.
 */
export const schemaPolicyNames = ["evolve", "freeze", "discard"] as const
type Policy = (typeof schemaPolicyNames)[number]

export interface SchemaPolicies {
  readonly policy: Policy
  /** Policies of single resources, by table. */
  readonly byResource: ReadonlyMap<string, Policy>
  /** Fields that a frozen resource may nevertheless send, as `table.field`. */
  readonly accepted: ReadonlySet<string>
}
export const evolving: SchemaPolicies = { policy: "evolve", byResource: new Map(), accepted: new Set() }

export const policyOf = ({ policy, byResource }: SchemaPolicies, { table }: Resource): Policy =>
  byResource.get(table) ?? policy

/** Whether the resource is frozen and the settings do not accept this unknown field or value. */
export const isBlocked = (policies: SchemaPolicies, resource: Resource, table: string, field: string): boolean =>
  policyOf(policies, resource) === "freeze" && !policies.accepted.has(`${table}.${field}`)

/** Whether an unknown field is stored in `_extra`. It depends on the settings alone, so that a rebuild gives the same rows. */
export const isKept = (policies: SchemaPolicies, resource: Resource, table: string, field: string): boolean =>
  policyOf(policies, resource) !== "discard" && !isBlocked(policies, resource, table, field)
