/** A number that is known within limits; without `max`, no upper limit is known. */
export interface Range {
  readonly min: number
  readonly max?: number
}

export const exactly = (number: number): Range => ({ min: number, max: number })
export const atLeast = (min: number): Range => ({ min })
export const between = (min: number, max: number | undefined): Range => (max === undefined ? { min } : { min, max })

export const sumOf = (ranges: ReadonlyArray<Range>): Range =>
  ranges.reduce(
    (sum, { min, max }) =>
      between(sum.min + min, sum.max === undefined || max === undefined ? undefined : sum.max + max),
    exactly(0)
  )

/** A range in which one number is more likely than the middle. */
export interface LikelyRange extends Range {
  readonly likely?: number
}

/** The likely number, or the middle of a range, however wide it is; without an upper limit, the lower one. */
export const likelyIn = ({ min, max = min, likely }: LikelyRange): number => Math.round(likely ?? (min + max) / 2)

/** The middle of a narrow range; `undefined` for a wide one, whose middle would say nothing. */
export const middleOf = ({ min, max }: Range): number | undefined =>
  max !== undefined && max <= min * 2 + 20 ? likelyIn({ min, max }) : undefined

/** As the fields of a log entry: `NAME_min` and `NAME_max`. */
export const rangeFields = (name: string, range: Range | undefined): Readonly<Record<string, number | undefined>> => ({
  [`${name}_min`]: range?.min,
  [`${name}_max`]: range?.max
})

/** The ranges of another quantity that grows with this one. */
export const mapRange = ({ min, max }: Range, of: (number: number) => number): Range =>
  between(of(min), max === undefined ? undefined : of(max))

/** `291`, `40 to 90`, or `at least 60`; `undefined` if nothing is known. */
export const rangeText = ({ min, max }: Range): string | undefined => {
  const text = (number: number) => number.toLocaleString("en-US")
  if (max === undefined) return min > 0 ? `at least ${text(min)}` : undefined
  return min === max ? text(min) : `${text(min)} to ${text(max)}`
}
