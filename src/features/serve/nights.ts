/**
 * When the schedule starts a sync, decided from its state alone. Nothing here waits or starts anything, so that years of nights
 * can be played in a test.
 */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { present } from "../../catalog/present.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import { reactionOf } from "../operations/schedule/outcomes.ts"
import { timeOf } from "../../values/time-of-day.ts"

export interface Times {
  /** `03:30`, in order. */
  readonly times: ReadonlyArray<string>
  readonly timeZone: string
  readonly paused: boolean
}

const optional = Schema.optionalKey

/** Times are epoch milliseconds. */
export const NightState = Schema.Struct({
  /** The last moment of the schedule that has had its run, or was left out. */
  handled: Schema.Number,
  /** The run that works for it. */
  job: optional(Schema.String),
  /** When it is tried again. */
  retryAt: optional(Schema.Number),
  /** Why no night has a run until a person has acted. */
  halted: optional(Schema.Struct({ exitCode: Schema.Int, text: Schema.String })),
  /** The local day of the last prune. */
  prunedOn: optional(Schema.String)
})
export type NightState = typeof NightState.Type

const hourMs = 3_600_000
const lockedRetryMs = 900_000

/**
 * The moments from one instant, inclusive, to another, exclusive. A time that the clock skips comes later by as much as the clock
 * goes on; of a time that it has twice, the first counts.
 */
export const momentsBetween = ({ times, timeZone }: Times, from: number, to: number): ReadonlyArray<number> => {
  const zone = DateTime.zoneMakeNamedUnsafe(timeZone)
  const moments: Array<number> = []
  // A local day can begin up to a day before or after that of UTC.
  for (let day = Math.floor(from / dayMs) - 1; day <= Math.floor(to / dayMs) + 1; day++) {
    const date = new Date(day * dayMs)
    for (const time of times) moments.push(momentOf(date, time, zone))
  }
  return [...new Set(moments)].filter((moment) => moment >= from && moment < to).toSorted((one, other) => one - other)
}

const momentOf = (date: Date, time: string, timeZone: DateTime.TimeZone): number => {
  const { hour, minute } = present(timeOf(time), `time of day ${time}`)
  const local = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), hour, minute }
  return DateTime.toEpochMillis(
    DateTime.makeZonedUnsafe(local, { timeZone, adjustForTimeZone: true, disambiguation: "compatible" })
  )
}

/** The next moments. */
export const nextMoments = (times: Times, now: number, count: number): ReadonlyArray<number> =>
  momentsBetween(times, now + 1, now + 5 * dayMs).slice(0, count)

/** The state of a schedule that begins now: what was before has no run. */
export const beginning = (now: number): NightState => ({ handled: now })

/**
 * What is to be done now: the moment for which a run starts, if any, and the state before it. Of several moments that passed
 * meanwhile, because the machine slept or another run worked, only the last has a run.
 */
export const due = (
  before: NightState,
  times: Times,
  now: number,
  isBusy: boolean
): { readonly state: NightState; readonly moment?: number } => {
  // A clock that was ahead and is right again: what it had handled is still to come.
  const state: NightState = {
    ...before,
    handled: Math.min(before.handled, now),
    ...(before.retryAt !== undefined && { retryAt: Math.min(before.retryAt, now + hourMs) })
  }
  const { handled, job, halted, retryAt } = state
  if (job !== undefined) return { state }
  const latest = times.times.length === 0 ? undefined : momentsBetween(times, now - 2 * dayMs, now + 1).at(-1)
  const isDue = latest !== undefined && latest > handled
  if (times.paused || times.times.length === 0 || halted !== undefined) {
    return { state: { ...Struct.omit(state, ["retryAt"]), handled: isDue ? latest : handled } }
  }
  if (isBusy) return { state }
  if (isDue) return { state, moment: latest }
  return retryAt !== undefined && now >= retryAt ? { state, moment: handled } : { state }
}

/** The state after a run was started for a moment. */
export const started = ({ prunedOn }: NightState, moment: number, job: string): NightState => ({
  handled: moment,
  job,
  ...(prunedOn !== undefined && { prunedOn })
})

/** The state after that run has ended. `isOurs`: this process stopped it because it ends itself, so the next one goes on. */
export const ended = (
  before: NightState,
  exitCode: number | null,
  text: string,
  now: number,
  isOurs: boolean
): NightState => {
  const state = Struct.omit(before, ["job"])
  switch (reactionOf(exitCode)) {
    case "again":
      return { ...state, retryAt: now + hourMs }
    case "wait":
      return { ...state, retryAt: now + lockedRetryMs }
    case "halt":
      return { ...state, halted: { exitCode: present(exitCode, "exit code"), text } }
    case "stopped":
      return isOurs ? { ...state, retryAt: now } : state
    case "done":
    case "tell":
      return state
  }
}

/** The state after a person, or a sync that ended well, has shown that the reason is mended. */
export const resumed = (state: NightState): NightState => Struct.omit(state, ["halted"])

/** The local day of an instant, as `2027-01-31`. */
export const dayOf = (timeZone: string, instant: number): string =>
  new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(instant)
