/** Estimates what a sync would read, in requests and time, and says what the estimate is based on. */
import { chosenLinks } from "../catalog/link-columns.ts"
import { newFiles } from "../stores/warehouse/file-links.ts"
import { Clock, Effect } from "effect"
import { Api } from "../stages/api/api.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { type Resource, childRequestOf } from "../catalog/resource.ts"
import { exitCodes } from "../values/failure.ts"
import { type Estimate, estimate } from "../stages/plan/estimate.ts"
import { makePlan } from "../stages/plan/plan.ts"
import type { Flags } from "../settings/read.ts"
import { schemaPolicies } from "../settings/schema-policy.ts"
import type { AccountSettings } from "../settings/settings.ts"
import { bringUpToDate } from "./sync-account.ts"
import { type Range, between, sumOf } from "../values/range.ts"
import { setPlannedTotals } from "../stores/warehouse/meta/planned-totals.ts"
import { freshnessByLocation } from "../stores/warehouse/meta/watermarks.ts"
import { secondsPerRequest } from "../stores/warehouse/meta/runs.ts"
import { loadCatalogue } from "../command/catalogue.ts"
import { configError, explained } from "../console/errors.ts"
import { outputLayer } from "../command/output-layer.ts"
import { accountSettings } from "../command/prologue.ts"
import { namesOf } from "../stores/warehouse/locations.ts"
import { holderOf, isLocked } from "../command/readable.ts"
import { scopesOf, tokensOf } from "./sync-result.ts"
import type { CommandResult } from "../console/result.ts"
import { type ChoiceFlags, choiceOf } from "../command/selection.ts"
import { hashKey } from "../settings/withheld.ts"
import { storedEarlier, keptOut } from "../command/withheld.ts"

export interface PlanFlags extends Flags, ChoiceFlags {
  readonly full?: boolean | undefined
}

/** Estimates what a sync would read. While a run has the warehouse, which a plan needs, the result names that run. */
export const planOnce = Effect.fnUntraced(function* (flags: PlanFlags) {
  const { output, accounts } = yield* accountSettings(flags)
  const catalogue = yield* loadCatalogue(output)
  const choice = yield* choiceOf(flags)
  const policies = yield* schemaPolicies(output, catalogue)
  // A sync would not begin without it.
  yield* hashKey(output, catalogue)
  return yield* Effect.gen(function* () {
    yield* bringUpToDate(catalogue, output.folder, policies)
    const learnt = yield* secondsPerRequest()
    const isNew = (yield* freshnessByLocation()).size === 0
    const plans = yield* Effect.forEach(accounts, (account) => planLocation(catalogue, account, choice, learnt, isNew))
    const tokenNames = new Map(accounts.map(({ location, tokenName }) => [location, tokenName]))
    const names = yield* namesOf(
      accounts.map(({ location }) => location),
      new Map(plans.flatMap(({ location, name }) => (name === undefined ? [] : [[location, name]])))
    )
    return { plans, names, tokenNames, earlier: yield* storedEarlier(output.folder, catalogue) }
  }).pipe(
    Effect.provide(outputLayer(output)),
    Effect.flatMap(({ earlier, names, plans, tokenNames }) => resultOf(plans, catalogue, earlier, names, tokenNames)),
    Effect.catchIf(isLocked, (locked) => {
      const holder = holderOf(output.folder, locked)
      const result: CommandResult<"plan"> = {
        exitCode: 0,
        next: "./sluice status",
        data: { holder, omitted: [], steps: [] }
      }
      return holder.isRun ? Effect.succeed(result) : Effect.fail(locked)
    })
  )
})

interface LocationPlan {
  readonly location: string
  /** As the service says it now. */
  readonly name: string | undefined
  readonly estimated: ReadonlyArray<Estimate>
  readonly requests: Range
  readonly elapsedMs: Range
  readonly likely: { readonly requests: number; readonly elapsedMs: number }
  readonly dailyRemaining: number | undefined
  /** Files behind links of records that are stored; absent if the settings fetch none. */
  readonly files: Effect.Success<ReturnType<typeof newFiles>> | undefined
}

/** Most of the time, a sync sends at least as many at once. */
const concurrentRequests = 8

const planLocation = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  account: AccountSettings,
  choice: { readonly only: ReadonlyArray<string>; readonly except: ReadonlyArray<string>; readonly full: boolean },
  learnt: number | undefined,
  isNew: boolean
) {
  const { location, optional, api: settings } = account
  return yield* Effect.gen(function* () {
    const { expected } = yield* makePlan(catalogue, location, { ...choice, optional })
    const api = yield* Api
    const { estimated, name } = yield* estimate(expected, account)
    const reported = estimated.flatMap(({ step, label, basis, records }) =>
      basis === "total of the API" && records !== undefined && label === step.resource.table
        ? [{ resource: label, since: step.since, total: records }]
        : []
    )
    const sent = api.requestsByResource.values().reduce((sum, count) => sum + count, 0)
    const secondsEach = learnt ?? api.responseMs() / 1000 / Math.max(1, sent) / concurrentRequests
    yield* setPlannedTotals(location, reported, yield* Clock.currentTimeMillis)
    const files = expected.some(({ step }) => step.resource.kind === "files")
      ? yield* newFiles(chosenLinks(catalogue.resources, optional.files).columns, location)
      : undefined
    const requests = sumOf(estimated.map((one) => one.requests))
    const { burst, dailyRemaining } = api.usage()
    const timeOf = (count: number) =>
      Math.round(Math.max((Math.max(0, count - burst) / burst) * settings.limits.windowMs, count * secondsEach * 1000))
    const likely = estimated.reduce((sum, one) => sum + one.likely, 0)
    const elapsedMs = between(timeOf(requests.min), requests.max === undefined ? undefined : timeOf(requests.max))
    return {
      location,
      name,
      estimated,
      requests,
      elapsedMs,
      likely: { requests: likely, elapsedMs: timeOf(likely) },
      dailyRemaining,
      files
    } satisfies LocationPlan
  }).pipe(Effect.provide(Api.layer({ ...settings, isNew: () => isNew })), Effect.mapError(explained(account)))
})

const resultOf = Effect.fnUntraced(function* (
  plans: ReadonlyArray<LocationPlan>,
  catalogue: Catalogue,
  earlier: ReadonlyArray<string>,
  names: Pick<CommandResult<"plan">["data"], "locations">,
  tokenNames: ReadonlyMap<string, string>
) {
  const steps = plans.flatMap(({ location, estimated }) => estimated.map((one) => ({ location, ...one })))
  const refused = steps.filter((step) => step.refused)
  const scopeOf = (label: string) => scopesOf(catalogue, [label])[0]!
  const forbidden = refused.filter((step) => step.refused?.kind === "forbidden")
  const scopes = scopesOf(
    catalogue,
    forbidden.map(({ label }) => label)
  )
  // The service answers no list at all: the address is wrong.
  const lists = steps.filter(({ step, label }) => step.mode !== "children" && label === step.resource.table)
  if (
    refused.length > 2 &&
    refused.length >= lists.length - 1 &&
    refused.every((one) => one.refused!.kind === "notFound")
  )
    return yield* configError(
      `The service answers 404 to every list, for example ${refused[0]!.label}: ${refused[0]!.refused!.message}.`,
      "Check the path of account.base_url: it must be the address of the API."
    )
  const exitCode = scopes.length > 0 ? exitCodes.credentials : 0
  const next =
    scopes.length > 0
      ? `add ${scopes.join(", ")} to the scopes of ${tokensOf(forbidden, tokenNames)}, or leave the tables out with --except; then ./sluice plan`
      : "./sluice sync"
  const requests = sumOf(plans.map((one) => one.requests))
  // Locations are read side by side, each within its own rate limit.
  const longest = (bound: "min" | "max") =>
    plans.reduce<number | undefined>((most, { elapsedMs }) => {
      const time = elapsedMs[bound]
      return most === undefined || time === undefined ? undefined : Math.max(most, time)
    }, 0)
  const elapsedMs = between(longest("min")!, longest("max"))
  const files = plans.flatMap(({ location, files }) => (files ? [{ location, ...files }] : []))
  const withheld = keptOut(catalogue)
  const estimated = plans.flatMap((one) => one.estimated)
  const basis = estimated.some(({ isShare }) => isShare)
    ? "shares of a typical account"
    : estimated.some((one) => one.basis === "earlier syncs")
      ? "earlier syncs"
      : "totals of the service"
  const likely = {
    requests: plans.reduce((sum, one) => sum + one.likely.requests, 0),
    elapsedMs: Math.max(0, ...plans.map((one) => one.likely.elapsedMs)),
    basis
  }
  const dailyRemaining = plans.length === 1 ? plans[0]!.dailyRemaining : undefined
  return {
    exitCode,
    next,
    data: {
      ...names,
      requests,
      elapsedMs,
      likely,
      ...(dailyRemaining !== undefined && { dailyRemaining }),
      ...(files.length > 0 && { files }),
      omitted: omittedIn(steps.map(({ step }) => step.resource)),
      ...(withheld.length > 0 && { withheld }),
      ...(earlier.length > 0 && { storedEarlier: earlier }),
      steps: steps.map(({ location, step, label, records, requests, likely, basis, refused }) => ({
        location,
        resource: label,
        mode: label === step.resource.table ? step.mode : "children",
        ...(records !== undefined && { records }),
        requests,
        likely,
        basis,
        ...(refused && {
          refused: { reason: refused.message, ...(refused.kind === "forbidden" && { scope: scopeOf(label) }) }
        })
      }))
    }
  }
})

/** What the settings leave out of the tables to be read. */
/** Each location has a definition of its own. */
const omittedIn = (resources: ReadonlyArray<Resource>) =>
  [...new Map(resources.map((resource) => [resource.table, resource])).values()].flatMap((resource) => {
    const { label, partial } = childRequestOf(resource) ?? {}
    return label && partial ? [{ resource: label, what: partial.omits, setting: `account.${partial.unless}` }] : []
  })
