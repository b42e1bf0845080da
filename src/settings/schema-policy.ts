/** The schema policy, whose names are checked against the catalogue. */
import * as Effect from "effect/Effect"
import type { Catalogue } from "../catalog/discover.ts"
import { schemaPolicyNames } from "../catalog/schema-policy.ts"
import { tablesOf } from "../catalog/tables.ts"
import { closest } from "./closest.ts"
import { type SettingProblem, SettingsError } from "./errors.ts"
import { type Section, type ValuesOf, enumeration, oneOfByName, setting, textList } from "../values/setting.ts"
import { wrong } from "../values/finding.ts"

export const schemaSection = {
  policy: setting(enumeration(schemaPolicyNames), {
    description:
      "What happens to unknown fields: _extra holds them (evolve), only the vault holds them (discard), or only the vault holds them and the resource is incomplete (freeze).",
    default: "evolve"
  }),
  resources: setting(oneOfByName(schemaPolicyNames), {
    description: "Policy of single resources, which overrides the policy above.",
    default: {},
    example: { invoices: "freeze" }
  }),
  accepted: setting(textList, {
    description: "Fields that a frozen resource may nevertheless send, as table.field.",
    default: [],
    example: ["contacts.loyaltyTier"]
  })
} satisfies Section

export interface SchemaSettings {
  readonly schema: ValuesOf<typeof schemaSection> & {
    /** The line of the file that contains a setting. */
    readonly placeOf: (path: string) => string
  }
}

export const schemaPolicies = Effect.fn("settings.schema")(function* (settings: SchemaSettings, catalogue: Catalogue) {
  const problems = policyProblems(settings, catalogue)
  if (problems.length > 0) return yield* new SettingsError({ problems })
  const { policy, resources, accepted } = settings.schema
  return { policy, byResource: new Map(Object.entries(resources)), accepted: new Set(accepted) }
})

export const policyProblems = (
  { schema: { placeOf, resources: byName, accepted } }: SchemaSettings,
  { resources }: Catalogue
): ReadonlyArray<SettingProblem> => {
  const names = resources.map(({ table }) => table)
  const tables = new Set(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  return [
    ...Object.keys(byName)
      .filter((name) => !names.includes(name))
      .map((resource) => {
        const near = closest(resource, names)
        return wrong(placeOf(`schema.resources.${resource}`), {
          _tag: "UnknownResource",
          resource,
          closest: near
        } as const)
      }),
    ...accepted
      .filter((place) => !/.\../.test(place) || !tables.has(place.split(".")[0]!))
      .map((field) => {
        const [table, ...names] = field.split(".")
        const near = names.length > 0 ? closest(table!, tables) : undefined
        const path = near && [near, ...names].join(".")
        return wrong(placeOf("schema.accepted"), { _tag: "UnknownField", field, closest: path } as const)
      })
  ]
}
