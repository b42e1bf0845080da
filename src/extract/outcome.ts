/** What a reading adds to its outcome when it is held against others. How complete it is, values/status.ts decides. */
import type { Strategy } from "../catalog/resource.ts"
import { type Status, worstStatus } from "../values/status.ts"
import type { Outcome } from "../vault/entry.ts"
import type { ListProgress } from "./list-progress.ts"

/**
 * Records missing from a list that was read to its end, where they are more than a list loses that moves meanwhile: a page,
 * or one in a hundred, whichever is less. 0 where there are none, or so few.
 */
export const missingBeyondDrift = (
  { count, total }: Pick<ListProgress, "count" | "total">,
  strategy: Strategy
): number => {
  const missing = (total ?? 0) - count
  return missing > Math.min(strategy.pageSize, (total ?? 0) / 100) ? missing : 0
}

/** Whether the service's total counts the records that were requested: a list read from its middle on shows fewer. */
export const isTotalComparable = (strategy: Strategy, since: number | undefined): boolean =>
  since === undefined || strategy.verifyField !== undefined

export const withWarnings = (outcome: Outcome, warnings: ReadonlyArray<string>): Outcome => ({
  ...outcome,
  warnings: [...outcome.warnings, ...warnings]
})

/** Children are no more complete than the readings of their parents; without any, the parents were never read. */
export const cappedByParents = (outcome: Outcome, table: string, parents: ReadonlyArray<Status>): Outcome => {
  const status = parents.length === 0 ? "incomplete" : worstStatus(parents)
  const reason = parents.length === 0 ? "was never read" : `is ${status.replaceAll("_", " ")}`
  const sentence = `it is read under ${table}, which ${reason}`
  switch (status) {
    case "complete":
      return outcome
    case "complete_with_warnings":
      return withWarnings(outcome, [sentence])
    case "incomplete":
      return { ...outcome, shortfalls: [...outcome.shortfalls, sentence] }
  }
}

/** Two readings of one list that together show what is due. */
export const combined = (outcome: Outcome, more: Outcome): Outcome => ({
  ...outcome,
  shortfalls: [...new Set([...outcome.shortfalls, ...more.shortfalls])],
  warnings: [...new Set([...outcome.warnings, ...more.warnings])],
  requests: outcome.requests + more.requests,
  ...(more.watermark !== undefined && { watermark: Math.max(outcome.watermark ?? 0, more.watermark) })
})
