/** Finds the largest page size that the service accepts, with few extra requests. */
import type { Strategy } from "../../catalog/resource.ts"
import type { ListProgress } from "./list-progress.ts"

/** Remaining pages that justify one trial request with a larger page size. */
const gainMin = 5

/** Whether a list without a documented maximum page size is long enough for a trial. */
export const shouldTryPageSize = (
  strategy: Strategy,
  { count, total }: Pick<ListProgress, "count" | "total">
): boolean =>
  strategy.trialPageSize !== undefined &&
  strategy.paging.kind !== "pageNumber" &&
  count >= strategy.pageSize &&
  (total === undefined ? count >= 3 * (strategy.pageSize - 1) : total - count >= gainMin * strategy.pageSize)

/** The page size a trial has shown; `undefined` if the list ended with that page. */
export const sizeFromTrial = ({ pageSize, trialPageSize }: Strategy, length: number): number | undefined =>
  length < pageSize ? undefined : Math.min(length, trialPageSize!)

/** After a response that was too large: a quarter of the page size; `undefined` if a single record is too large. */
export const sizeThatFits = (size: number): number | undefined => Math.floor(size / 4) || undefined

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
