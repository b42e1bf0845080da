/** Windows of time that hold more than the service gives at once. */
import type { Way } from "../catalog/resource.ts"
import {
  type Page,
  type PassProgress,
  type Step,
  countedMax,
  doubt,
  ended,
  failed,
  isCutElsewhere
} from "./progress.ts"

/**
 * A window that holds more than can be reached, or more than its page showed, is read in two halves. Together they hold
 * what the whole did: a service that counts more in them does not look at the window.
 */
export const narrow = (
  way: Way,
  before: PassProgress,
  seen: PassProgress,
  page: Page,
  total: number | undefined
): Step | undefined => {
  const [window, ...others] = before.windows!
  const [start, end, most] = window!
  const once = way.paging.kind === "once"
  const reach = once ? page.size : way.reach
  if (reach === undefined) return undefined
  // Of more than a search engine counts, nobody knows how many the halves hold.
  const counted = total === undefined || total === countedMax ? undefined : (before.earlier?.total ?? 0) + total
  if (counted !== undefined && most !== undefined && counted > most + reach / 2)
    return failed("the service counts the same records in every window of time")
  const { length } = page.records
  const hides = once && (total === undefined ? isCutElsewhere(page) : total > length)
  if ((total ?? length) < reach && !hides) return undefined
  const halves = halved(start, end)
  if (!halves)
    return ended(doubt(seen, `more records share one instant (${new Date(start).toISOString()}) than can be reached`))
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
