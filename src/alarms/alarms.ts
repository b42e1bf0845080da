/**
 * Every alarm, once: when it is one, its limits, and how it is decided. The kinds in results, section `[alarms]` of the settings and
 * the table of docs/every-night.md come from this table. Everything is an argument: no clock, no disk, no tables.
 */
import * as Struct from "effect/Struct"
import { dayMs } from "../catalog/timestamps.ts"
import { presentTime } from "../values/present-time.ts"
import { date, duration, numberFrom, positiveNumber, setting, share, type ValuesOf } from "../values/setting.ts"
import { isWhole } from "../values/state.ts"
import { duration as ageText, clockText, megabytes, number, percent, some } from "../values/text.ts"
import { type Found, type Situation, alarm, daysLeft } from "./alarm.ts"
import { ageOf } from "./reading.ts"
import type { Cause } from "./verdict.ts"
import { causeText, remedyOf } from "./verdict-text.ts"
import { anomalyOf, median, volumeSettings } from "./volume.ts"

/** Time enough to get a larger disk or a new token, also in the holidays. */
const soonDays = 14

/** In the order in which they are shown. */
export const alarms = {
  sync: alarm({
    when: "The last sync failed, is incomplete, paused early, or was killed; or an earlier one did not read a table to the end, and none has since. Of several locations, each has its own alarm.",
    settings: {},
    check: aboutSyncs
  }),
  freshness: alarm({
    when: "A table was last read completely too long ago. Not of what is a part of `sync`, which is the cause.",
    settings: {
      warn_after: setting(duration, {
        description: "Age of a table, since its last complete reading, that is a warning.",
        default: "30h"
      }),
      error_after: setting(duration, { description: "Age of a table that is an error.", default: "54h" })
    },
    check: (situation, { warnAfter, errorAfter }) =>
      // Late tables follow from a sync that does not end, which is reported.
      aboutSyncs(situation).some(({ subject }) => subject === undefined)
        ? []
        : situation.facts.readings.flatMap((reading): ReadonlyArray<Found> => {
            const age = ageOf(reading, presentTime(situation.now, situation.facts.syncs))
            if (age === undefined || age <= warnAfter || !isWhole(reading.state)) return []
            const isError = age > errorAfter
            return [
              {
                subject: reading.subject,
                level: isError ? "wrong" : "warning",
                what: `last read completely ${ageText(age)} ago; the limit is ${ageText(isError ? errorAfter : warnAfter)}`,
                next: "./sluice sync"
              }
            ]
          })
  }),
  volume: alarm({
    when: "A night brought far more or fewer new and changed rows than the nights before, and than the same weekday.",
    settings: volumeSettings,
    check: ({ facts }, limits) =>
      [...facts.nights].flatMap(([subject, nights]): ReadonlyArray<Found> => {
        const anomaly = anomalyOf(nights, limits)
        if (!anomaly) return []
        const { changed, expected, nights: count } = anomaly
        const what = `${number(changed)} new and changed rows, where the last ${count} nights make ${number(expected)} likely`
        return [{ subject, level: "warning", what, next: "./sluice report" }]
      })
  }),
  rejects: alarm({
    when: "Too many values and records of a table, at least five, were rejected and are not mended yet, whichever run has rejected them. Rounded numbers do not count.",
    settings: {
      reject_share: setting(share, {
        description: "Share of the records of a table that may be rejected, values included.",
        default: 0.01
      })
    },
    check: ({ facts }, { rejectShare }) =>
      facts.standing
        // Few rejected values are no pattern.
        .filter(({ rejected, rows }) => rejected >= 5 && rejected > rejectShare * rows)
        .map(({ subject, rejected, rows }) => ({
          subject,
          level: "warning",
          what: `${number(rejected)} rejected values and records stand, beside ${number(rows)} rows; the limit is ${percent(rejectShare)}`,
          next: "look at meta.rejected_values and meta.rejected_records; a [[silence]] in the settings keeps what has to stay quiet"
        }))
  }),
  models: alarm({
    when: "A model of schema `bi` could not be built. An error if the release has no table of it, a warning if it keeps the last one that was built.",
    settings: {},
    // What DuckDB says about a model may quote a value, so it is only in the table.
    check: ({ now, facts }) =>
      facts.modelProblems.map(({ where, keptAt }) => ({
        subject: where,
        level: keptAt === undefined ? "wrong" : "warning",
        what: `the model could not be built; the release ${keptAt === undefined ? "has no table of it" : `keeps its table of ${ageText(now - keptAt)} ago`}`,
        next: "look at meta.model_problems; ./sluice publish, once it is corrected"
      }))
  }),
  target: alarm({
    when: "A target does not get what is new, or the published files do not: the last delivery failed or did not end. It ends with the next one that arrives.",
    settings: {},
    // What a server says may quote a value, so it is only in the table.
    check: ({ now, facts, isRunning }) =>
      facts.targets.flatMap(({ name, run, deliveredAt, failedSince, missing }): ReadonlyArray<Found> => {
        // A run that works now has begun its deliveries, and says later how they ended.
        if (failedSince === undefined || isRunning) return []
        const has =
          run === undefined || deliveredAt === undefined
            ? "it never got any tables"
            : `it has those of run ${run}, which it got ${ageText(now - deliveredAt)} ago`
        return [
          {
            subject: name,
            level: "wrong",
            what: missing
              ? `it lacks ${some(missing)}, which it got with run ${run}`
              : `it has not got what is new for ${ageText(now - failedSince)}; ${has}`,
            next: missing ? "./sluice publish" : "./sluice status, which says why; then ./sluice publish"
          }
        ]
      })
  }),
  limit: alarm({
    when: "A limit of a program or a format leaves something out, such as the custom fields of a wide table after its last possible column.",
    settings: {},
    check: ({ facts }) =>
      facts.limits.map(({ allowed, found, place, what, whole }) => ({
        subject: place,
        level: "warning",
        what: `it has room for ${number(allowed)} ${what}, and there are ${number(found)}; the others are in ${whole}`,
        next: "look at meta.limits; fewer fields, or columns of the settings that leave some out"
      }))
  }),
  time_zone: alarm({
    when: "A location names a time zone that is not known, so that its days and hours are those of UTC.",
    settings: {},
    check: ({ facts }) =>
      facts.unknownTimeZones.map(({ location, timeZone }) => ({
        subject: location,
        level: "warning",
        what: `its time zone ${JSON.stringify(timeZone.slice(0, 80))} is not known: its days and hours are those of UTC`,
        next: "set a time zone such as Europe/Berlin in the location's own settings, then ./sluice sync"
      }))
  }),
  clock: alarm({
    when: "The machine's clock differed from the service's by more than five minutes in the last sync, by several answers that agree.",
    settings: {},
    check: ({ facts }) => {
      const last = lastFinished(facts)
      return last?.clockAheadMs === undefined
        ? []
        : [
            {
              level: "warning",
              what: `${clockText(last.clockAheadMs)} in run ${last.id}; its times are those of the service, from when that was proven`,
              next: "set the clock of this machine, for example with NTP"
            }
          ]
    }
  }),
  requests: alarm({
    when: "The last sync sent more than three times the requests that were planned, at least 500 more.",
    settings: {},
    check: ({ facts }) => {
      const last = lastFinished(facts)
      const { requests: sent = 0, plannedRequests: planned } = last ?? {}
      // A plan of a few requests may be wrong by many times.
      if (last === undefined || planned === undefined || sent <= 3 * planned || sent - planned < 500) return []
      const what = `run ${last.id} sent ${number(sent)} requests, and ${number(planned)} were planned; the limit is 3 times as many`
      return [{ level: "warning", what, next: "./sluice report" }]
    }
  }),
  budget: alarm({
    when: "In a week, at the present trend, a day takes more requests than the service allows without `budget.reserve_per_day`: the median of 7 days, and of the 7 days before them.",
    settings: {
      /** The number in the limits, without the reserve. */
      requests_per_day: setting(positiveNumber, {
        description: "Requests that the service allows per day, for the forecast of the budget.",
        default: 200_000
      })
    },
    check: ({ now, facts }, { requestsPerDay }) => {
      const perDay = Array.from({ length: 14 }, (_, day) =>
        facts.syncs
          .filter(({ startedAt }) => Math.floor((now - startedAt) / dayMs) === day)
          .reduce((sum, run) => sum + (run.requests ?? 0), 0)
      )
      const [recent, before] = [median(perDay.slice(0, 7)), median(perDay.slice(7))]
      const expected = before === 0 ? recent : recent + Math.max(0, recent - before)
      if (expected <= requestsPerDay) return []
      return [
        {
          level: "warning",
          what: `a day takes ${number(recent)} requests and in a week probably ${number(expected)}; the service allows ${number(requestsPerDay)} without the reserve`,
          next: "read fewer tables with --except, or ask the service for a higher limit"
        }
      ]
    }
  }),
  disk: alarm({
    when: "The disk of the output folder is nearly full, or will be within two weeks at the rate of the last nights.",
    settings: {
      disk_free_mb: setting(numberFrom(0), {
        description: "Free space on the disk of the output folder, in megabytes, below which it is an error.",
        default: 500
      })
    },
    check: ({ free }, { diskFreeMb }) => {
      const now = free.at(-1)
      if (now === undefined) return []
      const next = "free space, or give the output folder a larger disk"
      const freeMin = diskFreeMb * 1_000_000
      if (now.bytes < freeMin)
        return [{ level: "wrong", what: `${megabytes(now.bytes)} are free; the limit is ${megabytes(freeMin)}`, next }]
      const days = daysLeft(free)
      if (days === undefined || days >= soonDays) return []
      const what = `${megabytes(now.bytes)} are free, and at the present rate none in ${Math.max(0, Math.floor(days))} days`
      return [{ level: "warning", what, next }]
    }
  }),
  token: alarm({
    when: "The token expires within two weeks. The API does not say when, so the day is a setting.",
    settings: {
      token_expires: setting(date, {
        description: "Day on which the token expires, if you know it; the API does not say.",
        example: "2027-01-31"
      })
    },
    check: ({ now }, { tokenExpires: expires }) => {
      if (expires === undefined || expires - now > soonDays * dayMs) return []
      const day = new Date(expires).toISOString().slice(0, 10)
      return [
        {
          level: expires <= now ? "wrong" : "warning",
          what: expires <= now ? `the token expired on ${day}` : `the token expires on ${day}`,
          next: "make a new token, put it where the settings refer to, and change alarms.token_expires"
        }
      ]
    }
  }),
  schema: alarm({
    when: "The last reading of a table met a new field or type. It ends with the next reading of the table.",
    settings: {},
    check: ({ facts }) => drift("new fields or types", facts.newFields)
  }),
  values: alarm({
    when: "The last reading of a table met a new value of a column with a fixed set of values. It ends with the next reading of the table.",
    settings: {},
    check: ({ facts }) => drift("values for the first time", facts.newValues)
  })
}

export type AlarmKind = keyof typeof alarms
/** The keys are all of them. */
export const alarmKinds: ReadonlyArray<AlarmKind> = Struct.keys(alarms)

type Both<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void ? All : never
type AlarmsSection = Both<(typeof alarms)[AlarmKind]["settings"]>

export const alarmsSection = Object.assign(
  {},
  ...Object.values(alarms).map(({ settings }) => settings)
) as AlarmsSection

/** When something becomes an alarm. `requestsPerDay` is without the reserve for others. */
export type AlarmLimits = ValuesOf<AlarmsSection>

/** `where`: the name by which it is silenced and remembered, `freshness:contacts` or `disk`. */
export interface Alarm extends Found {
  readonly kind: AlarmKind
  readonly where: string
}

export const nameOf = ({ kind, subject }: Pick<Alarm, "kind" | "subject">): string =>
  subject === undefined ? kind : `${kind}:${subject}`

export const alarmsOf = (situation: Situation, limits: AlarmLimits): ReadonlyArray<Alarm> =>
  alarmKinds.flatMap((kind) =>
    alarms[kind].check(situation, limits).map((found) => ({ kind, where: nameOf({ kind, ...found }), ...found }))
  )

const lastFinished = ({ syncs }: Situation["facts"]) =>
  syncs.find(
    ({ exitCode, finishedAt, status }) =>
      finishedAt !== undefined && (exitCode !== undefined || status !== "interrupted")
  )

/** One for what concerns all, or one for each location; `freshness` says what was never read. */
function aboutSyncs({ naming, verdict }: Situation): ReadonlyArray<Found> {
  const { isOfSeveral } = naming
  const foundOf = (subject: string | undefined, causes: ReadonlyArray<Cause>): Found => ({
    ...(subject !== undefined && { subject }),
    level: causes.every(isPassing) ? "warning" : "wrong",
    what: some(
      causes.map((cause) => causeText(cause, naming)),
      1000
    ),
    next: remedyOf(causes, naming)
  })
  const ofAll = verdict.causes.filter((cause) => "run" in cause || "failed" in cause)
  const read = verdict.causes.filter((cause) => "location" in cause && cause.kind !== "late" && cause.kind !== "never")
  const refused = read.filter(({ kind }) => kind === "unreadable")
  // A run that failed says why, and what it has not read follows from that.
  if (ofAll.some(({ kind }) => kind === "failed") && !isOfSeveral) return [foundOf(undefined, ofAll)]
  if (ofAll.length > 0 && refused.length === 0) return [foundOf(undefined, ofAll)]
  return Array.from(
    Map.groupBy(read, (cause) => (isOfSeveral && "location" in cause ? cause.location : undefined)),
    ([location, causes]) => foundOf(location, causes)
  )
}

/** What the next run mends by itself. */
const isPassing = (cause: Cause): boolean =>
  cause.kind === "paused" ||
  (cause.kind === "stopped" && (cause.run.exitCode === undefined || cause.run.exitCode === 75))

const drift = (news: string, met: ReadonlyArray<string>): ReadonlyArray<Found> =>
  met.length === 0
    ? []
    : [{ level: "warning", what: `the service sent ${news}: ${some(met)}`, next: "look at meta.schema_changes" }]
