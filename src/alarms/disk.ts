/** Forecasts when the disk of the output folder is full. */
import { dayMs } from "../catalog/timestamps.ts"

/** The free space at a time, epoch milliseconds. */
export interface FreeSpace {
  readonly at: number
  readonly bytes: number
}

/** Fewer days say little about a trend. */
const daysMin = 3

/** Days until nothing is free, from the trend of the samples; `undefined` if there is none, or it does not fall. */
export const daysLeft = (samples: ReadonlyArray<FreeSpace>): number | undefined => {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.at - first.at < daysMin * dayMs) return undefined
  const days = samples.map(({ at }) => (at - first.at) / dayMs)
  const middle = days.reduce((sum, day) => sum + day, 0) / days.length
  const level = samples.reduce((sum, { bytes }) => sum + bytes, 0) / samples.length
  const slope =
    samples.reduce((sum, { bytes }, index) => sum + (days[index]! - middle) * (bytes - level), 0) /
    days.reduce((sum, day) => sum + (day - middle) ** 2, 0)
  return slope < 0 ? last.bytes / -slope : undefined
}
