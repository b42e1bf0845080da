/** `sluice plan`: estimates what a sync would read, in requests and time, and says what the estimate is based on. */
import { Effect, Layer } from "effect"
import { Api } from "../api/api.ts"
import { discover } from "../catalog/discover.ts"
import { makePlan } from "../plan/plan.ts"
import { estimate } from "../plan/estimate.ts"
import { outputPaths } from "../settings/paths.ts"
import { oneAccount } from "../settings/settings.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { prepare } from "../warehouse/schema.ts"
import { choiceOf } from "./selection.ts"
import { Environment } from "./environment.ts"
import { explained } from "./errors.ts"
import { Output, duration, table } from "./output.ts"
import type { SyncFlags } from "./sync.ts"

export const plan = Effect.fn("cli.plan")(function* (flags: Omit<SyncFlags, "acceptDeletions">) {
  const { keepSecret, print, say } = yield* Output
  const { output, account } = yield* oneAccount(flags, yield* Environment)
  account.secrets.forEach(keepSecret)
  const catalogue = yield* Effect.promise(() => discover())
  const layers = Layer.mergeAll(
    Warehouse.layer(outputPaths(output.folder).warehouse, { ...output, access: "write" }),
    Api.layer(account.api)
  )
  const { estimated, requests, elapsedMs, dailyRemaining } = yield* Effect.gen(function* () {
    yield* prepare(catalogue)
    const choice = { ...(yield* choiceOf(flags)), optional: account.optional, full: flags.full }
    const steps = yield* makePlan(catalogue, account.location, choice)
    return yield* estimate(steps, account, account.api.limits)
  }).pipe(Effect.provide(layers), Effect.mapError(explained(account.location)))

  if (flags.json) {
    print(JSON.stringify({ requests, elapsedMs, steps: estimated }))
    return 0
  }
  for (const line of table(
    ["resource", "mode", "records", "requests", "based on"],
    estimated.map((step) => [step.resource, step.mode, step.records ?? "?", step.requests ?? "?", step.from])
  ))
    print(line)
  const open = estimated.filter((step) => step.requests === undefined).map(({ resource }) => resource)
  if (open.length > 0) say(`Not estimated until their parents are synced: ${open.join(", ")}.`)
  say(
    `About ${requests} requests, ${duration(elapsedMs)} at the account's limits${dailyRemaining === undefined ? "" : `; ${dailyRemaining} left today`}.`
  )
  say("Next: ./sluice sync")
  return 0
})
