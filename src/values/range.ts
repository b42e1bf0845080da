/** A number that is known within limits; without `max`, no upper limit is known. */
export interface Range {
  readonly min: number
  readonly max?: number
}

export const exactly = (number: number): Range => ({ min: number, max: number })
export const atLeast = (min: number): Range => ({ min })
export const between = (min: number, max: number | undefined): Range => (max === undefined ? { min } : { min, max })

/** A range in which one number is more likely than the middle. */
export interface LikelyRange extends Range {
  readonly likely?: number
}

/** The sum has an upper limit, or a likely number, only if each range has one. */
export const sumOf = (ranges: ReadonlyArray<LikelyRange>): LikelyRange => {
  const sum = (of: (range: LikelyRange) => number | undefined) =>
    ranges.reduce<number | undefined>((all, range) => {
      const one = of(range)
      return all === undefined || one === undefined ? undefined : all + one
    }, 0)
  const likely = ranges.length === 0 ? undefined : sum((range) => range.likely)
  const min = ranges.reduce((all, range) => all + range.min, 0)
  return {
    ...between(
      min,
      sum(({ max }) => max)
    ),
    ...(likely !== undefined && { likely })
  }
}

/** The likely number, or the middle of a range, however wide it is; without an upper limit, the lower one. */
export const likelyIn = ({ min, max = min, likely }: LikelyRange): number => Math.round(likely ?? (min + max) / 2)

/** The likely number, or the middle of a narrow range; `undefined` for a wide one, whose middle would say nothing. */
export const middleOf = ({ min, max, likely }: LikelyRange): number | undefined =>
  likely ?? (max !== undefined && max <= min * 2 + 20 ? likelyIn({ min, max }) : undefined)

/** As the fields of a log entry: `NAME_min` and `NAME_max`. */
export const rangeFields = (name: string, range: Range | undefined): Readonly<Record<string, number | undefined>> => ({
  [`${name}_min`]: range?.min,
  [`${name}_max`]: range?.max
})

/** The ranges of another quantity that grows with this one. */
export const mapRange = ({ min, max, likely }: LikelyRange, of: (number: number) => number): LikelyRange => ({
  ...between(of(min), max === undefined ? undefined : of(max)),
  ...(likely !== undefined && { likely: of(likely) })
})

/** `291`, `40 to 90`, or `at least 60`; `undefined` if nothing is known. */
export const rangeText = ({ min, max }: Range): string | undefined => {
  if (max === undefined) return min > 0 ? `at least ${withCommas(min)}` : undefined
  return min === max ? withCommas(min) : `${withCommas(min)} to ${withCommas(max)}`
}

/** `about 3,100`, wherever the likely number is known; otherwise as `rangeText`. */
export const likelyText = (range: LikelyRange): string | undefined =>
  range.likely === undefined || range.min === range.max
    ? rangeText(range)
    : `about ${withCommas(roughly(range.likely))}`

/** `about 3,100 requests (at least 1,863)`: what is planned, as each command says it. */
export const plannedText = (range: LikelyRange): string => {
  const [likely = "an unknown number of", bounds] = [likelyText(range), rangeText(range)]
  return `${likely} requests${bounds === undefined || bounds === likely ? "" : ` (${bounds})`}`
}

const withCommas = (number: number) => number.toLocaleString("en-US")

/** Two digits that mean something. */
const roughly = (number: number): number => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, number))) - 1)
  return Math.round(number / unit) * unit
}
