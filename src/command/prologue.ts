/** What commands need of the settings before they work. */
import * as Effect from "effect/Effect"
import type { Flags } from "../settings/read.ts"
import { type SchemaSettings, policyProblems, schemaPolicies } from "../settings/schema-policy.ts"
import { type OutputSettings, checkSettings, syncSettings } from "../settings/settings.ts"
import { resolveTargets, targetProblems } from "../settings/targets.ts"
import { type WithheldSettings, hashKeyProblems, withholding } from "../settings/withheld.ts"
import { Environment } from "../values/environment.ts"
import { definedCatalogue, loadCatalogue } from "./catalogue.ts"
import { Output } from "../console/streams.ts"

/** The settings of a command that reads accounts. From now on, their secrets are not written. */
export const accountSettings = Effect.fnUntraced(function* (flags: Flags) {
  const { keepSecret } = yield* Output
  const settings = yield* syncSettings(flags, yield* Environment)
  settings.accounts.flatMap(({ secrets }) => secrets).forEach(keepSecret)
  return settings
})

/**
 * The settings and `all` that is wrong with them, for a command that does not stop there. `problems`: without those that only the
 * catalogue shows. From now on, their secrets are not written.
 */
export const checkedSettings = Effect.fnUntraced(function* (flags: Flags) {
  const { keepSecret } = yield* Output
  const checked = checkSettings(flags, yield* Environment)
  checked.accounts.flatMap(({ secrets }) => secrets).forEach(keepSecret)
  const { catalogue, problems } = withholding(checked.output, yield* definedCatalogue(checked.output))
  return {
    ...checked,
    catalogue,
    all: [
      ...checked.problems,
      ...policyProblems(checked.output, catalogue),
      ...problems,
      ...hashKeyProblems(checked.output, catalogue),
      ...targetProblems(checked.output.publishing, catalogue)
    ]
  }
})

/** The catalogue, and what the settings say of its tables. */
export const catalogueOf = Effect.fnUntraced(function* (
  output: Pick<OutputSettings, "folder" | "pipelines"> & SchemaSettings & WithheldSettings
) {
  const catalogue = yield* loadCatalogue(output)
  return { catalogue, policies: yield* schemaPolicies(output, catalogue) }
})

/** The same for a command that publishes, too. */
export const definitionsOf = Effect.fnUntraced(function* (output: OutputSettings & SchemaSettings) {
  const { catalogue, policies } = yield* catalogueOf(output)
  return { catalogue, policies, targets: yield* resolveTargets(output, catalogue) }
})
