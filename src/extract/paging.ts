/**
 * How one page leads to the next: pure, so that every rule can be tried on any sequence of pages.
 *
 * A list ends with a short or empty page, or where the service says so; totals only make us look twice. Offset pages
 * overlap by one record and sort-value pages by their ties, because lists move while they are read.
 */
import { Duration } from "effect"
import { at } from "../catalog/json.ts"
import { dayMs, instantMs } from "../catalog/timestamps.ts"
import type { Changes, Strategy } from "../catalog/resource.ts"
import {
  type Page,
  type ListProgress,
  type Step,
  countedMax,
  withWarning,
  ended,
  failed,
  idOf,
  instantsIn,
  isCursor,
  isCutElsewhere,
  next,
  repeats
} from "./list-progress.ts"
import { isTotalComparable } from "./outcome.ts"
import { splitWindow } from "./windows.ts"
import { isBesidePair, sorted, tied, withoutPair } from "./tie-breaking.ts"

export interface Rules {
  readonly strategy: Strategy
  readonly changes: Changes | undefined
  readonly since: number | undefined
}

export const advance = (rules: Rules, before: ListProgress, page: Page): Step => {
  const { strategy, since } = rules
  if (before.ties) return tied(strategy, before, before.ties, page)
  const ids = page.records.map(idOf)
  if (strategy.paging.kind === "sortValue" && isBesidePair(strategy, before, ids[0]))
    return withoutPair(strategy.paging, before)
  const last = new Set(before.lastIds)
  const repeated = ids.filter((id) => last.has(id)).length
  const total = strategy.total === undefined ? undefined : totalOf(at(page.body, strategy.total))
  const count = countOf(strategy, before, page, repeated)
  const seen: ListProgress = {
    ...before,
    count,
    ...(total !== undefined && { total }),
    ...changesIn(rules, before, page),
    lastIds: ids.length > 0 ? ids.slice(-100) : before.lastIds
  }
  const same = repeated > 0 && ids.at(-1) === before.lastIds.at(-1)
  const ignored = ignoredFilter(rules, before, page)
  if (ignored) return failed(ignored)
  const counted = (before.earlier?.total ?? 0) + (total ?? 0)
  if (isTotalComparable(strategy, since) && isOfAll(total, page) && count > 2 * counted + excessPagesMax * page.size)
    return failed(`the service counts ${counted} records and the list goes on after ${count}`)
  if (before.windows && before.cursor === undefined) {
    const narrowed = splitWindow(strategy, before, seen, page, total)
    if (narrowed) return narrowed
  }
  const moved = strategy.paging.kind === "offset" && Number(before.cursor ?? 0) > 0 && repeated === 0
  // Records went, and those behind them moved up onto pages that were read.
  const fewer = total !== undefined && before.total !== undefined && total < before.total
  const slid = strategy.paging.kind === "pageNumber" && fewer && Number(before.cursor ?? 0) > strategy.paging.first
  if (moved || slid) {
    const stepsBack = (before.stepsBack ?? 0) + 1
    const again = { ...before, ...(total !== undefined && { total }), stepsBack }
    if (stepsBack > stepsBackMax) return failed("the list moves up more often than it can be followed")
    return moved ? stepBack(again, page.size) : next({ ...again, lastIds: [] }, Number(before.cursor) - 1)
  }
  if (ids.length === 0 || (strategy.stopBefore !== undefined && since !== undefined && isBefore(rules, page)))
    return ended(seen)
  const more = strategy.more === undefined ? undefined : at(page.body, strategy.more)
  if (more === false) return ended(seen)
  const shorter = ids.length < page.size
  const cut = shorter && count > before.count && (more === true || mayBeCut(rules, before, seen, page))
  return onwards(rules, before, cut ? { ...seen, cut } : seen, page, { same, short: shorter && !cut })
}

/** Records read: where the place in the list is known, up to it, because a reading that stepped back meets some again. */
const countOf = ({ paging }: Strategy, before: ListProgress, { records, size }: Page, repeated: number): number => {
  const earlier = before.earlier?.count ?? 0
  switch (paging.kind) {
    case "offset":
      return earlier + Number(before.cursor ?? 0) + records.length
    case "pageNumber":
      return earlier + (Number(before.cursor ?? paging.first) - paging.first) * size + records.length
    default:
      return before.count + records.length - repeated
  }
}

/** Where the list goes on behind a page that holds records. `same`: it ends as the page before did. */
const onwards = (
  { strategy }: Rules,
  before: ListProgress,
  seen: ListProgress,
  page: Page,
  { same, short }: { readonly same: boolean; readonly short: boolean }
): Step => {
  switch (strategy.paging.kind) {
    case "once":
      return ended(seen)
    case "offset":
      // One record of this page comes again with the next.
      return short ? ended(seen) : next(seen, Number(before.cursor ?? 0) + page.records.length - 1)
    case "pageNumber": {
      if (same) return repeats("the page after repeats the page before")
      const number = Number(before.cursor ?? strategy.paging.first)
      if (short) return ended(seen)
      if (strategy.maxRecords !== undefined && number * page.size >= strategy.maxRecords)
        return ended(withWarning(seen, `only the first ${strategy.maxRecords} records can be reached by page number`))
      return next(seen, number + 1)
    }
    case "lastRecord": {
      const last = page.records.at(-1)
      const cursor = at(last, strategy.paging.field) ?? at(page.body, strategy.paging.field)
      if (short) return ended(seen)
      if (cursor === undefined || cursor === null) return failed(`records carry no ${strategy.paging.field}`)
      return followed(before, seen, cursor, same)
    }
    case "body": {
      const parts = Object.entries(strategy.paging.parts).map(([part, path]) => [part, at(page.body, path)] as const)
      if (short || parts.some(([, value]) => value === undefined || value === null || value === "")) return ended(seen)
      return followed(before, seen, Object.fromEntries(parts), same)
    }
    case "sortValue":
      return sorted(strategy.paging, before, seen, page, same && page.records.length >= page.size, short)
    case "expiring": {
      const cursor = at(page.body, strategy.paging.field)
      if (!isCursor(cursor)) return failed("the cursor is too large to be one")
      const anchors = strategy.paging.anchor ? instantsIn(page.records, strategy.paging.anchor) : []
      const anchored = anchors.length > 0 ? { ...seen, anchor: highest(before.anchor ?? 0, anchors) } : seen
      return cursor === undefined || cursor === null || cursor === ""
        ? ended(anchored)
        : { kind: "next", checkpoint: anchored, cursor }
    }
  }
}

/** A list that loses records that often while it is read, or says so, would never be read to its end. */
const stepsBackMax = 200

/** An offset page must touch the one before. Where it does not, records vanished and the list moved up. */
const stepBack = (before: ListProgress, size: number): Step => {
  const back = Math.max(0, Number(before.cursor) - Math.ceil(size / 2))
  return next({ ...before, ...(back === 0 && { lastIds: [] }) }, back)
}

/** A cursor that does not move: the end where all is seen, else a list that cannot be read this way. */
const followed = (before: ListProgress, seen: ListProgress, cursor: unknown, same: boolean): Step => {
  if (!isCursor(cursor)) return failed("the cursor is too large to be one")
  const stuck = same || JSON.stringify(cursor) === JSON.stringify(before.cursor)
  if (!stuck) return next(seen, cursor)
  if (seen.total === undefined)
    return ended(withWarning(seen, "the cursor stands still, and no total says whether that is the end"))
  return seen.count >= seen.total
    ? ended(seen)
    : repeats(`the cursor stands still after ${seen.count} of ${seen.total} records`)
}

/** Pages that a list may show beyond twice what the service counts, before it is taken for one without an end. */
const excessPagesMax = 10

/** Whether it counts all records; some services count those of the page, or stop counting. */
const isOfAll = (total: number | undefined, { records }: Page): boolean =>
  total !== undefined && total !== records.length && total !== countedMax

/**
 * A page shorter than asked is the end, unless the service cuts pages to a size of its own. The total tells. Without one, a
 * list of which a short page was not the end, a length at which the service cut another list, and a first page of some
 * length are each worth one more request.
 */
const mayBeCut = (rules: Rules, before: ListProgress, seen: ListProgress, page: Page): boolean => {
  const { strategy, since } = rules
  const { length } = page.records
  if (before.cut || isCutElsewhere(page)) return true
  if (strategy.total !== undefined && seen.total !== undefined)
    return isTotalComparable(strategy, since) && seen.count < (seen.earlier?.total ?? 0) + seen.total
  return since === undefined && before.count === 0 && length >= suspiciousLengthMin
}
const suspiciousLengthMin = 10

/** A filter the service ignores shows in the rows. A day of grace: clocks and zones differ. */
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

/** Not spread into one call: a page may hold more records than a call takes arguments. */
const highest = (first: number, others: ReadonlyArray<number>) => others.reduce((a, b) => Math.max(a, b), first)

/**
 * Newest change first: the page reaches back beyond the watermark, so what follows is known. Where the service sorts by
 * the change and does not show it, a whole page has to be old, and old by some days.
 */
const isBefore = ({ changes, since }: Rules, { records }: Page): boolean => {
  const { field, fallback } = changes!
  const last = instantMs(at(records.at(-1), field))
  if (last !== undefined) return last < since!
  const bound = since! - Duration.toMillis(fallback?.overlap ?? 0)
  return (
    fallback !== undefined &&
    records.every((record) => (instantMs(at(record, fallback.field)) ?? Number.POSITIVE_INFINITY) < bound)
  )
}

/** Totals come as number, text, or an object in an array. */
const totalOf = (value: unknown): number | undefined => {
  const number = typeof value === "string" ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
