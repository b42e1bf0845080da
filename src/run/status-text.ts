/** The sentences of `status`, which the console shows as well. */
import { counted } from "../values/finding.ts"
import { duration, some } from "../values/text.ts"
import type { CommandResult } from "../console/result.ts"
import type { Totals } from "../output/manifest.ts"

export type StatusData = CommandResult<"status">["data"]

export const ago = (instant: string | undefined, now: number): string =>
  instant === undefined ? "never" : `${duration(now - Date.parse(instant))} ago`

export const targetText = (
  { deliveredAt, failedSince, missing, name, problem, run }: NonNullable<StatusData["targets"]>[number],
  now: number
): string => {
  const has = run === undefined ? "nothing yet" : `the tables of run ${run}, ${ago(deliveredAt, now)}`
  if (missing) return `${name}: got ${has}, and lacks ${some(missing)}; ./sluice publish writes them again`
  return failedSince === undefined
    ? `${name}: has ${has}`
    : `${name}: has ${has}; not brought up to date since ${ago(failedSince, now)}: ${problem}`
}

/** The tables of a release, all their rows: child tables, and rows of deleted records, count. */
export const totalsText = ({ rows, tables }: Totals): string => `${counted(tables, "table")}, ${counted(rows, "row")}`

/** About a place of alarms that accepts nothing. */
export const unansweredText = (
  { place, problem, since }: NonNullable<StatusData["unanswered"]>[number],
  now: number
): string => `The ${place} has not answered since ${ago(since, now)}: ${problem}; the next check tries again`

/** As the last line of `check`. */
export const alarmsText = (count: number): string => (count === 0 ? "ok: no alarms" : counted(count, "alarm"))
