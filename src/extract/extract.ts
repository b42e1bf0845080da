/**
 * API to vault: every resource of a plan side by side, fan-outs behind their parents. A resource that cannot be read
 * ends alone, with its reason; only bad credentials, a wrong location and a full disk end them all.
 */
import { Clock, Deferred, Effect } from "effect"
import { Api } from "../api/api.ts"
import type { ApiError, BadCredentials, BudgetSpent, WrongLocation } from "../api/errors.ts"
import { type Resource, asksForCompany, followUpOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import type { Warehouse } from "../warehouse/warehouse.ts"
import { readWindows } from "./backfill.ts"
import type { Reading, RunContext } from "./context.ts"
import { findGone, findOrphaned } from "./deletions.ts"
import { fanOut } from "./fanout.ts"
import { read } from "./reading.ts"

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
  /** `later`: the day's requests ran out, or nothing answered. `scope`: the token may not read it. */
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
  for (const { resource } of work) readByTable.set(resource.table, yield* Deferred.make<void>())

  const done = (table: string) => Deferred.succeed(readByTable.get(table)!, undefined)
  const list = ({ resource, within, mode, ...reading }: Work) =>
    mode === "each"
      ? Effect.succeed([])
      : ended(
          resource.table,
          mode === "window"
            ? readWindows(resource, { ...reading, mode }, context)
            : read(resource, { ...reading, mode }, context).pipe(
                Effect.flatMap((outcome) => withGone(outcome, resource, within))
              ),
          context
        ).pipe(
          // What is read under these rows may begin, and end, unless they are read under others themselves.
          Effect.ensuring(resource.each ? Effect.void : done(resource.table)),
          Effect.map((end) => [end])
        )
  /** What a complete list did not show, of it and of the tables in its pages. */
  const withGone = Effect.fnUntraced(function* (outcome: Outcome, resource: Resource, within: ReadonlyArray<Resource>) {
    // Beside a list, rows may come from elsewhere as well; and what the settings no longer ask for is not gone.
    const tells = outcome.mode === "full" && outcome.verdict === "complete"
    if (!tells || resource.each || typeof resource.passes === "string") return outcome
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
    return ended(followUp.label, whole, context).pipe(
      Effect.ensuring(resource.each ? done(resource.table) : Effect.void),
      Effect.map((end) => [end])
    )
  }

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

const isLocation = ({ resource }: Work) => resource.table === "locations"

const doubted = (outcome: Outcome, doubts: ReadonlyArray<string>): Outcome =>
  doubts.length === 0
    ? outcome
    : {
        ...outcome,
        verdict: outcome.verdict === "complete" ? "complete with doubts" : outcome.verdict,
        doubts: [...outcome.doubts, ...doubts]
      }

/** Runs one reading to its end, whatever end that is, and writes the end down. */
const ended = Effect.fnUntraced(function* (
  resource: string,
  reading: Effect.Effect<Outcome, ApiError | Failure, Api | Vault | Warehouse>,
  context: RunContext
): Effect.fn.Return<Ended, BadCredentials | WrongLocation | Failure, Api | Vault | Warehouse> {
  const [api, vault] = [yield* Api, yield* Vault]
  const before = api.requestsByResource.get(resource) ?? 0
  const incomplete = (doubt: string, why: Pick<Ended, "why" | "resumeAt"> = {}) =>
    Effect.succeed<Omit<Ended, "location" | "resource">>({
      mode: "full",
      verdict: "incomplete",
      doubts: [doubt],
      requests: (api.requestsByResource.get(resource) ?? 0) - before,
      ...why
    })
  const { why, resumeAt, ...outcome }: Omit<Ended, "location" | "resource"> = yield* reading.pipe(
    Effect.catchTags({
      NotPermitted: ({ message }) => incomplete(`not readable with this token: ${message}`, { why: "scope" }),
      Refused: ({ message }) => incomplete(message),
      Gone: ({ message }) => incomplete(message),
      Unavailable: ({ message, unreachable }) => incomplete(message, unreachable ? { why: "later" } : {}),
      BudgetSpent: ({ dailyRemaining, reserve, resumeAt }: BudgetSpent) =>
        incomplete(`the day's requests are used up (${dailyRemaining} left, ${reserve} kept for others)`, {
          why: "later",
          resumeAt
        })
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
