/**
 * API to vault: every resource of a plan side by side, fan-outs behind their parents. A resource that cannot be read
 * ends alone, with its reason; only bad credentials, a wrong location and a full disk end them all.
 */
import { Clock, Deferred, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError, BadCredentials, WrongLocation } from "../api/errors.ts"
import { type FollowUp, type Resource, asksForCompany, followUpOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import { lastVerdicts } from "../warehouse/runs.ts"
import { leftOutCount } from "../warehouse/state.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import { readWindows } from "./backfill.ts"
import type { Reading, RunContext } from "./context.ts"
import { findGone, findOrphaned } from "./deletions.ts"
import { fanOut } from "./fanout.ts"
import { type Outage, watchForOutage } from "./outage.ts"
import { read } from "./reading.ts"
import { doubted, noMoreThan } from "./verdict.ts"

/** A step of the plan. */
export interface Work extends Omit<Reading, "mode"> {
  readonly resource: Resource
  /** `each`: only what is due row by row. */
  readonly mode: Reading["mode"] | "each"
  /** Resources whose records are in its pages. */
  readonly within: ReadonlyArray<Resource>
  /** Whatever was read row by row before this moment is read again, epoch milliseconds. */
  readonly before: number | undefined
  /** What earlier runs found out about reading row by row. */
  readonly followUp: unknown
}
export interface Ended extends Outcome {
  readonly location: string
  readonly resource: string
  /** `later`: no more requests for now, or nothing answered. `scope`: the token may not read it. */
  readonly why?: "later" | "scope"
  /** Epoch milliseconds. */
  readonly resumeAt?: number
}

export const extract = Effect.fn("extract")(function* (
  work: ReadonlyArray<Work>,
  context: RunContext,
  /** Called when the location has been read, to learn who owns it. */
  companyOf: Effect.Effect<string | undefined, Failure, Warehouse>
): Effect.fn.Return<ReadonlyArray<Ended>, BadCredentials | WrongLocation | Failure, Api | Vault | Warehouse> {
  const readByTable = new Map<string, Deferred.Deferred<void>>()
  // The rows a resource is read under may be left out of this run; those known from earlier ones do.
  const nothingToWaitFor = yield* Deferred.make<void>()
  yield* Deferred.succeed(nothingToWaitFor, undefined)
  /** Readings of each table that have not ended: of its list, and of what is read under other rows. */
  const underWay = new Map<string, number>()
  const endsByTable = new Map<string, ReadonlyArray<Ended>>()
  for (const { resource, mode } of work) {
    readByTable.set(resource.table, yield* Deferred.make<void>())
    underWay.set(resource.table, Number(mode !== "each") + Number(resource.each !== undefined && mode !== "window"))
  }
  const outage = yield* watchForOutage(context.location)

  const toEnd = (label: string, reading: Reads) => Effect.map(ended(label, reading, context, outage), (end) => [end])
  /** A reading that brings rows of a table. What is read under them ends when all such readings have. */
  const rowsOf = (table: string, label: string, reading: Reads) =>
    toEnd(label, reading).pipe(
      Effect.tap((ends) => Effect.sync(() => endsByTable.set(table, [...(endsByTable.get(table) ?? []), ...ends]))),
      Effect.ensuring(
        Effect.suspend(() => {
          underWay.set(table, underWay.get(table)! - 1)
          return underWay.get(table) === 0 ? Deferred.succeed(readByTable.get(table)!, undefined) : Effect.void
        })
      )
    )
  const list = ({ resource, within, mode, ...reading }: Work) =>
    mode === "each"
      ? Effect.succeed([])
      : rowsOf(
          resource.table,
          resource.table,
          mode === "window"
            ? readWindows(resource, { ...reading, mode }, context)
            : read(resource, { ...reading, mode }, context).pipe(
                Effect.flatMap((outcome) => withGone(outcome, resource, within))
              )
        )
  /** What a complete list did not show, of it and of the tables in its pages. */
  const withGone = Effect.fnUntraced(function* (outcome: Outcome, resource: Resource, within: ReadonlyArray<Resource>) {
    // What the settings no longer ask for is not gone.
    const tells = outcome.mode === "full" && outcome.verdict === "complete"
    if (!tells || typeof resource.passes === "string") return outcome
    const explains = resource.vanishesWith && readByTable.get(resource.vanishesWith.table)
    if (explains) yield* Deferred.await(explains)
    const doubts = yield* Effect.forEach([resource, ...within], (one) => findGone(one, outcome.begunAt!, context))
    return doubted(outcome, doubts.flat())
  })
  const follow = ({ resource, mode, followUp: known, before }: Work) => {
    const followUp = followUpOf(resource)
    // What a backfill makes due is the next sync's.
    if (followUp === undefined || mode === "window") return Effect.succeed([])
    const parentsRead = readByTable.get(followUp.table) ?? nothingToWaitFor
    const reading = fanOut(resource, followUp, { known, before }, parentsRead, context)
    const whole =
      resource.each && resource.each.ids === undefined
        ? reading.pipe(
            Effect.flatMap((outcome) =>
              Effect.map(findOrphaned(resource, context), (doubts) => doubted(outcome, doubts))
            )
          )
        : reading
    const judged = Effect.gen(function* () {
      const outcome = doubted(yield* whole, yield* leftOut(followUp, context.location))
      return noMoreThan(outcome, followUp.table, yield* verdictsOf(followUp.table))
    })
    return resource.each ? rowsOf(resource.table, followUp.label, judged) : toEnd(followUp.label, judged)
  }
  /** How the readings of a table ended: in this run, or the last one that read it. */
  const verdictsOf = (table: string) =>
    readByTable.has(table)
      ? Effect.sync(() => (endsByTable.get(table) ?? []).map(({ verdict }) => verdict))
      : lastVerdicts(context.location, table)

  // The location first: it proves token and location with one request.
  const [first, others] = [work.filter(isLocation), work.filter((item) => !isLocation(item))]
  const account = yield* Effect.forEach(first, list)
  // Where nobody answers, or the day is spent, the others would only say so again.
  if (account.flat().some(({ why }) => why === "later")) return account.flat()
  // It names the company too, once it is loaded; what is asked for by company waits for that, and nothing else does.
  const withCompany = Effect.gen(function* () {
    if (context.company !== undefined) return
    yield* context.loaded
    context.company = yield* companyOf
  })
  const listed = others.map((item) =>
    asksForCompany(item.resource) ? Effect.andThen(withCompany, list(item)) : list(item)
  )
  const rest = yield* Effect.forEach([...listed, ...work.map(follow)], (effect) => effect, {
    concurrency: "unbounded"
  })
  return [...account, ...rest].flat()
})

/** What is known to be missing because not every row is read under. */
const leftOut = Effect.fnUntraced(function* (followUp: FollowUp, location: string) {
  const { some, table } = followUp
  const rows = some ? yield* leftOutCount(location, followUp) : 0
  return rows === 0
    ? []
    : [
        `${rows} ${table} were not read one by one, so these may be missing: ${some!.leavesOut}. To read them, set account.${some!.unless} = true`
      ]
})

const isLocation = ({ resource }: Work) => resource.table === "locations"

type Reads = Effect.Effect<Outcome, ApiError | Failure, Api | Vault | Warehouse>

/** Runs one reading to its end, whatever end that is, and writes the end down. */
const ended = Effect.fnUntraced(function* (
  resource: string,
  reading: Reads,
  context: RunContext,
  outage: Outage
): Effect.fn.Return<Ended, BadCredentials | WrongLocation | Failure, Api | Vault | Warehouse> {
  const [api, vault] = [yield* Api, yield* Vault]
  const before = api.requestsByResource.get(resource) ?? 0
  const incomplete = (doubt: string, more: Partial<Omit<Ended, "location" | "resource">> = {}) =>
    Effect.succeed<Omit<Ended, "location" | "resource">>({
      mode: "full",
      verdict: "incomplete",
      doubts: [doubt],
      requests: (api.requestsByResource.get(resource) ?? 0) - before,
      ...more
    })
  const { why, resumeAt, ...outcome }: Omit<Ended, "location" | "resource"> = yield* outage.during(reading).pipe(
    Effect.catchTags({
      NotPermitted: ({ message }) => incomplete(`not readable with this token: ${message}`, { why: "scope" }),
      // Another attempt from the same place would be refused again.
      Refused: ({ message }) => incomplete(message, { finished: true }),
      Gone: ({ message }) => incomplete(message),
      Unavailable: (error) =>
        Effect.flatMap(outage.isBehind(error, resource), (isDown) =>
          incomplete(error.message, isDown ? { why: "later" } : {})
        ),
      BudgetSpent: ({ message, resumeAt }) => incomplete(message, { why: "later", resumeAt })
    })
  )
  const at = yield* Clock.currentTimeMillis
  yield* vault.append({
    entry: { kind: "end", run: context.run, at, location: context.location, resource, outcome },
    body: ""
  })
  return {
    ...outcome,
    location: context.location,
    resource,
    ...(why && { why }),
    ...(resumeAt !== undefined && { resumeAt })
  }
})
