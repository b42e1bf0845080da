/**
 * How one page leads to the next. All functions are pure, so tests can apply every rule to any sequence of pages.
 *
 * A list ends with an empty page, with a short one that reaches the total, or when the service says so. Offset pages
 * overlap by one record and sort-value pages by their ties, because lists change while they are read.
 */
import type { Limits } from "../../values/limits.ts"
import { Duration } from "effect"
import { at } from "../../catalog/json.ts"
import { present } from "../../catalog/present.ts"
import { dayMs, instantMs } from "../../catalog/timestamps.ts"
import type { Changes, Strategy } from "../../catalog/resource.ts"
import {
  type Page,
  type ListProgress,
  type Step,
  countedMax,
  withWarning,
  ended,
  failed,
  instantsIn,
  isCursor,
  isCutElsewhere,
  next,
  repeated
} from "./list-progress.ts"
import { isTotalComparable } from "./outcome.ts"
import { divisorUpTo } from "./page-size.ts"
import { splitWindow } from "./windows.ts"
import { missesPair, sorted, tied, withoutPair } from "./tie-breaking.ts"

export interface Rules {
  readonly strategy: Strategy
  readonly changes: Changes | undefined
  readonly since: number | undefined
  readonly limits: Limits["extract"]
  /** Accounts have shown the list, and how long its pages are at most. */
  readonly isProven?: boolean
  /** The page is the first one behind a cursor that was lost: its total does not count what was read before. */
  readonly isRestart?: boolean
}

export const advance = (rules: Rules, before: ListProgress, page: Page): Step => {
  const { limits, strategy, since } = rules
  if (before.ties) return tied(strategy, before, before.ties, page, limits)
  const { ids } = page
  if (strategy.paging.kind === "sortValue" && missesPair(strategy, before, ids[0]))
    return withoutPair(strategy.paging, before)
  const last = new Set(before.lastIds)
  const overlap = ids.filter((id) => last.has(id)).length
  const total = strategy.total === undefined ? undefined : totalOf(at(page.body, strategy.total))
  const count = countOf(strategy, before, page, overlap)
  const behind = rules.isRestart ? behindOf(before, before.count - overlap, total) : (before.behind ?? 0)
  const progress: ListProgress = {
    ...before,
    count,
    ...(rules.isRestart && { behind }),
    ...(total !== undefined && { total: behind + total }),
    ...changesIn(rules, before, page),
    ...orderAfter(strategy, before, page, total),
    lastIds: ids.length > 0 ? limits.lastIds.last(ids) : before.lastIds
  }
  const isSameEnd = overlap > 0 && ids.at(-1) === before.lastIds.at(-1)
  const ignored = ignoredFilter(rules, before, page)
  if (ignored) return failed(ignored)
  const counted = (before.earlier?.total ?? 0) + behind + (total ?? 0)
  if (
    isTotalComparable(strategy, since) &&
    isCompleteTotal(total, page) &&
    count > 2 * counted &&
    limits.excessPages.isExceededBy((count - 2 * counted) / page.size)
  )
    return failed(`the service counts ${counted} records, and the list continues after ${count}`)
  if (before.windows && before.cursor === undefined) {
    const narrowed = splitWindow(strategy, before, progress, page, total)
    if (narrowed) return narrowed
  }
  // A page of one record had none to share with the next one.
  const isOffsetAfterPage = strategy.paging.kind === "offset" && Number(before.cursor ?? 0) > 0
  const offsetShifted = isOffsetAfterPage && overlap === 0 && before.lastIds.length !== 1
  // Records were deleted, and the ones after them moved up onto pages already read.
  const hasShrunk = total !== undefined && before.total !== undefined && total < before.total
  const pageShifted =
    strategy.paging.kind === "pageNumber" && hasShrunk && Number(before.cursor ?? 0) > strategy.paging.first
  if (offsetShifted || pageShifted) {
    const stepsBack = (before.stepsBack ?? 0) + 1
    const backwards = { ...before, ...(total !== undefined && { total }), stepsBack }
    if (limits.stepsBack.isExceededBy(stepsBack))
      return failed("records disappear from the list faster than it can be read")
    return offsetShifted
      ? stepBack(backwards, page.size)
      : next({ ...backwards, lastIds: [] }, Number(before.cursor) - 1)
  }
  // Another strategy reads the list.
  if (progress.inOrder === false) return ended(progress)
  // New records stand first in either order: one page more may prove it, and saves the readings by filters.
  const isOpen = strategy.notSortedBy !== undefined && progress.inOrder === undefined && before.count === 0
  const isBeyond = strategy.stopBefore !== undefined && since !== undefined && isBefore(rules.changes, since, page)
  if (ids.length === 0 || (isBeyond && !isOpen)) return ended(progress)
  const more = strategy.more === undefined ? undefined : memberAt(page.body, strategy.more)
  if (more === false) return ended(progress)
  const isShorter = ids.length < page.size
  // Positions go on behind what the pages share.
  const isFurther = count > before.count || (strategy.paging.kind === "offset" && progress.total === undefined)
  const isCut = isShorter && (more === true || (isFurther && mayBeCut(rules, before, progress, page)))
  return afterRecords(rules, before, isCut ? { ...progress, cut: true } : progress, page, {
    isSameEnd,
    isShort: isShorter && !isCut
  })
}

/** Of the records `read` before a list was begun again: all that its total leaves out, unless it is about the total of before. */
const behindOf = ({ count, total }: ListProgress, read: number, again: number | undefined): number => {
  if (again === undefined || total === undefined || 2 * total < count) return read
  return Math.abs(again - total) > Math.abs(read + again - total) ? read : 0
}

/** Records read. For lists paged by position it follows from the position, because a step back returns records twice. */
const countOf = ({ paging }: Strategy, before: ListProgress, { records, size }: Page, overlap: number): number => {
  const earlier = before.earlier?.count ?? 0
  switch (paging.kind) {
    case "offset":
      return earlier + Number(before.cursor ?? 0) + records.length
    case "pageNumber":
      return earlier + (Number(before.cursor ?? paging.first) - paging.first) * size + records.length
    default:
      return before.count + records.length - overlap
  }
}

/** The step after a page with records. `isSameEnd`: it ends with the same record as the page before. */
const afterRecords = (
  { strategy }: Rules,
  before: ListProgress,
  progress: ListProgress,
  page: Page,
  { isSameEnd, isShort }: { readonly isSameEnd: boolean; readonly isShort: boolean }
): Step => {
  switch (strategy.paging.kind) {
    case "once":
      return ended(progress)
    case "offset": {
      if (isShort) return ended(progress)
      const behind = Number(before.cursor ?? 0) + page.records.length
      // Nothing says that the list goes on: only an empty page is its end, since any other may be cut.
      if (page.records.length < page.size && progress.total === undefined)
        return next({ ...progress, lastIds: progress.lastIds.slice(-1) }, behind)
      // The next page starts with the last record of this one, unless that is all it has: the list would not advance.
      return next(progress, Math.max(behind - 1, Number(before.cursor ?? 0) + 1))
    }
    case "pageNumber": {
      const { first } = strategy.paging
      if (isSameEnd && progress.count > before.count) return repeated("a page repeats the page before it")
      const number = Number(before.cursor ?? first)
      if (isShort) return ended(progress)
      if (page.records.length < page.size) {
        // Pages no longer than the cut one begin at the same records, whether the service or something behind it has cut it.
        const position = progress.count - (before.earlier?.count ?? 0)
        const size = divisorUpTo(page.records.length, position)
        return next({ ...progress, size }, first + position / size)
      }
      if (strategy.maxRecords !== undefined && number * page.size >= strategy.maxRecords)
        return ended(withWarning(progress, { _tag: "PageNumbersLimited", records: strategy.maxRecords }))
      return next(progress, number + 1)
    }
    case "lastRecord": {
      const last = page.records.at(-1)
      const { elsewhere, field } = strategy.paging
      const cursor = at(last, field) ?? (elsewhere ? at(last, elsewhere) : undefined) ?? at(page.body, field)
      if (isShort) return ended(progress)
      if (cursor === undefined || cursor === null) return failed(`records have no ${strategy.paging.field}`)
      return followCursor(before, progress, cursor, isSameEnd)
    }
    case "body": {
      const parts = Object.entries(strategy.paging.parts).map(
        ([part, path]) => [part, memberAt(page.body, path)] as const
      )
      if (isShort || parts.some(([, value]) => value === undefined || value === null || value === ""))
        return ended(progress)
      return followCursor(before, progress, Object.fromEntries(parts), isSameEnd)
    }
    case "sortValue":
      return sorted(strategy.paging, before, progress, page, isSameEnd && page.records.length >= page.size, isShort)
    case "expiring": {
      const cursor = at(page.body, strategy.paging.field)
      if (!isCursor(cursor)) return failed("the cursor is too large")
      const anchors = strategy.paging.anchor ? instantsIn(page.records, strategy.paging.anchor) : []
      const anchored = anchors.length > 0 ? { ...progress, anchor: highest(before.anchor ?? 0, anchors) } : progress
      return cursor === undefined || cursor === null || cursor === ""
        ? ended(anchored)
        : { kind: "next", progress: anchored, cursor }
    }
  }
}

/** A member beside the list: where the list may be elsewhere, its members may be, too. */
export const memberAt = (body: unknown, path: string): unknown => at(body, path) ?? at(body, path.replace(/.*\./s, ""))

/** An offset page must overlap the one before; otherwise records were deleted and the list moved up. */
const stepBack = (before: ListProgress, size: number): Step => {
  const back = Math.max(0, Number(before.cursor) - Math.ceil(size / 2))
  return next({ ...before, ...(back === 0 && { lastIds: [] }) }, back)
}

/**
 * Follows the cursor. A cursor that does not advance is the end if all records were read, else a failure. A page that ends
 * like the one before it is that page again, so its records were counted already.
 */
const followCursor = (before: ListProgress, progress: ListProgress, cursor: unknown, isSameEnd: boolean): Step => {
  if (!isCursor(cursor)) return failed("the cursor is too large")
  const isStuck = isSameEnd || JSON.stringify(cursor) === JSON.stringify(before.cursor)
  if (!isStuck) return next(progress, cursor)
  if (progress.total === undefined) return ended(withWarning(progress, { _tag: "CursorStuck" }))
  const count = isSameEnd ? before.count : progress.count
  return count >= progress.total
    ? ended({ ...progress, count })
    : repeated(`the cursor does not advance after ${count} of ${progress.total} records`)
}

/** Whether the total counts all records: some services count only those of the page, or stop counting. */
const isCompleteTotal = (total: number | undefined, { records }: Page): boolean =>
  total !== undefined && total !== records.length && total !== countedMax

/**
 * A page shorter than requested may be the last one, or one that was cut. The total decides, unless it may count just this page:
 * the first one, of a length to which services limit pages. Without a total, nothing has said that the list ends here: one more
 * request says so, except of a list that accounts have shown, whose page is later or very short.
 */
const mayBeCut = (rules: Rules, before: ListProgress, progress: ListProgress, page: Page): boolean => {
  const { strategy, since } = rules
  const { length } = page.records
  if (before.cut || isCutElsewhere(page)) return true
  if (progress.total === undefined)
    return !rules.isProven || (since === undefined && before.count === 0 && length >= suspiciousLengthMin)
  if (before.count === 0 && progress.total === length && isLikelyLimit(length)) return true
  return (
    (isTotalComparable(strategy, since) || strategy.notSortedBy !== undefined) &&
    progress.count < (progress.earlier?.total ?? 0) + progress.total
  )
}

const suspiciousLengthMin = 10

/** Whether services limit pages to this length. */
const isLikelyLimit = (length: number): boolean => [20, 25, 50].includes(length) || (length > 0 && length % 100 === 0)

/**
 * What the pages so far say of the order of a list: one is in the order of its changes and in no other, which proves it, or one
 * is not. A page that is the whole list needs no order.
 */
const orderAfter = (strategy: Strategy, { inOrder }: ListProgress, page: Page, total: number | undefined) => {
  const { notSortedBy, stopBefore } = strategy
  if (notSortedBy === undefined || stopBefore === undefined || inOrder === false) return {}
  if (inOrder === undefined && page.records.length === total) return { inOrder: true }
  if (!isDescending(page, stopBefore)) return { inOrder: false }
  return isDescending(page, notSortedBy) ? {} : { inOrder: true }
}

const isDescending = ({ records }: Page, field: string): boolean => {
  const values = instantsIn(records, field)
  return values.length === records.length && values.every((value, index) => value <= (values[index - 1] ?? value))
}

/** Records outside the range show that the service ignores the filter. One day of tolerance: clocks and zones differ. */
const ignoredFilter = ({ strategy, since }: Rules, { windows }: ListProgress, page: Page): string | undefined => {
  const [from, to = Number.POSITIVE_INFINITY] = windows?.[0] ?? [since]
  if (strategy.verifyField === undefined || from === undefined) return undefined
  return instantsIn(page.records, strategy.verifyField).some((value) => value < from - dayMs || value > to + dayMs)
    ? `the service ignores the filter on ${strategy.verifyField}`
    : undefined
}

const changeOf = ({ changes }: Rules, record: unknown): number | undefined => {
  if (!changes) return undefined
  const value = instantMs(at(record, changes.field))
  return value ?? (changes.fallback && instantMs(at(record, changes.fallback.field)))
}

const changesIn = (rules: Rules, before: ListProgress, { records }: Page) => {
  if (!rules.changes) return {}
  const values = records.map((record) => changeOf(rules, record)).filter((value) => value !== undefined)
  const undated = (before.undated ?? 0) + records.length - values.length
  return {
    ...(undated > 0 && { undated }),
    ...(values.length > 0 && { highest: highest(before.highest ?? Number.NEGATIVE_INFINITY, values) })
  }
}

/** Math.max(...values) would fail, because a page may have more records than a call can have arguments. */
const highest = (first: number, others: ReadonlyArray<number>) => others.reduce((a, b) => Math.max(a, b), first)

/**
 * For a list sorted by newest change first: whether the page ends before the watermark, so that all further records are
 * known. If the service sorts by a change timestamp that it does not return, all records of the page must be older than
 * the watermark by some days.
 */
const isBefore = (changes: Changes | undefined, since: number, { records }: Page): boolean => {
  const { field, fallback } = present(changes, "field of changes")
  const last = instantMs(at(records.at(-1), field))
  // A single record may be out of order.
  if (last !== undefined) return records.slice(-2).every((record) => (instantMs(at(record, field)) ?? last) < since)
  const bound = since - Duration.toMillis(fallback?.overlap ?? 0)
  return (
    fallback !== undefined &&
    records.every((record) => (instantMs(at(record, fallback.field)) ?? Number.POSITIVE_INFINITY) < bound)
  )
}

/** The service sends totals as numbers or as text. */
const totalOf = (value: unknown): number | undefined => {
  const number = typeof value === "string" ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
