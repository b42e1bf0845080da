/** Reads one partition of a list page by page. A page is durable in the vault before its cursor is used. */
import { Clock, Effect } from "effect"
import { Api, type ApiResponse, type Call } from "../api/api.ts"
import { NotFound, RequestRejected, detailOf } from "../api/errors.ts"
import { answerOf, expectedOf, failureIn, membersBeside } from "../../catalog/answer.ts"
import { at, written } from "../../catalog/json.ts"
import { withholderOf } from "../../catalog/withhold.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import { type Parameters, bind } from "../../catalog/request.ts"
import type { Resource, Strategy } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Detail } from "../../values/reason.ts"
import type { PageEntry, Parent } from "../../stores/vault/entry.ts"
import { Vault } from "../../stores/vault/vault.ts"
import { type RunContext, count } from "./run-context.ts"
import { advance } from "./paging.ts"
import { halved } from "./windows.ts"
import { type ListProgress, type Step, apply, idOf, isPositional, repeated, withWarning } from "./list-progress.ts"
import { isPair, withoutPair } from "./tie-breaking.ts"
import { missingBeyondDrift } from "./outcome.ts"
import { hash } from "node:crypto"

export interface PartitionTask {
  readonly resource: Resource
  readonly strategy: Strategy
  /** The partition of a list, or the label of a child request. */
  readonly name: string
  readonly parameters: Parameters
  /** Page sizes found so far, by strategy; grows while lists are read. */
  readonly sizes: Record<string, number>
  /** Strategies whose totals exceed the records they return; grows while lists are read. */
  readonly unreliableTotals: Set<string>
  /**
   * If partitions set columns: the ids on the first page of another partition, empty for the first partition. A partition
   * that returns the same page is the same list, so the service ignores its parameters.
   */
  readonly otherFirstPageIds?: ReadonlyArray<string>
  /** Where a second reading starts if records are missing. Absent: there is no second reading. */
  readonly fresh?: Checkpoint
  /** The name its requests are counted under. */
  readonly label: string
  readonly priority: Call["priority"]
  /** The parent row of children or of a detail. */
  readonly parentContext?: {
    readonly kind: PageEntry["kind"]
    readonly parent: Omit<Parent, "done">
    /** The service rejects the request if the parent has no children. */
    readonly noneIsError: boolean
    /** Completes the response before it is stored. */
    readonly complete?: (answer: ApiResponse) => Effect.Effect<ApiResponse, Failure>
    /** The output folder, if the response is a file. */
    readonly file?: string
  }
}

/** An expiring cursor older than this is discarded; the service's limit is 120 s from when it made the cursor. */
const cursorLifetimeMs = 110_000
const restartsPerAnchorMax = 4
/** How often a request is repeated if its page repeats an earlier one: consecutively, and per partition. */
const repeatsMax = 2
const totalRepeatsMax = 10
/** Records per page, far above any page of the service: one transaction loads a page, so it must fit into memory. */
const recordsMax = 100_000

export const readPartition = Effect.fn("extract.partition")(function* (
  task: PartitionTask,
  start: Checkpoint,
  context: RunContext
) {
  const [api, vault] = [yield* Api, yield* Vault]
  const { resource, strategy, name, parameters, sizes, label, priority, parentContext } = task
  const strategyName = `${strategy.request.method} ${strategy.request.path}`
  const expiring = strategy.paging.kind === "expiring"
  const file = parentContext?.file === undefined ? {} : { file: parentContext.file }
  const identified = identifier(resource, context)
  const seen = context.besideLists.get(strategyName) ?? new Set()
  context.besideLists.set(strategyName, seen)
  const expected = { ...expectedOf(resource, strategy, name, parentContext?.parent.id), seen }
  let state = start
  /** `madeAt`: not before this time. */
  let live: { readonly cursor: unknown; readonly madeAt: number } | undefined
  let sentAt: number | undefined
  /** Whether the cursor can be used now, when its request is about to be sent. */
  const isFresh = Effect.map(Clock.currentTimeMillis, (now) => {
    sentAt = now
    return live === undefined || now - live.madeAt <= cursorLifetimeMs
  })
  const startsByAnchor = new Map<number | undefined, number>()
  let loop = new LoopDetector()
  let [repeats, totalRepeats] = [0, 0]
  /** Length of a page that was shorter than requested but apparently not the last: the service may cut pages to it. */
  let cut: number | undefined

  while (!state.done) {
    if (!(yield* isFresh)) live = undefined
    if (!live) {
      yield* context.backpressure
      // Restarts from one anchor are limited; otherwise they might never end.
      startsByAnchor.set(state.anchor, (startsByAnchor.get(state.anchor) ?? 0) + 1)
      if (expiring) loop = new LoopDetector()
      if (expiring && startsByAnchor.get(state.anchor)! > restartsPerAnchorMax)
        return { reason: { message: "its cursors expire before they can be used" } }
    }
    const knownSize = sizes[strategyName]
    const isTrial = knownSize === undefined && shouldTryPageSize(strategy, state)
    const size = isTrial ? strategy.trialPageSize! : (knownSize ?? strategy.pageSize)
    const request = bind(
      {
        ...strategy.request,
        parameters: { ...strategy.request.parameters, ...parameters, ...state.ties?.left[0]?.parameters }
      },
      {
        location: context.location,
        company: context.company,
        id: parentContext?.parent.id,
        partition: name,
        size,
        cursor: expiring ? live?.cursor : state.cursor,
        since: (expiring ? anchorOf(state) : undefined) ?? state.since,
        windowStart: state.windows?.[0]?.[0],
        windowEnd: state.windows?.[0]?.[1]
      }
    )
    const result = yield* api
      .send({
        request,
        pathTemplate: strategy.request.path,
        priority: live ? 0 : priority,
        resource: label,
        failureIn: failureIn(expected),
        records: expected.records,
        ...(expiring && { isDue: isFresh }),
        ...file
      })
      .pipe(
        Effect.catchTag("RequestRejected", (rejection) => Effect.succeed(rejection)),
        // The service may fail on a cursor of sort value and id.
        Effect.catchIf(
          (error) => error._tag === "Unavailable" && !error.later && isPair(strategy, state),
          (error) => Effect.succeed(new RequestRejected({ status: 0, ...detailOf(error) }))
        )
      )
    if (result instanceof RequestRejected) {
      if (parentContext?.noneIsError && result.isOwn && [400, 404, 422].includes(result.status))
        return yield* new NotFound(detailOf(result))
      const change = isTrial
        ? { size: strategy.pageSize }
        : afterRejection(result, strategy, state, size, live !== undefined)
      if ("reason" in change) return change
      if (change.size !== undefined) sizes[strategyName] = change.size
      state = { ...state, ...("checkpoint" in change ? change.checkpoint : {}) }
      live = undefined
      continue
    }
    state = { ...state, servedAt: state.servedAt ?? (state.count === 0 ? result.serviceTime : undefined) }
    const response = parentContext?.complete ? yield* parentContext.complete(result) : result
    const answer = answerOf(response.body, expected)
    if (answer.kind !== "data") return { reason: { message: answer.reason } }
    const list = answer.records.map(identified)
    if (list.length > 0) for (const member of membersBeside(response.body, expected.records)) seen.add(member)
    if (list.length > recordsMax)
      return { reason: { message: `the response has ${list.length} records, over our limit of ${recordsMax}` } }
    const ids = list.map(idOf)
    if (resource.key === undefined && contradicts(list, ids))
      state = {
        ...state,
        ...withWarning(state, { _tag: "RepeatedRecord" })
      }
    const firstPageIds = task.otherFirstPageIds && (state.firstPageIds ?? ids.slice(0, 100))
    if (
      firstPageIds &&
      !state.firstPageIds &&
      firstPageIds.length > 0 &&
      firstPageIds.every((id) => task.otherFirstPageIds!.includes(id))
    )
      return { state: { ...state, done: true, warnings: [], ignored: name } }
    const found = isTrial ? sizeFromTrial(strategy, list.length) : undefined
    if (found !== undefined) sizes[strategyName] = found
    const page = { records: list, body: response.body, size: found ?? cut ?? size, cuts: context.cuts }
    const advanced = advance({ strategy, changes: resource.changes, since: state.since }, state, page)
    const step = withoutLoops(loop, strategy, state, ids, advanced)
    if (step.kind === "failed") {
      if (!step.again || ++repeats > repeatsMax || ++totalRepeats > totalRepeatsMax) return { reason: step.reason }
      // No schedule: any other page in between ends the row of repeats, and with it the growth of the wait.
      yield* Effect.sleep(repeats * 1000)
      continue
    }
    repeats = 0
    const [wasCut, countBefore] = [state.cut === true, state.count]
    if ((step.progress.stepsBack ?? 0) > (state.stepsBack ?? 0)) loop = new LoopDetector()
    state = { ...apply(state, step.progress), ...(firstPageIds && { firstPageIds }) }
    // No service limits its pages to one record, but a broken one may send such a page.
    if (cut !== undefined && cut > 1 && state.count > countBefore) {
      sizes[strategyName] = cut
      context.cuts.add(cut)
    }
    cut = state.cut && !wasCut ? list.length : undefined
    const isShort = state.done && state.total !== undefined && state.count < state.total
    const isSuspicious = isShort && (isPositional(strategy) || missingBeyondDrift(state, strategy) > 0)
    if (isSuspicious && task.fresh && !state.again && !task.unreliableTotals.has(strategyName)) {
      state = { ...task.fresh, again: true }
      loop = new LoopDetector()
    } else if (isShort && state.again) task.unreliableTotals.add(strategyName)
    if (expiring) live = step.cursor === undefined ? undefined : { cursor: step.cursor, madeAt: sentAt! }
    count(context.counts, label, list.length, parentContext || state.total === undefined ? {} : { [name]: state.total })
    // Durable first, cursor second: a crash from here on repeats no page.
    yield* vault.append({
      entry: {
        kind: parentContext?.kind ?? "page",
        run: context.run,
        at: response.at,
        location: context.location,
        resource: resource.table,
        partition: parentContext ? label : name,
        request,
        records: expected.records,
        hasBigNumbers: response.hasBigNumbers,
        ...(parentContext && { parent: { ...parentContext.parent, done: state.done } }),
        checkpoint: state
      },
      body: response.bytes
    })
  }
  return { state }
})

/** Checkpoints store the ids of records, and records that have none: then without what the settings keep out. */
const identifier = (resource: Resource, { location, resources }: RunContext): ((record: unknown) => unknown) => {
  const withholder = withholderOf(resource, resources, { hash: () => "", fieldsOf: () => undefined })
  if (withholder === undefined) return (record) => record
  return (record) =>
    (at(record, "id") ?? at(record, "_id")) === undefined
      ? { ...Object(record), id: idOf(withholder(record, location)) }
      : record
}

/** Whether two records of the page have one id and different values. A record without an id is rejected by the load. */
const contradicts = (list: ReadonlyArray<unknown>, ids: ReadonlyArray<string>): boolean => {
  if (new Set(ids).size === ids.length) return false
  const first = new Map<string, string>()
  return list.some((record, index) => {
    const [id, text] = [ids[index]!, written(record)]
    const known = first.get(id)
    first.set(id, text)
    return id !== "" && known !== undefined && known !== text
  })
}

/** Fails a step after a page that was returned before. Pages of records that share a sort value may look alike. */
const withoutLoops = (
  loop: LoopDetector,
  { paging }: Strategy,
  before: Checkpoint,
  ids: ReadonlyArray<string>,
  step: Step
): Step => {
  if (step.kind === "failed" || step.progress.done || before.ties || step.progress.ties) return step
  const context = [step.progress.windows, before.byValue, paging.kind === "sortValue" && step.cursor]
  return loop.isRepeat(ids, context) ? repeated("the list returned an earlier page again") : step
}

/** How to go on after a rejected request: smaller pages, narrower windows, a new cursor, or another strategy. */
const afterRejection = (
  rejection: RequestRejected,
  strategy: Strategy,
  state: Checkpoint,
  size: number,
  hadCursor: boolean
): { readonly size?: number; readonly checkpoint?: Partial<Checkpoint> } | { readonly reason: Detail } => {
  const { message, isTooLarge = false } = rejection
  // The cursor is expired or unknown, so reading restarts from the anchor.
  if (hadCursor) return {}
  // A service that rejects a cursor of sort value and id may accept the value alone.
  if (strategy.paging.kind === "sortValue" && isPair(strategy, state)) {
    const step = withoutPair(strategy.paging, state)
    if (step.kind === "next") return { checkpoint: step.progress }
  }
  const smaller = isTooLarge ? sizeThatFits(size) : sizeBelow(size, message)
  if (smaller !== undefined) return { size: smaller }
  const window = state.windows?.[0]
  const halves = window && window[1] - window[0] > 2 * dayMs ? halved(window[0], window[1]) : undefined
  if (halves && (isTooLarge || state.count > 0 || /date|range|period|startAt|endAt/i.test(message)))
    return { checkpoint: { windows: [...halves, ...state.windows!.slice(1)], cursor: undefined, lastIds: [] } }
  return { reason: { ...detailOf(rejection), message: `the service rejected the request (${message})` } }
}

/** One second before the last record read, because records may share its timestamp. */
const anchorOf = ({ anchor }: ListProgress): number | undefined => (anchor === undefined ? undefined : anchor - 1000)

/** Remembers one page and replaces it at doubling intervals, so that a cycle of any length meets it. */
class LoopDetector {
  private remembered = ""
  private pages = 0
  private interval = 1

  /** Whether this page is the remembered one. `ids`: its record ids in order. `context`: what else must be equal. */
  isRepeat(ids: ReadonlyArray<string>, context: unknown): boolean {
    if (ids.length === 0) return false
    const page = hash("sha256", JSON.stringify([ids, context]))
    if (page === this.remembered) return true
    if (++this.pages >= this.interval) {
      this.remembered = page
      this.pages = 0
      this.interval *= 2
    }
    return false
  }
}

/** Remaining pages that justify one trial request with a larger page size. */
const gainMin = 5

/** Whether a list without a documented maximum page size is long enough for a trial. */
export const shouldTryPageSize = (strategy: Strategy, { count, total }: Pick<ListProgress, "count" | "total">) =>
  strategy.trialPageSize !== undefined &&
  strategy.paging.kind !== "pageNumber" &&
  count >= strategy.pageSize &&
  (total === undefined ? count >= 3 * (strategy.pageSize - 1) : total - count >= gainMin * strategy.pageSize)

/** The page size a trial has shown; `undefined` if the list ended with that page. */
export const sizeFromTrial = ({ pageSize, trialPageSize }: Strategy, length: number): number | undefined =>
  length < pageSize ? undefined : Math.min(length, trialPageSize!)

/** After a response that was too large: a quarter of the page size; `undefined` if a single record is too large. */
const sizeThatFits = (size: number): number | undefined => Math.floor(size / 4) || undefined

/**
 * After an error that is about the page size: the maximum that its message names, else the next smaller common size.
 * `undefined` for other errors.
 */
export const sizeBelow = (size: number, message: string): number | undefined => {
  if (!/limit|page ?size/i.test(message)) return undefined
  const named = Number(
    /(?:than|max\w*|exceed\w*|up to|at most|<=?|between \d+ and|of|is)\D{0,20}(\d+)/i.exec(message)?.[1]
  )
  return named >= 1 && named < size ? named : commonSizes.find((common) => common < size)
}
const commonSizes = [500, 200, 100, 50, 25, 20, 10]
