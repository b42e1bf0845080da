/** How the commands show what they found. */
import * as Effect from "effect/Effect"
import { type Finding, type Level, counted, worstFirst } from "../values/finding.ts"
import type { FailedModel } from "../stores/warehouse/meta/model-problems.ts"
import type { StandingRejects } from "../stores/warehouse/meta/standing-rejects.ts"
import type { UnknownStates } from "../stores/warehouse/meta/unknown-states.ts"
import type { ReachedLimit } from "../stores/warehouse/meta/limits.ts"
import type { WideLoss } from "../stores/warehouse/meta/wide-readings.ts"
import { some } from "../values/text.ts"
import { Output, table } from "./streams.ts"
import type { LeftLocation } from "../stores/warehouse/meta/run-resources.ts"

/** `WRONG  contacts: …`, with `word` as wide as the widest of the command. */
export const findingLine = (
  word: string,
  { where, what }: Pick<Finding, "where" | "what">,
  words: Readonly<Record<string, string>>
): string => {
  const width = Math.max(...Object.values(words).map(({ length }) => length))
  return `${word.padEnd(width + 1)} ${where}: ${what}`
}

/** The worst first; below each is what to do about it. */
export const findingTable = <Of extends Level>(
  findings: ReadonlyArray<Finding<Of>>,
  words: Readonly<Record<Of, string>>,
  withFlags: (next: string) => string
): ReadonlyArray<string> => {
  const sorted = worstFirst(findings)
  const [head = "", ...rows] = table(
    ["state", "check", "what was found"],
    sorted.map(({ level, where, what }) => [words[level], where, what])
  )
  return [
    head,
    ...rows.flatMap((row, index) => {
      const next = sorted[index]?.next
      return next === undefined ? [row] : [row, `          ${withFlags(next)}`]
    })
  ]
}

/** A model that could not be built. */
export const modelText = ({ what, kept }: FailedModel): string =>
  `Model not built${kept === undefined ? "" : `, its table of ${kept.at} stays`}: ${what}`

/** Says what does not stop the command, in sentences that others may have written. */
export const warn = Effect.fnUntraced(function* (problems: ReadonlyArray<string>) {
  const { redacted, say } = yield* Output
  for (const problem of problems) say(redacted(problem), "warn")
})

/** Says what was rejected, in whichever run, and is not mended yet. */
export const sayStanding = Effect.fnUntraced(function* (standing: ReadonlyArray<StandingRejects> = []) {
  if (standing.length === 0) return
  const all = standing.reduce((sum, { rejected }) => sum + rejected, 0)
  const { say } = yield* Output
  say(
    `${counted(all, "rejected value or record stands", "rejected values and records stand")}: ${some(standing.map(({ rejected, resource }) => `${resource} ${rejected}`))}. See meta.rejected_values and meta.rejected_records.`,
    "warn"
  )
})

/** Says what no figure contains, because the models do not know its state. */
export const sayUnknownStates = Effect.fnUntraced(function* (unknown: ReadonlyArray<UnknownStates> = []) {
  const { say } = yield* Output
  for (const { fact, records, worth } of unknown)
    say(
      `${fact}: ${counted(records, "record")}${worth === "" ? "" : ` worth ${worth}`} of a state that the models do not know, in no figure. See bi.mart_unknown_state.`,
      "warn"
    )
})

/** Says which cells of wide tables are empty because their value is not of the type of its field. */
export const sayLosses = Effect.fnUntraced(function* (losses: ReadonlyArray<WideLoss> = []) {
  const unfit = losses.filter(({ unfit }) => unfit > 0)
  if (unfit.length === 0) return
  const all = unfit.reduce((sum, { unfit }) => sum + unfit, 0)
  const columns = unfit.map(({ column, table, unfit }) => `${table}.${column} (${unfit})`)
  const { say } = yield* Output
  say(
    `${counted(all, "custom value does", "custom values do")} not fit the type of the field, and the cell is empty: ${some(columns)}. As sent in meta.wide_readings.`
  )
})

/** Says where a limit leaves something out. */
export const sayLimits = Effect.fnUntraced(function* (limits: ReadonlyArray<ReachedLimit> = []) {
  const { say } = yield* Output
  for (const { allowed, found, leftOut, place, what, whole } of limits)
    say(
      `${place} has room for ${allowed.toLocaleString("en-US")} ${what}, and there are ${found.toLocaleString("en-US")}: without ${some(leftOut)}. The others are in ${whole}.`,
      "warn"
    )
})

/** The next command for the first of them; it prints a plan. */
export const nextForLeft = ([first]: ReadonlyArray<LeftLocation>): string | undefined =>
  first && `./sluice location remove ${first.location}`

/** The rows of locations that the settings no longer name stay in every release, as they were last read. */
export const sayLeft = Effect.fnUntraced(function* (left: ReadonlyArray<LeftLocation>) {
  const { say } = yield* Output
  for (const { location, readAt } of left)
    say(
      `The location ${location} is no longer in the settings; its rows are live in every release, as of ${readAt}.`,
      "warn"
    )
})

/** What the settings keep out now and did not before. */
export const earlierText = (names: ReadonlyArray<string>): string =>
  `The settings keep out ${some(names)}; what was stored before stays in the vault, the tables and their history. Only a new ` +
  "output folder is without it: sync into one with --output, then remove this one."

/** The reverse. */
export const liftedText = (names: ReadonlyArray<string>): string =>
  `The settings no longer keep out ${some(names)}: it is stored from now on. Records that do not change have it after ` +
  "./sluice sync --again all."

export const sayEarlier = Effect.fnUntraced(function* (names: ReadonlyArray<string> = []) {
  const { say } = yield* Output
  if (names.length > 0) say(earlierText(names), "warn")
})
