/** How many records to ask for at once: as many as the service gives, found out without waste. */
import type { Way } from "../catalog/resource.ts"
import type { PassProgress } from "./progress.ts"

/** Pages that a larger size has to save before one request is spent on trying it. */
const gainMin = 5

/** A list without a documented maximum is worth one try where it goes on for long. */
export const worthProbing = (way: Way, { count, total }: Pick<PassProgress, "count" | "total">): boolean =>
  way.probeSize !== undefined &&
  way.paging.kind !== "pageNumber" &&
  count >= way.pageSize &&
  (total === undefined ? count >= 3 * (way.pageSize - 1) : total - count >= gainMin * way.pageSize)

/** What a page asked for at the probed size tells: the size to go on with. Nothing where the list ended with it. */
export const probed = ({ pageSize, probeSize }: Way, length: number): number | undefined =>
  length < pageSize ? undefined : Math.min(length, probeSize!)

/** The maximum that the refusal names, else the next usual one. */
export const sizeBelow = (size: number, message: string): number | undefined => {
  const named = Number(
    /(?:than|max\w*|exceed\w*|up to|at most|<=?|between \d+ and|of|is)\D{0,20}(\d+)/i.exec(message)?.[1]
  )
  return named >= 1 && named < size ? named : usualSizes.find((usual) => usual < size)
}
const usualSizes = [500, 200, 100, 50, 25, 20, 10]
