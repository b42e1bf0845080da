/** Ranges from what earlier nights took. */
import { type Range, atLeast, between } from "../../values/range.ts"
import type { PastReading } from "../../stores/warehouse/meta/reading-history.ts"

/** Readings that followed each other within less are trials, not nights. */
const nightMs = 3_600_000
/** After a long pause, changes of the same row count once. */
const scaleMax = 10

/** How much more or less than in an earlier reading has changed by now. */
export const scaleOf = ({ elapsedMs }: PastReading, now: number): number =>
  elapsedMs === undefined || elapsedMs < nightMs ? 1 : Math.min(now / elapsedMs, scaleMax)

/** From the least to the most of earlier readings, a fifth wider; of a single one, from half of it to twice as much. */
export const rangeOver = (values: ReadonlyArray<number>, least: number): Range => {
  const [low, high] = values.length === 1 ? [0.5, 2] : [0.8, 1.2]
  const min = Math.max(least, Math.floor(Math.min(...values) * low))
  return between(min, Math.max(min, Math.ceil(Math.max(...values) * high)))
}

/** Of a list that every sync reads in full. */
export const changedIn = (past: ReadonlyArray<PastReading>, elapsedMs: number, rows: number): Range => {
  const nights = past.filter((one) => one.elapsedMs !== undefined)
  if (nights.length > 0)
    return rangeOver(
      nights.map((one) => one.changed * scaleOf(one, elapsedMs)),
      0
    )
  return past.length > 0 ? between(0, rows) : atLeast(0)
}
