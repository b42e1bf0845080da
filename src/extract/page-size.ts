/** How many records to ask for at once: as many as the service gives, found out without waste. */
import type { Strategy } from "../catalog/resource.ts"
import type { ListProgress } from "./list-progress.ts"

/** Pages that a larger size has to save before one request is spent on trying it. */
const gainMin = 5

/** A list without a documented maximum is worth one try where it goes on for long. */
export const shouldTryPageSize = (
  strategy: Strategy,
  { count, total }: Pick<ListProgress, "count" | "total">
): boolean =>
  strategy.trialPageSize !== undefined &&
  strategy.paging.kind !== "pageNumber" &&
  count >= strategy.pageSize &&
  (total === undefined ? count >= 3 * (strategy.pageSize - 1) : total - count >= gainMin * strategy.pageSize)

/** What a page asked for at the probed size tells: the size to go on with. Nothing where the list ended with it. */
export const probed = ({ pageSize, trialPageSize }: Strategy, length: number): number | undefined =>
  length < pageSize ? undefined : Math.min(length, trialPageSize!)

/** The maximum that the refusal names, else the next usual one. */
export const sizeBelow = (size: number, message: string): number | undefined => {
  const named = Number(
    /(?:than|max\w*|exceed\w*|up to|at most|<=?|between \d+ and|of|is)\D{0,20}(\d+)/i.exec(message)?.[1]
  )
  return named >= 1 && named < size ? named : usualSizes.find((usual) => usual < size)
}
const usualSizes = [500, 200, 100, 50, 25, 20, 10]
