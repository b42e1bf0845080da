/** Splits time windows that have more records than the service returns. */
import type { Strategy } from "../../catalog/resource.ts"
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
 * Splits a window in two if it has more records than can be read, or more than its page returned. Both halves together
 * have the records of the whole: a service that counts more in them ignores the window.
 */
export const splitWindow = (
  strategy: Strategy,
  before: ListProgress,
  progress: ListProgress,
  page: Page,
  total: number | undefined
): Step | undefined => {
  const [window, ...others] = before.windows ?? []
  if (window === undefined) return undefined
  const [start, end, countMax] = window
  const once = strategy.paging.kind === "once"
  const maxRecords = once ? page.size : strategy.maxRecords
  if (maxRecords === undefined) return undefined
  // Beyond the number that a search engine counts to, the total of the halves is unknown.
  const counted = total === undefined || total === countedMax ? undefined : (before.earlier?.total ?? 0) + total
  if (counted !== undefined && countMax !== undefined && counted > countMax + maxRecords / 2)
    return failed("the service counts the same records in every time window")
  const { length } = page.records
  const isTruncated = once && (total === undefined ? isCutElsewhere(page) : total > length)
  if ((total ?? length) < maxRecords && !isTruncated) return undefined
  const halves = halved(start, end)
  // What has one timestamp is read as far as its pages reach.
  if (!halves && !once) return undefined
  if (!halves) return ended(withWarning(progress, { _tag: "TimestampLimited", at: start }))
  const bounded = halves.map(([from, to]) =>
    counted === undefined ? ([from, to] as const) : ([from, to, counted] as const)
  )
  return { kind: "next", progress: { ...before, windows: [...bounded, ...others] } }
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
