/**
 * The state of reading one partition of a list: what to request next, and what follows from each response. It sends and stores
 * nothing, so every rule about cursors, loops, page sizes and cut pages is here.
 */
import type { Limits } from "../../values/limits.ts"
import { hash } from "node:crypto"
import { type Expected, answerOf } from "../../catalog/answer.ts"
import { written } from "../../catalog/json.ts"
import { shouldTryPageSize, sizeBelow, sizeFromTrial, sizeThatFits, sizesFrom } from "./page-size.ts"
import { type Bindings, type Parameters, asksForSize } from "../../catalog/request.ts"
import type { Resource, Strategy } from "../../catalog/resource.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Detail } from "../../values/reason.ts"
import { type RequestRejected, detailOf } from "../api/errors.ts"
import { type ListProgress, type Step, apply, idOf, isPositional, repeated, withWarning } from "./list-progress.ts"
import { missingBeyondDrift } from "./outcome.ts"
import { advance } from "./paging.ts"
import { isPair, withoutPair } from "./tie-breaking.ts"
import { halved } from "./windows.ts"

/** What is read, and what earlier requests for it have learnt about the service. */
export interface PagesTask {
  readonly resource: Resource
  readonly strategy: Strategy
  /** The partition of a list, or the label of a child request. */
  readonly name: string
  readonly parameters: Parameters
  /** Page sizes found so far, by strategy; grows while lists are read. */
  readonly sizes: Record<string, number>
  /** Constant parameters that the service does not want; grows while lists are read. */
  readonly leftOut?: Array<string>
  /** Strategies whose totals exceed the records they return; grows while lists are read. */
  readonly unreliableTotals: Set<string>
  /**
   * If partitions set columns: the first page of another partition, empty for the first partition. A partition that returns
   * the same page is the same list, so the service ignores its parameters.
   */
  readonly other?: FirstPage
  /** Where a second reading starts if records are missing. Absent: there is no second reading. */
  readonly fresh?: Checkpoint
}

/** What the pages are checked against. */
interface Checks {
  readonly expected: Expected
  /** Gives a record without an id one. */
  readonly identified: (record: unknown) => unknown
  /** The lengths to which the service has cut pages in this run; grows. */
  readonly cuts: Set<number>
  readonly limits: Limits["extract"]
}

/** What the next request is bound to, or why there is none. */
type Next = { readonly reason: Detail } | Pick<Bindings, "size" | "cursor" | "since" | "windowStart" | "windowEnd">

/** `append`: the page is to be stored, with the state after it. `ended`: the page is none of this list, which has ended. */
type Received =
  | { readonly kind: "append"; readonly records: number; readonly path: string }
  | { readonly kind: "repeat"; readonly waitMs: number }
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly reason: Detail }
  /** The response has another record than the one that was requested. It is stored, to be rejected. */
  | { readonly kind: "another"; readonly reason: Detail }

/** An expiring cursor older than this is discarded; the service's limit is 120 s from when it made the cursor. */
const cursorLifetimeMs = 110_000

export class PageLoop {
  state: Checkpoint
  readonly #task: PagesTask
  readonly #checks: Checks
  readonly #strategyName: string
  readonly #isExpiring: boolean
  /** The cursor of an expiring list. `madeAt`: not before this time. */
  #live: { readonly cursor: unknown; readonly madeAt: number } | undefined
  /** From when an expiring list was requested: its cursor goes on in that list, and in no other. */
  #from: number | undefined
  #sentAt = 0
  #size = 0
  #longest = 0
  #isTrial = false
  /** A smaller page size, until an answer shows that the service accepts it. */
  #guess: number | undefined
  readonly #startsByAnchor = new Map<number | undefined, number>()
  #detector = new LoopDetector()
  #repeats = 0
  #totalRepeats = 0
  /** Records that were left out, in all and one after another. */
  #unreadable = 0
  #missed = 0
  /** Length of a page that was shorter than requested but apparently not the last: the service may cut pages to it. */
  #cut: number | undefined

  constructor(task: PagesTask, start: Checkpoint, checks: Checks) {
    this.#task = task
    this.#checks = checks
    this.state = start
    this.#strategyName = nameOf(task.strategy)
    this.#isExpiring = task.strategy.paging.kind === "expiring"
  }

  /** Whether an expiring cursor is in use. Its reading must not wait. */
  get hasCursor(): boolean {
    return this.#live !== undefined
  }

  /** Whether the cursor can be used at this time, when its request is about to be sent; epoch milliseconds. */
  isDue(now: number): boolean {
    this.#sentAt = now
    return this.#live === undefined || now - this.#live.madeAt <= cursorLifetimeMs
  }

  /** Discards a cursor that is too old to be used. */
  discardOld(now: number): void {
    if (!this.isDue(now)) this.#live = undefined
  }

  next(): Next {
    const { sizes, strategy } = this.#task
    const { state } = this
    if (!this.#live) {
      // Restarts from one anchor are limited; otherwise they might never end.
      const starts = (this.#startsByAnchor.get(state.anchor) ?? 0) + 1
      this.#startsByAnchor.set(state.anchor, starts)
      this.#from = anchorOf(state)
      if (this.#isExpiring) this.#detector = new LoopDetector()
      if (this.#isExpiring && this.#checks.limits.restarts.isExceededBy(starts))
        return { reason: { message: "its cursors expire before they can be used" } }
    }
    const knownSize = sizes[this.#strategyName]
    this.#isTrial = knownSize === undefined && state.size === undefined && shouldTryPageSize(strategy, state)
    const trialSize = this.#isTrial ? strategy.trialPageSize : undefined
    this.#size = this.#guess ?? state.size ?? trialSize ?? knownSize ?? strategy.pageSize
    if (state.count === 0) this.#size = Math.min(this.#size, strategy.firstPageSize ?? this.#size)
    return {
      size: this.#size,
      cursor: this.#isExpiring ? this.#live?.cursor : state.cursor,
      since: this.#from ?? state.since,
      windowStart: state.windows?.[0]?.[0],
      windowEnd: state.windows?.[0]?.[1]
    }
  }

  /** Returns why the reading fails; `undefined` if another request may succeed. */
  rejected(rejection: RequestRejected): { readonly reason: Detail } | undefined {
    const { leftOut, sizes, strategy } = this.#task
    const unwanted = leftOut && unwantedIn(rejection, strategy, leftOut)
    if (leftOut && unwanted !== undefined) {
      leftOut.push(unwanted)
      this.state = { ...this.state, ...withWarning(this.state, { _tag: "ParameterLeftOut", parameter: unwanted }) }
      return undefined
    }
    const change: ReturnType<typeof afterRejection> = this.#isTrial
      ? {}
      : afterRejection(rejection, strategy, this.state, this.#size, this.hasCursor)
    if ("reason" in change) return change
    if (this.#isTrial) sizes[this.#strategyName] = strategy.pageSize
    else this.#guess = change.size
    this.state = { ...this.state, ...("checkpoint" in change ? change.checkpoint : {}) }
    this.#live = undefined
    return undefined
  }

  /**
   * No attempt for a page was answered, while the service answers others. Some record may be the cause: the page is made smaller
   * until it is that record alone, which is left out where pages are counted. Returns whether to go on.
   */
  broken(): boolean {
    const { strategy } = this.#task
    if (!asksForSize(strategy.request)) return false
    const smaller = sizesFrom(this.#size)[1]
    if (smaller !== undefined) this.#resize(smaller)
    else if (!isPositional(strategy) || this.#checks.limits.missedInARow.isExceededBy(++this.#missed)) return false
    else {
      const first = strategy.paging.kind === "pageNumber" ? strategy.paging.first : 0
      const at = Number(this.state.cursor ?? first)
      const warned = withWarning(this.state, { _tag: "RecordsUnreadable", count: ++this.#unreadable })
      // What follows does not overlap with what was read.
      this.state = { ...this.state, ...warned, cursor: at + 1, lastIds: [`left out ${at}`] }
    }
    return true
  }

  #resize(size: number): void {
    const { paging } = this.#task.strategy
    const cursor =
      paging.kind === "pageNumber"
        ? ((Number(this.state.cursor ?? paging.first) - paging.first) * this.#size) / size + paging.first
        : this.state.cursor
    const { size: _, ...rest } = this.state
    const isUsual = size === (this.#task.sizes[this.#strategyName] ?? this.#task.strategy.pageSize)
    this.state = { ...rest, cursor, ...(!isUsual && { size }) }
    this.#size = size
  }

  /** Makes pages larger again, step by step: where one of the larger size begins, and after a cut as long as any page was. */
  #grow(): void {
    const { sizes, strategy } = this.#task
    const all = sizesFrom(sizes[this.#strategyName] ?? strategy.pageSize)
    const { cut, cursor } = this.state
    const first = strategy.paging.kind === "pageNumber" ? strategy.paging.first : undefined
    const isWhole = (size: number) => first === undefined || ((Number(cursor) - first) * this.#size) % size === 0
    const larger = all.findLast((size) => size > this.#size && !(cut && size > this.#longest) && isWhole(size))
    if (larger !== undefined) this.#resize(larger)
  }

  /** `serviceTime`: of the response, by the service's clock. */
  received(body: unknown, serviceTime: number | undefined, status?: number): Received {
    const { other, resource, strategy } = this.#task
    const { cuts, expected, identified } = this.#checks
    this.state = {
      ...this.state,
      servedAt: this.state.servedAt ?? (this.state.count === 0 ? serviceTime : undefined)
    }
    const answer = answerOf(body, expected, status)
    if (answer.kind === "another") return { kind: "another", reason: { message: answer.reason } }
    if (answer.kind !== "data") return failed(answer.reason)
    if (this.#guess !== undefined) this.#task.sizes[this.#strategyName] = this.#guess
    this.#guess = undefined
    const list = answer.records.map(identified)
    const { firstIds, pageRecords } = this.#checks.limits
    if (pageRecords.isExceededBy(list.length))
      return failed(`the response has ${list.length} records, over our limit of ${pageRecords.value}`)
    const ids = list.map(idOf)
    if (resource.key === undefined && contradicts(list, ids))
      this.state = { ...this.state, ...withWarning(this.state, { _tag: "RepeatedRecord" }) }
    const firstPageIds = other && (this.state.firstPageIds ?? firstIds.first(ids))
    const isFirst = !this.state.firstPageIds && firstPageIds !== undefined && firstPageIds.length > 0
    this.#longest = Math.max(this.#longest, list.length)
    const found = this.#isTrial ? sizeFromTrial(strategy, list.length) : undefined
    if (found !== undefined) this.#task.sizes[this.#strategyName] = found
    const page = { records: list, ids, body, size: found ?? this.#size, cuts }
    const { changes, unproven } = resource
    const isRestart = this.#isExpiring && this.#live === undefined && this.state.count > 0
    const { since } = this.state
    const rules = { strategy, changes, since, limits: this.#checks.limits, isProven: !unproven, isRestart }
    const advanced = advance(rules, this.state, page)
    const total = "progress" in advanced && !this.state.windows ? advanced.progress.total : undefined
    if (isFirst && other && isOneList({ ids: firstPageIds, total }, other)) {
      this.state = { ...this.state, done: true, warnings: [], ignored: this.#task.name }
      return { kind: "ended" }
    }
    const step = withoutLoops(this.#detector, strategy, this.state, ids, advanced)
    if (step.kind === "failed") return this.#repeat(step)
    this.#repeats = 0
    this.#missed = 0
    this.#advance(step, list.length, firstPageIds)
    if (this.state.size !== undefined && !this.state.done) this.#grow()
    return { kind: "append", records: list.length, path: answer.path }
  }

  /** No schedule: any other page in between ends the row of repeats, and with it the growth of the wait. */
  #repeat({ again, reason }: Extract<Step, { readonly kind: "failed" }>): Received {
    const { allRepeats, repeats } = this.#checks.limits
    if (!again || repeats.isExceededBy(++this.#repeats) || allRepeats.isExceededBy(++this.#totalRepeats)) {
      // Wherever a page should begin, the service returns the short one that it has. Behind others, a short page proves nothing.
      const isOnlyPage = this.#cut !== undefined && this.#cut === this.state.count && this.state.total === undefined
      if (!isOnlyPage) return { kind: "failed", reason }
      this.state = { ...this.state, done: true }
      return { kind: "ended" }
    }
    return { kind: "repeat", waitMs: this.#repeats * 1000 }
  }

  #advance(
    step: Exclude<Step, { readonly kind: "failed" }>,
    length: number,
    firstPageIds: ReadonlyArray<string> | undefined
  ): void {
    const { fresh, sizes, strategy, unreliableTotals } = this.#task
    const before = this.state
    if ((step.progress.stepsBack ?? 0) > (before.stepsBack ?? 0)) this.#detector = new LoopDetector()
    const after = { ...apply(before, step.progress), ...(firstPageIds && { firstPageIds }) }
    // No service limits its pages to one record, but a broken one may send such a page. A page as long as requested says nothing.
    if (this.#cut !== undefined && this.#cut > 1 && length === this.#cut && length < this.#size) {
      sizes[this.#strategyName] = this.#cut
      this.#checks.cuts.add(this.#cut)
    }
    this.#cut = after.cut && before.cut !== true ? length : undefined
    this.state = after
    const isShort = after.done && after.total !== undefined && after.count < after.total
    const isSuspicious = isShort && (isPositional(strategy) || missingBeyondDrift(after, strategy) > 0)
    if (isSuspicious && fresh && !after.again && !unreliableTotals.has(this.#strategyName)) {
      this.state = { ...fresh, again: true }
      this.#detector = new LoopDetector()
    } else if (isShort && after.again) unreliableTotals.add(this.#strategyName)
    if (this.#isExpiring)
      this.#live = step.cursor === undefined ? undefined : { cursor: step.cursor, madeAt: this.#sentAt }
  }
}

/** The first page of a partition, and how many records the service counts in it. */
interface FirstPage {
  readonly ids: ReadonlyArray<string>
  readonly total: number | undefined
}

/** Whether a first page has records of the other one only: a parameter that should tell the lists apart does not. */
const isOneList = (own: FirstPage, other: FirstPage): boolean =>
  own.ids.every((id) => other.ids.includes(id)) &&
  (own.ids.length < other.ids.length || (own.total ?? other.total) === (other.total ?? own.total))

/** The name of a strategy in what was learnt about the service. */
export const nameOf = ({ request }: Strategy): string => `${request.method} ${request.path}`

const failed = (message: string): Received => ({ kind: "failed", reason: { message } })

/** Whether two records of the page have one id and different values. A record without an id is rejected by the load. */
const contradicts = (list: ReadonlyArray<unknown>, ids: ReadonlyArray<string>): boolean => {
  if (new Set(ids).size === ids.length) return false
  const first = new Map<string, string>()
  return list.some((record, index) => {
    const [id = "", text] = [ids[index], written(record)]
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

/** A constant parameter of the request that the rejection names, and that was not left out before. */
const unwantedIn = ({ message, refusal }: RequestRejected, { request }: Strategy, leftOut: ReadonlyArray<string>) =>
  Object.entries(request.parameters).find(
    ([name, value]) =>
      refusal !== undefined &&
      (typeof value !== "object" || value === null) &&
      !leftOut.includes(name) &&
      new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(message)
  )?.[0]

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
  const isOfService = rejection.refusal !== undefined && rejection.status !== 404
  const smaller = isTooLarge ? sizeThatFits(size) : isOfService ? sizeBelow(size, message) : undefined
  if (asksForSize(strategy.request) && smaller !== undefined) return { size: smaller }
  const [window, ...others] = state.windows ?? []
  if (window && window[1] - window[0] > 2 * dayMs) {
    // A window of a day is the control: whether the period is what the service rejects.
    const [start, end] = window
    const isAnswered = isTooLarge || state.count > 0 || state.earlier !== undefined
    const ofDay: ReadonlyArray<readonly [number, number]> = [
      [end - dayMs, end],
      [start, end - dayMs]
    ]
    const parts = (isAnswered && halved(start, end)) || ofDay
    return { checkpoint: { windows: [...parts, ...others], cursor: undefined, lastIds: [] } }
  }
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
