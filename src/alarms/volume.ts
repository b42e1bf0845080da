/** Decides whether a night brought unusually many or few changes of a resource. */
import { type ValuesOf, positiveNumber, setting } from "../values/setting.ts"

export const volumeSettings = {
  volume_sensitivity: setting(positiveNumber, {
    description: "Standard deviations by which the new and changed rows of a night may differ from the nights before.",
    default: 3
  })
}

/** A complete reading of a resource. */
export interface Night {
  /** When its run began, epoch milliseconds. */
  readonly at: number
  /** New and changed rows. */
  readonly changed: number
}

/** Fewer nights do not show what is usual; more are of another season. */
export const [nightsMin, nightsMax] = [7, 14]
/** A smaller difference is the account's everyday life, however regular it was before. */
const rowsMin = 50
const hourMs = 3_600_000

/**
 * Compares the last night with the nights before it and with the same weekday of the weeks before: it must be unusual for
 * both. Nights after a gap have the changes of several days, so they are compared with nothing, and nothing with them.
 */
export const anomalyOf = (nights: ReadonlyArray<Night>, limits: ValuesOf<typeof volumeSettings>) => {
  const compared = comparedOf(nights)
  if (compared === undefined) return undefined
  const { last, known } = compared
  const volumes = known.map(({ changed }) => changed)
  const sameWeekday = known.filter(({ at }) => weekday(at) === weekday(last.at)).map(({ changed }) => changed)
  const middle = median(volumes)
  const expected = sameWeekday.length > 0 ? mean(sameWeekday) : middle
  // Counts vary by their square root even if nothing changes; a constant past must not make every difference unusual.
  const spread = Math.max(deviation(volumes), Math.sqrt(middle), 1)
  const isUnusual = (usual: number) => Math.abs(last.changed - usual) > limits.volumeSensitivity * spread
  const isSmall = Math.abs(last.changed - expected) < rowsMin
  if (isSmall || !isUnusual(middle)) return undefined
  // A quiet Sunday is usual if the Sundays before were quiet.
  if (sameWeekday.some((usual) => Math.abs(last.changed - usual) <= Math.max(spread, usual / 2))) return undefined
  return { changed: last.changed, expected: Math.round(expected), nights: known.length }
}

/** Whether the last night of a resource can be compared with enough others. */
export const isComparable = (nights: ReadonlyArray<Night>): boolean => comparedOf(nights) !== undefined

const comparedOf = (nights: ReadonlyArray<Night>) => {
  const [last, ...before] = nights.flatMap((night, index) => {
    const previous = nights[index + 1]
    return previous !== undefined && isOneNight(night.at - previous.at) ? [night] : []
  })
  if (last === undefined || last !== nights[0]) return undefined
  const known = before.slice(0, nightsMax)
  return known.length < nightsMin ? undefined : { last, known }
}

/** Daylight saving makes some nights an hour shorter or longer. */
const isOneNight = (elapsedMs: number): boolean => elapsedMs >= 18 * hourMs && elapsedMs <= 32 * hourMs

const weekday = (at: number): number => new Date(at).getDay()
const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length
/** The median of one or more values: the larger one in the middle if their number is even. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
/** The standard deviation of an ordinary night: from the median, so that a busy weekday does not count. */
const deviation = (values: ReadonlyArray<number>): number =>
  1.4826 * median(values.map((value) => Math.abs(value - median(values))))
