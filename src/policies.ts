/** The schema policies of the settings file, with every name in them checked. */
import { Effect } from "effect"
import type { Catalogue } from "./catalog/discover.ts"
import type { SchemaPolicies } from "./catalog/schema-policy.ts"
import { tablesOf } from "./catalog/tables.ts"
import { type Failure, settingFailure } from "./failure.ts"
import { type Flags, defaultFile, fileSettings } from "./settings.ts"

export const schemaPolicies = Effect.fn("settings.schema")(function* (
  flags: Flags,
  { resources }: Catalogue
): Effect.fn.Return<SchemaPolicies, Failure> {
  const { policy = "evolve", accepted = [], resources: own = {} } = (yield* fileSettings(flags)).schema ?? {}
  const file = flags.config ?? defaultFile
  const stranger = Object.keys(own).find((name) => !resources.some(({ table }) => table === name))
  if (stranger !== undefined) return yield* settingFailure(`${file}: schema.resources.${stranger}: no such resource`)
  const tables = new Set(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  const nowhere = accepted.find((place) => !/.\../.test(place) || !tables.has(place.split(".")[0]!))
  if (nowhere !== undefined)
    return yield* settingFailure(`${file}: schema.accepted: ${nowhere} is no table and field with a dot between them`)
  return { policy, byResource: new Map(Object.entries(own)), accepted: new Set(accepted) }
})
