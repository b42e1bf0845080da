/** `sluice plan`: estimates what a sync would read, in requests and time, and says what the estimate is based on. */
import { Clock, Effect } from "effect"
import { Api } from "../stages/api/api.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { exitCodes } from "../values/failure.ts"
import { type Estimate, estimate } from "../stages/plan/estimate.ts"
import { makePlan } from "../stages/plan/plan.ts"
import type { Flags } from "../settings/read.ts"
import { schemaPolicies } from "../settings/schema-policy.ts"
import { type AccountSettings, syncSettings } from "../settings/settings.ts"
import { bringUpToDate } from "../run/sync-account.ts"
import { type Range, between, rangeText, sumOf } from "../values/range.ts"
import { secondsPerRequest } from "../stores/warehouse/meta/runs.ts"
import { loadCatalogue } from "../run/catalogue.ts"
import { Environment } from "../values/environment.ts"
import { CommandError, explained } from "../run/console/errors.ts"
import { outputLayer } from "../run/output-layer.ts"
import { Output, duration, placeOf, table } from "../run/console/output.ts"
import { type Holder, holderOf, holderText, isLocked } from "../run/readable.ts"
import { scopesOf } from "../run/report.ts"
import { printResult } from "../run/result.ts"
import { choiceOf } from "../run/selection.ts"

interface PlanFlags extends Flags {
  readonly only: string | undefined
  readonly except: string | undefined
  readonly full: boolean
  readonly json: boolean
}

export const plan = Effect.fn("cli.plan")(function* (flags: PlanFlags) {
  const { keepSecret } = yield* Output
  const { output, accounts } = yield* syncSettings(flags, yield* Environment)
  accounts.flatMap(({ secrets }) => secrets).forEach(keepSecret)
  const catalogue = yield* loadCatalogue(output)
  const choice = { ...(yield* choiceOf(flags)), full: flags.full }
  const policies = yield* schemaPolicies(output, catalogue)
  const planned = Effect.gen(function* () {
    yield* bringUpToDate(catalogue, output.folder, policies)
    const learnt = yield* secondsPerRequest()
    return yield* Effect.forEach(accounts, (account) => planLocation(catalogue, account, choice, learnt))
  }).pipe(Effect.provide(outputLayer(output)))
  return yield* planned.pipe(
    Effect.flatMap((plans) => report(plans, catalogue, flags.json)),
    Effect.catchIf(isLocked, (locked) => {
      const holder = holderOf(output.folder, locked)
      return holder.isRun ? reportHolder(holder, flags.json) : Effect.fail(locked)
    })
  )
})

interface LocationPlan {
  readonly location: string
  readonly estimated: ReadonlyArray<Estimate>
  readonly requests: Range
  readonly elapsedMs: Range
  readonly dailyRemaining: number | undefined
}

const planLocation = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  account: AccountSettings,
  choice: { readonly only: ReadonlyArray<string>; readonly except: ReadonlyArray<string>; readonly full: boolean },
  learnt: number | undefined
) {
  const { location, optional, api: settings } = account
  return yield* Effect.gen(function* () {
    const { expected } = yield* makePlan(catalogue, location, { ...choice, optional })
    const startedAt = yield* Clock.currentTimeMillis
    const api = yield* Api
    const estimated = yield* estimate(expected, account)
    const sent = api.requestsByResource.values().reduce((sum, count) => sum + count, 0)
    const latency = sent > 0 ? ((yield* Clock.currentTimeMillis) - startedAt) / 1000 / sent : 0
    const requests = sumOf(estimated.map((one) => one.requests))
    const { burst, dailyRemaining } = api.usage()
    const timeOf = (count: number) =>
      Math.round(
        Math.max((Math.max(0, count - burst) / burst) * settings.limits.windowMs, count * (learnt ?? latency) * 1000)
      )
    const elapsedMs = between(timeOf(requests.min), requests.max === undefined ? undefined : timeOf(requests.max))
    return { location, estimated, requests, elapsedMs, dailyRemaining } satisfies LocationPlan
  }).pipe(Effect.provide(Api.layer(settings)), Effect.mapError(explained(location)))
})

const report = Effect.fnUntraced(function* (plans: ReadonlyArray<LocationPlan>, catalogue: Catalogue, json: boolean) {
  const { print, say } = yield* Output
  const steps = plans.flatMap(({ location, estimated }) => estimated.map((one) => ({ location, ...one })))
  const refused = steps.filter((step) => step.refused)
  const scopeOf = (label: string) => scopesOf(catalogue, [label])[0]!
  const scopes = scopesOf(
    catalogue,
    refused.filter((step) => step.refused?.kind === "forbidden").map(({ label }) => label)
  )
  // The service answers no list at all: the address is wrong.
  const lists = steps.filter(({ step, label }) => step.mode !== "children" && label === step.resource.table)
  if (
    refused.length > 2 &&
    refused.length >= lists.length - 1 &&
    refused.every((one) => one.refused!.kind === "notFound")
  )
    return yield* new CommandError({
      ends: "config",
      message: `The service answers 404 to every list, for example ${refused[0]!.label}: ${refused[0]!.refused!.message}.`,
      next: "Check the path of account.base_url: it must be the address of the API."
    })
  const exitCode = scopes.length > 0 ? exitCodes.credentials : 0
  const next =
    scopes.length > 0
      ? `add ${scopes.join(", ")} to the scopes of the token, or leave the tables out with --except; then ./sluice plan`
      : "./sluice sync"
  const requests = sumOf(plans.map((one) => one.requests))
  // Locations are read side by side, each within its own rate limit.
  const longest = (bound: "min" | "max") =>
    plans.reduce<number | undefined>((most, { elapsedMs }) => {
      const time = elapsedMs[bound]
      return most === undefined || time === undefined ? undefined : Math.max(most, time)
    }, 0)
  const elapsedMs = between(longest("min")!, longest("max"))
  const dailyRemaining = plans.length === 1 ? plans[0]!.dailyRemaining : undefined
  if (json)
    return yield* printResult("plan", {
      exitCode,
      next,
      data: {
        requests,
        elapsedMs,
        ...(dailyRemaining !== undefined && { dailyRemaining }),
        steps: steps.map(({ location, step, label, records, requests, basis, refused }) => ({
          location,
          resource: label,
          mode: label === step.resource.table ? step.mode : "children",
          ...(records !== undefined && { records }),
          requests,
          basis,
          ...(refused && {
            refused: { reason: refused.message, ...(refused.kind === "forbidden" && { scope: scopeOf(label) }) }
          })
        }))
      }
    })

  const place = placeOf(steps)
  for (const line of table(
    [...place.head, "resource", "mode", "records", "requests", "based on"],
    steps.map(({ location, step, label, records, requests, basis, refused }) => [
      ...place.of({ location }),
      label,
      label === step.resource.table ? step.mode : "children",
      records?.toLocaleString("en-US") ?? "",
      refused ? "" : (rangeText(requests) ?? "unknown"),
      refused
        ? `refused: ${refused.kind === "forbidden" ? `scope ${scopeOf(label)}; ` : ""}${refused.message.slice(0, 80)}`
        : basis
    ])
  ))
    print(line)
  const time =
    elapsedMs.max === undefined ? `at least ${duration(elapsedMs.min)}` : timeText(elapsedMs.min, elapsedMs.max)
  say(
    `${capitalised(rangeText(requests) ?? "an unknown number of")} requests, ${time}${dailyRemaining === undefined ? "" : `; ${dailyRemaining.toLocaleString("en-US")} requests left today`}.`
  )
  say(`Next: ${next}`)
  return exitCode
})

const timeText = (min: number, max: number): string => {
  const [from, to] = [duration(min), duration(max)]
  return from === to ? `about ${to}` : `${from} to ${to}`
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A plan needs the state in the warehouse; while a run has it, its own plan and progress answer. */
const reportHolder = Effect.fnUntraced(function* (holder: Holder, json: boolean) {
  const { print, say } = yield* Output
  const next = "./sluice status"
  if (json) return yield* printResult("plan", { exitCode: 0, next, data: { holder, steps: [] } })
  print(holderText(holder, yield* Clock.currentTimeMillis))
  say(`Next: ${next}`)
  return 0
})
