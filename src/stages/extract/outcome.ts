/** Compares and combines the outcomes of readings. values/status.ts decides how complete an outcome is. */
import type { Strategy } from "../../catalog/resource.ts"
import { type Status, statusText, worstStatus } from "../../values/status.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { ListProgress } from "./list-progress.ts"

/**
 * Records missing from a list that was read to its end. 0 if they are no more than concurrent changes explain: one page
 * or 1 % of the records, whichever is less.
 */
export const missingBeyondDrift = (
  { count, total }: Pick<ListProgress, "count" | "total">,
  strategy: Strategy
): number => {
  const missing = (total ?? 0) - count
  return missing > Math.min(strategy.pageSize, (total ?? 0) / 100) ? missing : 0
}

/** Whether the service's total counts the requested records: a list read from its middle on returns fewer. */
export const isTotalComparable = (strategy: Strategy, since: number | undefined): boolean =>
  since === undefined || strategy.verifyField !== undefined

export const withWarnings = (outcome: Outcome, warnings: ReadonlyArray<string>): Outcome => ({
  ...outcome,
  warnings: [...outcome.warnings, ...warnings]
})

/** Children are no more complete than the readings of their parents. No statuses: the parents were never read. */
export const cappedByParents = (outcome: Outcome, table: string, parents: ReadonlyArray<Status>): Outcome => {
  const status = parents.length === 0 ? "incomplete" : worstStatus(parents)
  const reason = parents.length === 0 ? "was never read" : `is ${statusText(status)}`
  const sentence = `the parent table ${table} ${reason}`
  switch (status) {
    case "complete":
      return outcome
    case "complete_with_warnings":
      return withWarnings(outcome, [sentence])
    case "incomplete":
      return { ...outcome, shortfalls: [...outcome.shortfalls, sentence] }
  }
}

/** The outcome of two readings of one list that complement each other. */
export const combined = (outcome: Outcome, more: Outcome): Outcome => ({
  ...outcome,
  shortfalls: [...new Set([...outcome.shortfalls, ...more.shortfalls])],
  warnings: [...new Set([...outcome.warnings, ...more.warnings])],
  requests: outcome.requests + more.requests,
  ...(more.watermark !== undefined && { watermark: Math.max(outcome.watermark ?? 0, more.watermark) })
})
