/** `sluice retention`: removes what the settings say is too old. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../../catalog/discover.ts"
import { heldIn } from "../erasure/holds.ts"
import { jobOf } from "../erasure/job.ts"
import { type RetentionRule, ageColumn, planRetention } from "../erasure/retention.ts"
import type { Flags } from "../../../settings/read.ts"
import { outputSettings } from "../../../settings/settings.ts"
import { loadCatalogue } from "../../../command/catalogue.ts"
import { Environment } from "../../../values/environment.ts"
import { planOrErase } from "./erasing.ts"
import { openToRemove } from "./removing.ts"
import { usageError } from "../../../console/errors.ts"
import { instant } from "../../../console/result.ts"

export const retention = Effect.fn("command.retention")(function* (flags: Flags & { readonly apply: boolean }) {
  const output = yield* outputSettings(flags, yield* Environment)
  const catalogue = yield* loadCatalogue(output)
  const rules = Object.entries(output.values.retention.periods).map(([table, period]) => ({ table, period }))
  if (rules.length === 0)
    return yield* usageError(
      "No table has a retention period.",
      'add messages = "24 months" under [retention] to the settings file'
    )
  for (const { table } of rules) {
    const resource = catalogue.resources.find((one) => one.table === table)
    if (resource === undefined || ageColumn(resource) === undefined)
      return yield* usageError(
        `retention.${table}: ${resource ? "its records have no time at which they were made" : "there is no such list of records"}.`,
        "./sluice dictionary"
      )
  }
  const plan = planned(catalogue, rules, output)
  return yield* planOrErase("retention", flags, "./sluice retention --apply", { catalogue, output }, plan)
})

const planned = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  rules: ReadonlyArray<RetentionRule>,
  output: { readonly folder: string; readonly memoryMb: number }
) {
  const tables = yield* openToRemove(output)
  const now = instant(yield* Clock.currentTimeMillis)
  const plan = yield* planRetention(catalogue, rules, yield* heldIn(output.folder), now).pipe(Effect.provide(tables))
  return jobOf(plan, rules.map(({ period, table }) => `${table}: ${period}`).join(", "), now)
}, Effect.scoped)
