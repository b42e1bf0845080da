/** One pass over a list: page after page, each durable in the vault before its cursor is used. */
import { Clock, Effect } from "effect"
import { Api, type Answer, type Call } from "../api/api.ts"
import { type ApiError, NotFound, RequestRejected } from "../api/errors.ts"
import type { FileTarget } from "../api/downloads.ts"
import { at } from "../catalog/json.ts"
import { dayMs } from "../catalog/timestamps.ts"
import { type Parameters, bind } from "../catalog/request.ts"
import type { Resource, Strategy } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Checkpoint } from "../values/checkpoint.ts"
import type { PageEntry, Parent } from "../vault/entry.ts"
import { Vault } from "../vault/vault.ts"
import { type RunContext, count } from "./run-context.ts"
import { Loop } from "./loop.ts"
import { advance } from "./paging.ts"
import { halved } from "./windows.ts"
import { type ListProgress, type Step, behind, withWarning, idOf, isCounted, listOf, repeats } from "./list-progress.ts"
import { isPair, withoutPair } from "./tie-breaking.ts"
import { missingBeyondDrift } from "./outcome.ts"
import { probed, sizeBelow, shouldTryPageSize } from "./page-size.ts"

export interface PartitionWork {
  readonly resource: Resource
  readonly strategy: Strategy
  /** Of a list: the pass. */
  readonly name: string
  readonly parameters: Parameters
  /** Page sizes found, by way; grows while we read. */
  readonly sizes: Record<string, number>
  /** Ways whose totals count more than they show; grows while we read. */
  readonly unreliableTotals: Set<string>
  /**
   * Where passes say something about their records, the first page of another pass, empty for the first: one that shows
   * the same is the same list, and its parameters are ignored.
   */
  readonly other?: ReadonlyArray<string>
  /** Where a second reading begins, should records be missing; nothing: there is none. */
  readonly fresh?: Checkpoint
  /** What its requests are counted as. */
  readonly label: string
  readonly priority: Call["priority"]
  /** The row it is read under. */
  readonly under?: {
    readonly kind: PageEntry["kind"]
    readonly parent: Omit<Parent, "done">
    /** The service refuses what it has not got. */
    readonly emptyOnBadRequest: boolean
    /** Makes of the first answer what is kept. */
    readonly complete?: (answer: Answer) => Effect.Effect<Answer, Failure>
    /** Where the answer goes if it is a file. */
    readonly file?: FileTarget
  }
}

/** An expiring cursor is used again within this time or thrown away; the service's limit is 120 s. */
const cursorLifetimeMs = 110_000
const beginningsMax = 4
/** How often a page that repeats an earlier one is asked for again: one after the other, and in the whole pass. */
const repeatsMax = 2
const allRepeatsMax = 10
/** No page of the service is near it; loaded in one transaction, more of the smallest would not fit into memory. */
const recordsMax = 100_000

export const readPartition = Effect.fn("extract.pass")(function* (
  work: PartitionWork,
  start: Checkpoint,
  context: RunContext
): Effect.fn.Return<{ readonly state: Checkpoint } | { readonly reason: string }, ApiError | Failure, Api | Vault> {
  const [api, vault] = [yield* Api, yield* Vault]
  const { resource, strategy, name, parameters, sizes, label, priority, under } = work
  const strategyName = `${strategy.request.method} ${strategy.request.path}`
  const path = strategy.records.replace("{partition}", name)
  const expiring = strategy.paging.kind === "expiring"
  let state = start
  let live: { readonly cursor: unknown; readonly usedAt: number } | undefined
  const checkpoints = new Map<number | undefined, number>()
  let loop = new Loop()
  let [repeated, allRepeated] = [0, 0]
  /** Length of a page that was shorter than asked and seems not to be the last: the service cuts pages to it. */
  let cut: number | undefined

  while (!state.done) {
    if (live && (yield* Clock.currentTimeMillis) - live.usedAt > cursorLifetimeMs) live = undefined
    if (!live) {
      yield* context.backpressure
      // Beginning again and again at one place would never end.
      checkpoints.set(state.anchor, (checkpoints.get(state.anchor) ?? 0) + 1)
      if (expiring) loop = new Loop()
      if (expiring && checkpoints.get(state.anchor)! > beginningsMax)
        return { reason: "its cursors die before they lead on" }
    }
    const known = sizes[strategyName]
    const probing = known === undefined && shouldTryPageSize(strategy, state)
    const size = probing ? strategy.trialPageSize! : (known ?? strategy.pageSize)
    const request = bind(
      {
        ...strategy.request,
        parameters: { ...strategy.request.parameters, ...parameters, ...state.ties?.left[0]?.parameters }
      },
      {
        location: context.location,
        company: context.company,
        id: under?.parent.id,
        partition: name,
        size,
        cursor: expiring ? live?.cursor : state.cursor,
        since: (expiring ? anchorOf(state) : undefined) ?? state.since,
        windowStart: state.windows?.[0]?.[0],
        windowEnd: state.windows?.[0]?.[1]
      }
    )
    const result = yield* api
      .send({ request, priority: live ? 0 : priority, resource: label, ...(under?.file && { file: under.file }) })
      .pipe(
        Effect.catchTag("RequestRejected", (refusal) => Effect.succeed(refusal)),
        // A sort value with an id beside it may be more than the service can read.
        Effect.catchIf(
          (error) => error._tag === "Unavailable" && !error.later && isPair(strategy, state),
          ({ message }) => Effect.succeed(new RequestRejected({ status: 0, message }))
        )
      )
    if (result instanceof RequestRejected) {
      if (under?.emptyOnBadRequest && [400, 422].includes(result.status))
        return yield* new NotFound({ message: result.message })
      const change = probing
        ? { size: strategy.pageSize }
        : afterRefusal(result, strategy, state, size, live !== undefined)
      if ("reason" in change) return change
      if (change.size !== undefined) sizes[strategyName] = change.size
      state = { ...state, ...("checkpoint" in change ? change.checkpoint : {}) }
      live = undefined
      continue
    }
    state = { ...state, servedAt: state.servedAt ?? (state.count === 0 ? result.serviceTime : undefined) }
    const answer = under?.complete ? yield* under.complete(result) : result
    const list = listOf(answer.body, path, strategy.paging.kind === "once", under !== undefined)
    if (list === undefined) return { reason: `the answer holds no list ${path}` }
    if (list.length > recordsMax) return { reason: `the answer holds ${list.length} records, over our ${recordsMax}` }
    // An empty list may be left out; but an answer about something else is no reason to believe that all is gone.
    if (!under && at(answer.body, path) === undefined)
      state = { ...state, ...withWarning(state, `the answer holds no list ${path}`) }
    const firstPageIds = work.other && (state.firstPageIds ?? list.slice(0, 100).map(idOf))
    if (
      firstPageIds &&
      !state.firstPageIds &&
      firstPageIds.length > 0 &&
      firstPageIds.every((id) => work.other!.includes(id))
    )
      return { state: { ...state, done: true, warnings: [], ignored: name } }
    const found = probing ? probed(strategy, list.length) : undefined
    if (found !== undefined) sizes[strategyName] = found
    const page = { records: list, body: answer.body, size: found ?? cut ?? size, cuts: context.cuts }
    const step = withoutCircles(
      loop,
      strategy,
      state,
      list,
      advance({ strategy, changes: resource.changes, since: state.since }, state, page)
    )
    if (step.kind === "failed") {
      if (!step.again || ++repeated > repeatsMax || ++allRepeated > allRepeatsMax) return { reason: step.reason }
      yield* Effect.sleep(repeated * 1000)
      continue
    }
    repeated = 0
    const [wasCut, before] = [state.cut === true, state.count]
    if ((step.checkpoint.stepsBack ?? 0) > (state.stepsBack ?? 0)) loop = new Loop()
    state = { ...behind(state, step.checkpoint), ...(firstPageIds && { firstPageIds }) }
    if (cut !== undefined && state.count > before) {
      sizes[strategyName] = cut
      context.cuts.add(cut)
    }
    cut = state.cut && !wasCut ? list.length : undefined
    const short = state.done && state.total !== undefined && state.count < state.total
    const suspicious = short && (isCounted(strategy) || missingBeyondDrift(state, strategy) > 0)
    if (suspicious && work.fresh && !state.again && !work.unreliableTotals.has(strategyName)) {
      state = { ...work.fresh, again: true }
      loop = new Loop()
    } else if (short && state.again) work.unreliableTotals.add(strategyName)
    if (expiring)
      live = step.cursor === undefined ? undefined : { cursor: step.cursor, usedAt: yield* Clock.currentTimeMillis }
    count(context.counts, label, list.length)
    // Durable first, cursor second: a crash from here on repeats no page.
    yield* vault.append({
      entry: {
        kind: under?.kind ?? "page",
        run: context.run,
        at: answer.at,
        location: context.location,
        resource: resource.table,
        partition: under ? label : name,
        request,
        records: path,
        hasBigNumbers: answer.hasBigNumbers,
        ...(under && { parent: { ...under.parent, done: state.done } }),
        checkpoint: state
      },
      body: answer.text,
      parsed: answer.body
    })
  }
  return { state }
})

/** A step that leads to a page which was there before leads nowhere. Where records share a sort value, pages may look alike. */
const withoutCircles = (
  loop: Loop,
  { paging }: Strategy,
  before: Checkpoint,
  list: ReadonlyArray<unknown>,
  step: Step
): Step => {
  if (step.kind === "failed" || step.checkpoint.done || before.ties || step.checkpoint.ties) return step
  const place = [step.checkpoint.windows, before.byValue, paging.kind === "sortValue" && step.cursor]
  return loop.closes(list.map(idOf), place) ? repeats("the list shows a page again that it showed before") : step
}

/** What a refusal asks for: smaller pages, narrower windows, a new cursor, or another way. */
const afterRefusal = (
  { message }: RequestRejected,
  strategy: Strategy,
  state: Checkpoint,
  size: number,
  hadCursor: boolean
): { readonly size?: number; readonly checkpoint?: Partial<Checkpoint> } | { readonly reason: string } => {
  // Expired or unknown: the reading begins again at its anchor.
  if (hadCursor) return {}
  // A service that takes no sort value with an id beside it takes the value alone.
  if (strategy.paging.kind === "sortValue" && isPair(strategy, state)) {
    const step = withoutPair(strategy.paging, state)
    if (step.kind === "next") return { checkpoint: step.checkpoint }
  }
  const smaller = /limit|page ?size/i.test(message) ? sizeBelow(size, message) : undefined
  if (smaller !== undefined) return { size: smaller }
  const window = state.windows?.[0]
  const halves = window && window[1] - window[0] > 2 * dayMs ? halved(window[0], window[1]) : undefined
  if (halves && (state.count > 0 || /date|range|period|startAt|endAt|over our limit/i.test(message)))
    return { checkpoint: { windows: [...halves, ...state.windows!.slice(1)], cursor: undefined, lastIds: [] } }
  return { reason: `the service refused the request (${message})` }
}

/** A second before the last record read: records may share its instant. */
const anchorOf = ({ anchor }: ListProgress): number | undefined => (anchor === undefined ? undefined : anchor - 1000)
