/**
 * The state of reading one partition of a list: what to request next, and what follows from each response. It sends and stores
 * nothing, so every rule about cursors, loops, page sizes and cut pages is here.
 */
import { hash } from "node:crypto"
import { type Expected, answerOf, membersBeside } from "../../catalog/answer.ts"
import { written } from "../../catalog/json.ts"
import type { Bindings, Parameters } from "../../catalog/request.ts"
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
  /** Strategies whose totals exceed the records they return; grows while lists are read. */
  readonly unreliableTotals: Set<string>
  /**
   * If partitions set columns: the ids on the first page of another partition, empty for the first partition. A partition
   * that returns the same page is the same list, so the service ignores its parameters.
   */
  readonly otherFirstPageIds?: ReadonlyArray<string>
  /** Where a second reading starts if records are missing. Absent: there is no second reading. */
  readonly fresh?: Checkpoint
}

/** What the pages are checked against. */
interface Checks {
  readonly expected: Expected
  /** The members that responses with records had beside the list; grows. */
  readonly seen: Set<string>
  /** Gives a record without an id one. */
  readonly identified: (record: unknown) => unknown
  /** The lengths to which the service has cut pages in this run; grows. */
  readonly cuts: Set<number>
}

/** What the next request is bound to, or why there is none. */
type Next = { readonly reason: Detail } | Pick<Bindings, "size" | "cursor" | "since" | "windowStart" | "windowEnd">

/** `append`: the page is to be stored, with the state after it. `ignored`: the partition is another one, and has ended. */
type Received =
  | { readonly kind: "append"; readonly records: number }
  | { readonly kind: "repeat"; readonly waitMs: number }
  | { readonly kind: "ignored" }
  | { readonly kind: "failed"; readonly reason: Detail }

/** An expiring cursor older than this is discarded; the service's limit is 120 s from when it made the cursor. */
const cursorLifetimeMs = 110_000
const restartsPerAnchorMax = 4
/** How often a request is repeated if its page repeats an earlier one: consecutively, and per partition. */
const repeatsMax = 2
const totalRepeatsMax = 10
/** Records per page, far above any page of the service: one transaction loads a page, so it must fit into memory. */
const recordsMax = 100_000

export class PageLoop {
  state: Checkpoint
  readonly #task: PagesTask
  readonly #checks: Checks
  readonly #strategyName: string
  readonly #isExpiring: boolean
  /** The cursor of an expiring list. `madeAt`: not before this time. */
  #live: { readonly cursor: unknown; readonly madeAt: number } | undefined
  #sentAt = 0
  #size = 0
  #isTrial = false
  readonly #startsByAnchor = new Map<number | undefined, number>()
  #detector = new LoopDetector()
  #repeats = 0
  #totalRepeats = 0
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
      if (this.#isExpiring) this.#detector = new LoopDetector()
      if (this.#isExpiring && starts > restartsPerAnchorMax)
        return { reason: { message: "its cursors expire before they can be used" } }
    }
    const knownSize = sizes[this.#strategyName]
    this.#isTrial = knownSize === undefined && shouldTryPageSize(strategy, state)
    this.#size = this.#isTrial ? strategy.trialPageSize! : (knownSize ?? strategy.pageSize)
    if (state.count === 0) this.#size = Math.min(this.#size, strategy.firstPageSize ?? this.#size)
    return {
      size: this.#size,
      cursor: this.#isExpiring ? this.#live?.cursor : state.cursor,
      since: (this.#isExpiring ? anchorOf(state) : undefined) ?? state.since,
      windowStart: state.windows?.[0]?.[0],
      windowEnd: state.windows?.[0]?.[1]
    }
  }

  /** Returns why the reading fails; `undefined` if another request may succeed. */
  rejected(rejection: RequestRejected): { readonly reason: Detail } | undefined {
    const { sizes, strategy } = this.#task
    const change = this.#isTrial
      ? { size: strategy.pageSize }
      : afterRejection(rejection, strategy, this.state, this.#size, this.hasCursor)
    if ("reason" in change) return change
    if (change.size !== undefined) sizes[this.#strategyName] = change.size
    this.state = { ...this.state, ...("checkpoint" in change ? change.checkpoint : {}) }
    this.#live = undefined
    return undefined
  }

  /** `serviceTime`: of the response, by the service's clock. */
  received(body: unknown, serviceTime: number | undefined): Received {
    const { otherFirstPageIds, resource, strategy } = this.#task
    const { cuts, expected, identified, seen } = this.#checks
    this.state = {
      ...this.state,
      servedAt: this.state.servedAt ?? (this.state.count === 0 ? serviceTime : undefined)
    }
    const answer = answerOf(body, expected)
    if (answer.kind !== "data") return failed(answer.reason)
    const list = answer.records.map(identified)
    if (list.length > 0) for (const member of membersBeside(body, expected.records)) seen.add(member)
    if (list.length > recordsMax)
      return failed(`the response has ${list.length} records, over our limit of ${recordsMax}`)
    const ids = list.map(idOf)
    if (resource.key === undefined && contradicts(list, ids))
      this.state = { ...this.state, ...withWarning(this.state, { _tag: "RepeatedRecord" }) }
    const firstPageIds = otherFirstPageIds && (this.state.firstPageIds ?? ids.slice(0, 100))
    const isFirst = firstPageIds !== undefined && !this.state.firstPageIds && firstPageIds.length > 0
    if (isFirst && firstPageIds.every((id) => otherFirstPageIds!.includes(id))) {
      this.state = { ...this.state, done: true, warnings: [], ignored: this.#task.name }
      return { kind: "ignored" }
    }
    const found = this.#isTrial ? sizeFromTrial(strategy, list.length) : undefined
    if (found !== undefined) this.#task.sizes[this.#strategyName] = found
    const page = { records: list, body, size: found ?? this.#cut ?? this.#size, cuts }
    const advanced = advance({ strategy, changes: resource.changes, since: this.state.since }, this.state, page)
    const step = withoutLoops(this.#detector, strategy, this.state, ids, advanced)
    if (step.kind === "failed") return this.#repeat(step)
    this.#repeats = 0
    this.#advance(step, list.length, firstPageIds)
    return { kind: "append", records: list.length }
  }

  /** No schedule: any other page in between ends the row of repeats, and with it the growth of the wait. */
  #repeat({ again, reason }: Extract<Step, { readonly kind: "failed" }>): Received {
    if (!again || ++this.#repeats > repeatsMax || ++this.#totalRepeats > totalRepeatsMax)
      return { kind: "failed", reason }
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
    // No service limits its pages to one record, but a broken one may send such a page.
    if (this.#cut !== undefined && this.#cut > 1 && after.count > before.count) {
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

/** The name of a strategy in what was learnt about the service. */
export const nameOf = ({ request }: Strategy): string => `${request.method} ${request.path}`

const failed = (message: string): Received => ({ kind: "failed", reason: { message } })

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

/** The page size after a response that was too large: a quarter; `undefined` if a single record is too large. */
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
