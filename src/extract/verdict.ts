/** How complete a reading is, from what it showed, what the service counts, and the rows it was read under. */
import type { Way } from "../catalog/resource.ts"
import type { Outcome } from "../vault/frame.ts"
import type { PassProgress } from "./progress.ts"

type Verdict = Outcome["verdict"]

export const worst = (...verdicts: ReadonlyArray<Verdict>): Verdict =>
  (["incomplete", "complete with doubts"] as const).find((verdict) => verdicts.includes(verdict)) ?? "complete"

/**
 * Records missing from a list that was read to its end, where they are more than a list loses that moves meanwhile: a page,
 * or one in a hundred, whichever is less. 0 where there are none, or so few.
 */
export const missingBeyondDrift = ({ count, total }: Pick<PassProgress, "count" | "total">, way: Way): number => {
  const missing = (total ?? 0) - count
  return missing > Math.min(way.pageSize, (total ?? 0) / 100) ? missing : 0
}

export const doubted = (outcome: Outcome, doubts: ReadonlyArray<string>): Outcome =>
  doubts.length === 0
    ? outcome
    : {
        ...outcome,
        verdict: worst(outcome.verdict, "complete with doubts"),
        doubts: [...outcome.doubts, ...doubts]
      }

/** What is read under the rows of a table is no more complete than the readings of that table; none: it was never read. */
export const noMoreThan = (outcome: Outcome, table: string, verdicts: ReadonlyArray<Verdict>): Outcome => {
  const parents = verdicts.length === 0 ? "incomplete" : worst(...verdicts)
  if (parents === "complete") return outcome
  const reason = verdicts.length === 0 ? "was never read" : `is ${parents}`
  return {
    ...outcome,
    verdict: worst(outcome.verdict, parents),
    doubts: [...outcome.doubts, `it is read under ${table}, which ${reason}`]
  }
}

/** Two readings of one list that together show what is due. */
export const together = (outcome: Outcome, more: Outcome): Outcome => ({
  ...outcome,
  verdict: worst(outcome.verdict, more.verdict),
  doubts: [...new Set([...outcome.doubts, ...more.doubts])],
  requests: outcome.requests + more.requests,
  ...(more.watermark !== undefined && { watermark: Math.max(outcome.watermark ?? 0, more.watermark) })
})
