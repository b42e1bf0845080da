/** How many records a page is asked for: what is tried, what an answer shows, and what is left after a page that fails. */
import type { Strategy } from "../../catalog/resource.ts"
import type { ListProgress } from "./list-progress.ts"

/** A page size and the smaller ones, each of which divides the one before. */
export const sizesFrom = (size: number): ReadonlyArray<number> => {
  const divisor = size === 1 ? undefined : [2, 3, 5, 7].find((one) => size % one === 0)
  return size === 1 ? [1] : [size, ...sizesFrom(divisor === undefined ? 1 : size / divisor)]
}

/** The largest divisor of a position in a list that is no larger than this size: there, a page of it begins. */
export const divisorUpTo = (size: number, position: number): number =>
  position % size === 0 ? size : divisorUpTo(size - 1, position)

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
  length < pageSize ? undefined : Math.min(length, trialPageSize ?? length)

/** The page size after a response that was too large: a quarter; `undefined` if a single record is too large. */
export const sizeThatFits = (size: number): number | undefined => Math.floor(size / 4) || undefined

/**
 * After a rejection that may be about the page size: the largest smaller number that its message has, which is only a guess that
 * the next answer judges; else, for a larger size, the smallest maximum that any source names. `undefined` for other sizes.
 */
export const sizeBelow = (size: number, message: string): number | undefined => {
  const named = [...message.matchAll(/(?<![\w-]|\d\.)\d{1,4}(?![\w-]|\.\d)/g)].map(([number]) => Number(number))
  const below = named.filter((number) => number > 1 && number < size)
  return below.length > 0 ? Math.max(...below) : size > smallestMaximum ? smallestMaximum : undefined
}
const smallestMaximum = 100
