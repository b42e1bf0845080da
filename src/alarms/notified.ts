/**
 * What each place was notified of, such as the webhook: only what it has accepted counts. Anything else is due again, the end
 * of an alarm too, and no place counts for another one.
 */
import { type AlarmState, type KnownAlarm, type Place, type Notified, knownOf, notifiedAt, writtenOf } from "./state.ts"

export interface Due {
  readonly opened: ReadonlyArray<KnownAlarm>
  /** Those of which the place knows, or which it was sent and did not accept. */
  readonly recovered: ReadonlyArray<KnownAlarm>
}

/** `alarms`: every alarm there is, the silenced ones included. */
export const dueAt = ({ alarms: notified }: Notified, alarms: ReadonlyArray<KnownAlarm>): Due => {
  const accepted = new Set(notified.flatMap((one) => (one.acceptedAt === undefined ? [] : [knownOf(one).where])))
  const present = new Set(alarms.map(({ where }) => where))
  return {
    opened: alarms.filter(({ silenced, where }) => silenced === undefined && !accepted.has(where)),
    recovered: notified.map(knownOf).filter(({ where }) => !present.has(where))
  }
}

/** After a message with all that was due, which the place has accepted, or not for this reason; also if nothing was due. */
export const afterMessage = (
  notified: Notified,
  alarms: ReadonlyArray<KnownAlarm>,
  now: number,
  problem: string | undefined
): Notified => {
  const before = new Map(notified.alarms.map((one) => [knownOf(one).where, one]))
  const present = new Set(alarms.map(({ where }) => where))
  const open = alarms.filter(({ silenced }) => silenced === undefined)
  const entries = open.map((one) => {
    const { acceptedAt = problem === undefined ? now : undefined, sentAt = now } = before.get(one.where) ?? {}
    return { ...writtenOf(one), sentAt, ...(acceptedAt !== undefined && { acceptedAt }) }
  })
  const ended = problem === undefined ? [] : notified.alarms.filter((one) => !present.has(knownOf(one).where))
  const after = { ...notified, alarms: [...entries, ...ended] }
  // A digest that is due was not part of this message, so that it was refused still counts.
  return problem === undefined && notified.digestDue !== undefined ? after : answered(after, now, problem)
}

/** After a digest. One that was not accepted stays due. */
export const afterDigest = (notified: Notified, now: number, problem: string | undefined): Notified => {
  const { digestDue = now, ...rest } = notified
  return answered(problem === undefined ? { ...rest, digestAt: now } : { ...rest, digestDue }, now, problem)
}

const answered = ({ refused, ...notified }: Notified, now: number, problem: string | undefined): Notified =>
  problem === undefined ? notified : { ...notified, refused: { since: refused?.since ?? now, at: now, problem } }

const minuteMs = 60_000
/** The time between two tries grows with the time for which the place has not answered. */
const waitMs = { min: 5 * minuteMs, max: 6 * 60 * minuteMs }

/** Whether one of the places has refused something, and is due for another try. A time in the future was of a wrong clock. */
export const isRetryDue = (state: AlarmState, places: ReadonlyArray<Place>, now: number): boolean =>
  places.some((place) => {
    const { refused } = notifiedAt(state, place)
    if (refused === undefined) return false
    const wait = Math.min(Math.max(refused.at - refused.since, waitMs.min), waitMs.max)
    return refused.at > now || now - refused.at >= wait
  })
