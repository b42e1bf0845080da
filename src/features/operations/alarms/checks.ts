/** Decides which alarms there are. Everything is an argument: no clock, no disk, no tables. */
import { hours, number, percent, some, withoutStop } from "../../../values/text.ts"
import type { Run } from "../../../stores/warehouse/meta/runs.ts"
import type { AlarmLimits, Alarm } from "../../../values/alarm.ts"
import type { FreeSpace } from "./disk.ts"
import type { Facts } from "./facts.ts"
import { budget, disk, requests, token } from "./supplies.ts"
import { anomalyOf } from "./volume.ts"

/** Why the last run did nothing, in words. Such a run may have no row in `meta.runs`. */
export interface FailedRun {
  readonly at: number
  readonly exitCode: number
  readonly message: string
  readonly next: string
}

export interface Situation {
  readonly now: number
  readonly facts: Facts
  readonly limits: AlarmLimits
  /** The free space of the last nights, oldest first, and now. */
  readonly free: ReadonlyArray<FreeSpace>
  /** Since the last run that ended. */
  readonly failed: FailedRun | undefined
  /** Whether a run is working now. */
  readonly isRunning: boolean
}

/** Few rejected values are no pattern. */
const rejectedMin = 5

export const alarmsOf = (situation: Situation): ReadonlyArray<Alarm> => {
  const sync = syncAlarm(situation)
  return [
    ...(sync.length > 0 ? sync : unread(situation)),
    // Late tables follow from a sync that does not end, which is reported.
    ...(sync.length > 0 ? [] : freshness(situation)),
    ...volume(situation),
    ...rejects(situation),
    ...models(situation),
    ...requests(situation),
    ...budget(situation),
    ...disk(situation),
    ...token(situation),
    ...drift(situation)
  ]
}

const syncAlarm = ({ facts, failed, isRunning }: Situation): ReadonlyArray<Alarm> => {
  // A run that works now, or was killed, says nothing: the one before it, and the freshness, do.
  const last = facts.syncs.find(({ finishedAt }) => finishedAt !== undefined)
  const [newest] = facts.syncs
  if (failed && failed.at >= (last?.finishedAt ?? 0))
    return [{ kind: "sync", level: "error", message: withoutStop(failed.message), next: failed.next }]
  if (last && (last.exitCode ?? 0) !== 0) return [endedBadly(last)]
  return newest && newest !== last && !isRunning
    ? [
        {
          kind: "sync",
          level: "warning",
          message: `run ${newest.id} did not end: it was stopped or killed; everything read is kept`,
          next: "./sluice sync"
        }
      ]
    : []
}

/** Tables that an earlier run could not read to the end, and no run has read since. */
const unread = ({ facts }: Situation): ReadonlyArray<Alarm> => {
  const [newest] = facts.syncs
  const open = facts.lastReadings.filter(
    ({ run, status }) => run !== newest?.id && (status === "incomplete" || status === "interrupted")
  )
  return open.length === 0
    ? []
    : [
        {
          kind: "sync",
          level: "error",
          message: `an earlier run did not read to the end, and none has since: ${some(open.map(({ subject }) => subject))}`,
          next: "./sluice sync"
        }
      ]
}

const endedBadly = ({ id, exitCode, status }: Run): Alarm =>
  exitCode === 75
    ? {
        kind: "sync",
        level: "warning",
        message: `run ${id} ended early: the service had no more requests for it or gave no answer`,
        next: "./sluice sync, later; it resumes"
      }
    : {
        kind: "sync",
        level: "error",
        message: `run ${id} ended ${status.replaceAll("_", " ")}, with exit code ${exitCode}`,
        next: "./sluice status"
      }

const freshness = ({ now, facts, limits }: Situation): ReadonlyArray<Alarm> =>
  facts.completeAt.flatMap(({ subject, at, checkedAt = at }) => {
    const age = now - checkedAt
    if (age <= limits.warnAfter) return []
    const isError = age > limits.errorAfter
    const limit = isError ? limits.errorAfter : limits.warnAfter
    return [
      {
        kind: "freshness",
        subject,
        level: isError ? "error" : "warning",
        message: `last read completely ${hours(age)} ago; the limit is ${hours(limit)}`,
        next: "./sluice sync"
      }
    ]
  })

const volume = ({ facts, limits }: Situation): ReadonlyArray<Alarm> =>
  [...facts.nights].flatMap(([subject, nights]) => {
    const anomaly = anomalyOf(nights, limits.volume)
    if (!anomaly) return []
    const { changed, expected, nights: count } = anomaly
    return [
      {
        kind: "volume",
        subject,
        level: "warning",
        message: `${number(changed)} new and changed rows, where the last ${count} nights make ${number(expected)} likely`,
        next: "./sluice report"
      }
    ]
  })

const rejects = ({ facts, limits }: Situation): ReadonlyArray<Alarm> =>
  facts.lastReadings.flatMap(({ subject, records, rejected }) =>
    rejected >= rejectedMin && rejected > limits.rejectShare * records
      ? [
          {
            kind: "rejects",
            subject,
            level: "warning",
            message: `${number(rejected)} rejected values and records in ${number(records)} records; the limit is ${percent(limits.rejectShare)}`,
            next: "look at meta.rejected_values and meta.rejected_records"
          } satisfies Alarm
        ]
      : []
  )

/** What DuckDB says about a model may quote a value, so it is only in the table. */
const models = ({ now, facts }: Situation): ReadonlyArray<Alarm> =>
  facts.modelProblems.map(({ model, keptAt }) => ({
    kind: "models",
    subject: model,
    level: keptAt === undefined ? "error" : "warning",
    message: `the model could not be built; the release ${keptAt === undefined ? "has no table of it" : `keeps its table of ${hours(now - keptAt)} ago`}`,
    next: "look at meta.model_problems; ./sluice publish, once it is corrected"
  }))

const drift = ({ facts: { newFields, newValues } }: Situation): ReadonlyArray<Alarm> => [
  ...(newFields.length === 0
    ? []
    : [
        {
          kind: "schema",
          level: "warning",
          message: `the service sent new fields or types: ${some(newFields)}`,
          next: "look at meta.schema_changes"
        } satisfies Alarm
      ]),
  ...(newValues.length === 0
    ? []
    : [
        {
          kind: "values",
          level: "warning",
          message: `the service sent values for the first time: ${some(newValues)}`,
          next: "look at meta.schema_changes"
        } satisfies Alarm
      ])
]
