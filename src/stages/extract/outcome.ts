/** Compares and combines the outcomes of readings. values/status.ts decides how complete an outcome is. */
import { RequestRejected } from "../api/errors.ts"
import type { Strategy } from "../../catalog/resource.ts"
import { type Reason, type SingleReason, distinct, sentenceOf } from "../../values/reason.ts"
import type { Status } from "../../values/state.ts"
import { worstStatus } from "../../values/status.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import type { ListProgress } from "./list-progress.ts"

/**
 * Records missing from a list that was read to its end. 0 if they are no more than concurrent changes explain: one page
 * or 1 % of the records, whichever is less.
 */
export const missingBeyondDrift = ({ count, total }: Pick<ListProgress, "count" | "total">, strategy: Strategy) => {
  const missing = (total ?? 0) - count
  return missing > Math.min(strategy.pageSize, (total ?? 0) / 100) ? missing : 0
}

/** Whether the service's total counts the requested records: a list read from its middle on returns fewer. */
export const isTotalComparable = (strategy: Strategy, since: number | undefined): boolean =>
  since === undefined || strategy.verifyField !== undefined

const areMissing: ReadonlyArray<Reason["_tag"]> = ["OutOfOrder", "RecordsUnreadable", "PartitionFailed"]

/** What the partitions of a list say about themselves. */
export const remarksOf = (states: ReadonlyArray<Pick<ListProgress, "warnings">>) => {
  const { true: shortfalls = [], false: warnings = [] } = Object.groupBy(
    distinct(states.flatMap((state) => state.warnings)),
    ({ _tag }) => String(areMissing.includes(_tag)) as "true" | "false"
  )
  return { shortfalls, warnings }
}

export const withWarnings = (outcome: Outcome, warnings: ReadonlyArray<Reason>): Outcome => ({
  ...outcome,
  warnings: [...outcome.warnings, ...warnings]
})

const withShortfall = (outcome: Outcome, shortfall: Reason): Outcome => ({
  ...outcome,
  shortfalls: [...outcome.shortfalls, shortfall]
})

/** Children are no more complete than the readings of their parents. No statuses: the parents were never read. */
export const cappedByParents = (outcome: Outcome, table: string, parents: ReadonlyArray<Status>): Outcome => {
  if (parents.length === 0) return withShortfall(outcome, { _tag: "ParentNeverRead", table })
  const status = worstStatus(parents)
  switch (status) {
    case "complete":
      return outcome
    case "complete_with_warnings":
      return withWarnings(outcome, [{ _tag: "ParentNotComplete", table, status }])
    case "incomplete":
      return withShortfall(outcome, { _tag: "ParentNotComplete", table, status })
  }
}

/** The outcome of two readings of one list that complement each other. */
export const combined = (outcome: Outcome, more: Outcome): Outcome => ({
  ...outcome,
  shortfalls: distinct([...outcome.shortfalls, ...more.shortfalls]),
  warnings: distinct([...outcome.warnings, ...more.warnings]),
  requests: outcome.requests + more.requests,
  ...(more.watermark !== undefined && { watermark: Math.max(outcome.watermark ?? 0, more.watermark) })
})

/** `reasons`: why each way to read the list does not work. */
export const noStrategyWorks = (reasons: ReadonlyArray<SingleReason>): RequestRejected =>
  new RequestRejected({ status: 0, message: reasons.map((reason) => sentenceOf(reason)).join("; "), reasons })
