/** Estimates what a sync would read, in requests and time, and says what the estimate is based on. */
import { chosenLinks } from "../catalog/link-columns.ts"
import { newFiles } from "../stores/warehouse/file-links.ts"
import { Array as Arr, Clock, Effect } from "effect"
import { Api } from "../stages/api/api.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { isOffer, offerPath } from "../catalog/optional.ts"
import { type Resource, childRequestOf } from "../catalog/resource.ts"
import { type Estimate, estimate } from "../stages/plan/estimate.ts"
import { makePlan } from "../stages/plan/plan.ts"
import type { Flags } from "../settings/read.ts"
import { schemaPolicies } from "../settings/schema-policy.ts"
import type { AccountSettings } from "../settings/settings.ts"
import { bringUpToDate, locationsMax } from "./sync-account.ts"
import { counted } from "../values/finding.ts"
import { type Range, between, sumOf } from "../values/range.ts"
import { liveCounts } from "../stores/warehouse/sync-state.ts"
import { setPlannedTotals } from "../stores/warehouse/meta/planned-totals.ts"
import { freshnessByLocation } from "../stores/warehouse/meta/watermarks.ts"
import { secondsPerRequest } from "../stores/warehouse/meta/runs.ts"
import { loadCatalogue } from "../command/catalogue.ts"
import { type CommandError, configError, explained } from "../console/errors.ts"
import { outputLayer } from "../command/output-layer.ts"
import { accountSettings } from "../command/prologue.ts"
import { namesOf } from "../stores/warehouse/locations.ts"
import { holderOf, isLocked } from "../command/readable.ts"
import type { CommandResult } from "../console/result.ts"
import { type ChoiceFlags, readingOf } from "../command/selection.ts"
import { exitCodes } from "../values/failure.ts"
import { hashKey } from "../settings/withheld.ts"
import { storedEarlier, keptOut } from "../command/withheld.ts"

export type PlanFlags = Flags & ChoiceFlags

/** Estimates what a sync would read. While a run has the warehouse, which a plan needs, the result names that run. */
export const planOnce = Effect.fnUntraced(function* (flags: PlanFlags) {
  const { output, accounts } = yield* accountSettings(flags)
  const catalogue = yield* loadCatalogue(output)
  const choice = yield* readingOf(flags)
  const policies = yield* schemaPolicies(output, catalogue)
  // A sync would not begin without it.
  yield* hashKey(output, catalogue)
  return yield* Effect.gen(function* () {
    yield* bringUpToDate(catalogue, output.folder, policies)
    const learnt = yield* secondsPerRequest()
    const isNew = (yield* freshnessByLocation()).size === 0
    const found = yield* Effect.forEach(accounts, (account) =>
      Effect.match(planLocation(catalogue, account, choice, learnt, isNew), {
        onSuccess: (plan) => ({ plan }),
        onFailure: (error) => ({ location: account.location, error })
      })
    )
    const plans = found.flatMap((one) => ("plan" in one ? [one.plan] : []))
    // One that cannot be planned is a line of the plan.
    const unplanned = found.flatMap((one) => ("plan" in one ? [] : [one]))
    const [failed] = unplanned
    if (plans.length === 0 && failed) return yield* failed.error
    const names = yield* namesOf(
      accounts.map(({ location }) => location),
      new Map(plans.flatMap(({ location, name }) => (name === undefined ? [] : [[location, name]])))
    )
    return { plans, unplanned, names, earlier: yield* storedEarlier(output.folder, catalogue) }
  }).pipe(
    Effect.provide(outputLayer(output)),
    Effect.flatMap(({ earlier, names, plans, unplanned }) =>
      Effect.map(resultOf(plans, catalogue, earlier, names), (result) => withUnplanned(result, unplanned))
    ),
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
  /** What is off, with its price. */
  readonly offers: ReadonlyArray<{ readonly resource: string; readonly requests: number; readonly setting: string }>
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
      offers: yield* offersIn(catalogue, location, estimated, optional),
      estimated,
      requests,
      elapsedMs,
      likely: { requests: likely, elapsedMs: timeOf(likely) },
      dailyRemaining,
      files
    } satisfies LocationPlan
  }).pipe(Effect.provide(Api.layer({ ...settings, isNew: () => isNew })), Effect.mapError(explained(account)))
})

interface Unplanned {
  readonly location: string
  readonly error: CommandError
}

/** The plan of the others, with a line for each location that could not be planned. */
const withUnplanned = (result: CommandResult<"plan">, unplanned: ReadonlyArray<Unplanned>): CommandResult<"plan"> => {
  const [first] = unplanned
  if (first === undefined) return result
  const lines = unplanned.map(({ error: { message, next }, location }) => ({ location, problem: message, next }))
  return {
    ...result,
    exitCode: exitCodes.partial,
    next: first.error.next,
    data: { ...result.data, unplanned: lines }
  }
}

/** Some locations are read side by side, each within its own rate limit, and the next one when one of them has ended. */
export const besideOthers = (times: ReadonlyArray<number>): number => {
  const busyUntil = Array.from({ length: locationsMax }, () => 0)
  for (const time of times) {
    const next = busyUntil.indexOf(Math.min(...busyUntil))
    busyUntil[next] = Math.min(...busyUntil) + time
  }
  return Math.max(...busyUntil)
}

const resultOf = Effect.fnUntraced(function* (
  plans: ReadonlyArray<LocationPlan>,
  catalogue: Catalogue,
  earlier: ReadonlyArray<string>,
  names: Pick<CommandResult<"plan">["data"], "locations">
) {
  const steps = plans.flatMap(({ location, estimated }) => estimated.map((one) => ({ location, ...one })))
  const refused = steps.filter((step) => step.refused)
  const isForbidden = refused.some((step) => step.refused?.kind === "forbidden")
  // The service answers no list at all: the address is wrong.
  const lists = steps.filter(
    ({ step: { mode, resource }, label }) => mode !== "children" && label === resource.table && !resource.isTrial
  )
  const [example] = refused
  if (
    example?.refused &&
    refused.length > 2 &&
    refused.length >= lists.length - 1 &&
    refused.every((one) => one.refused?.kind === "notFound")
  )
    return yield* configError(
      `The service answers 404 to every list, for example ${example.label}: ${example.refused.message}.`,
      "Check the path of account.base_url: it must be the address of the API."
    )
  const next = isForbidden
    ? "./sluice doctor, which shows what the token may read, or leave the tables out with --except"
    : "./sluice sync"
  const requests = sumOf(plans.map((one) => one.requests))
  const maxima = plans.flatMap(({ elapsedMs }) => elapsedMs.max ?? [])
  const elapsedMs = between(
    besideOthers(plans.map((one) => one.elapsedMs.min)),
    maxima.length === plans.length ? besideOthers(maxima) : undefined
  )
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
    elapsedMs: besideOthers(plans.map((one) => one.likely.elapsedMs)),
    basis
  }
  const dailyRemaining = plans.length === 1 ? plans[0]?.dailyRemaining : undefined
  return {
    exitCode: 0,
    next,
    data: {
      ...names,
      requests,
      elapsedMs,
      likely,
      ...(dailyRemaining !== undefined && { dailyRemaining }),
      ...(files.length > 0 && { files }),
      omitted: [...omittedIn(steps.map(({ step }) => step.resource)), ...summed(plans.flatMap(({ offers }) => offers))],
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
          refused: { reason: refused.message }
        })
      }))
    }
  }
})

/** What is off because it takes a request for each row of another table, with the number of these rows. */
const offersIn = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  location: string,
  estimated: ReadonlyArray<Estimate>,
  { further_lists }: AccountSettings["optional"]
) {
  const offers = catalogue.resources.flatMap((resource) => {
    const request = isOffer(resource) && further_lists ? childRequestOf(resource) : undefined
    return request ? [{ resource, request }] : []
  })
  const rows = yield* liveCounts(location, [...new Set(offers.map(({ request }) => request.table))])
  return offers.flatMap(({ request: { label, table }, resource }) => {
    const records = estimated.find((one) => one.label === table)?.records ?? 0
    const requests = Math.max(records, rows.get(table) ?? 0)
    return requests > 0 ? [{ resource: label, requests, setting: offerPath(resource) }] : []
  })
})

/** What each costs at all locations together. */
const summed = (offers: Effect.Success<ReturnType<typeof offersIn>>) =>
  Object.values(Arr.groupBy(offers, ({ resource }) => resource)).map((own) => {
    const [{ resource, setting }] = own
    const requests = own.reduce((sum, one) => sum + one.requests, 0)
    return { resource, what: `up to ${counted(requests, "request")}`, setting }
  })

/** What the settings leave out of the tables to be read. Each location has a definition of its own. */
const omittedIn = (resources: ReadonlyArray<Resource>) =>
  [...new Map(resources.map((resource) => [resource.table, resource])).values()].flatMap((resource) => {
    const { label, partial } = childRequestOf(resource) ?? {}
    return label && partial ? [{ resource: label, what: partial.omits, setting: `account.${partial.unless}` }] : []
  })
