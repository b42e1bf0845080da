/** Windows of time that hold more than the service gives at once. */
import type { Strategy } from "../catalog/resource.ts"
import {
  type Page,
  type ListProgress,
  type Step,
  countedMax,
  withWarning,
  ended,
  failed,
  isCutElsewhere
} from "./list-progress.ts"

/**
 * A window that holds more than can be reached, or more than its page showed, is read in two halves. Together they hold
 * what the whole did: a service that counts more in them does not look at the window.
 */
export const splitWindow = (
  strategy: Strategy,
  before: ListProgress,
  seen: ListProgress,
  page: Page,
  total: number | undefined
): Step | undefined => {
  const [window, ...others] = before.windows!
  const [start, end, most] = window!
  const once = strategy.paging.kind === "once"
  const maxRecords = once ? page.size : strategy.maxRecords
  if (maxRecords === undefined) return undefined
  // Of more than a search engine counts, nobody knows how many the halves hold.
  const counted = total === undefined || total === countedMax ? undefined : (before.earlier?.total ?? 0) + total
  if (counted !== undefined && most !== undefined && counted > most + maxRecords / 2)
    return failed("the service counts the same records in every window of time")
  const { length } = page.records
  const hides = once && (total === undefined ? isCutElsewhere(page) : total > length)
  if ((total ?? length) < maxRecords && !hides) return undefined
  const halves = halved(start, end)
  if (!halves)
    return ended(
      withWarning(seen, `more records share one instant (${new Date(start).toISOString()}) than can be reached`)
    )
  const bounded = halves.map(([from, to]) =>
    counted === undefined ? ([from, to] as const) : ([from, to, counted] as const)
  )
  return { kind: "next", checkpoint: { ...before, windows: [...bounded, ...others] } }
}

export const halved = (start: number, end: number): ReadonlyArray<readonly [number, number]> | undefined => {
  const middle = Math.floor((start + end) / 2)
  return middle > start && middle < end
    ? [
        [start, middle],
        [middle, end]
      ]
    : undefined
}
