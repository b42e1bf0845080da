/** Checks the names in the settings of the schema policy against the catalogue. */
import * as Effect from "effect/Effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { SchemaPolicies } from "../catalog/schema-policy.ts"
import { tablesOf } from "../catalog/tables.ts"
import { closest } from "./closest.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import type { SchemaSettings } from "./settings.ts"

export const schemaPolicies = Effect.fn("settings.schema")(function* (
  { schema: { file, policy, resources: byName, accepted } }: SchemaSettings,
  { resources }: Catalogue
): Effect.fn.Return<SchemaPolicies, SettingsError> {
  const names = resources.map(({ table }) => table)
  const tables = new Set(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  const problems: ReadonlyArray<SettingProblem> = [
    ...Object.keys(byName)
      .filter((name) => !names.includes(name))
      .map((resource): SettingProblem => {
        const near = closest(resource, names)
        return { _tag: "UnknownResource", file, resource, ...(near !== undefined && { closest: near }) }
      }),
    ...accepted
      .filter((place) => !/.\../.test(place) || !tables.has(place.split(".")[0]!))
      .map((field): SettingProblem => ({ _tag: "UnknownField", file, field }))
  ]
  if (problems.length > 0) return yield* new SettingsError({ problems })
  return { policy, byResource: new Map(Object.entries(byName)), accepted: new Set(accepted) }
})
