/** `meta.runs`: one row per run of a command that writes. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { RunState } from "../../../values/state.ts"
import { type LikelyRange, type Range, between, middleOf } from "../../../values/range.ts"
import { instantOf, literal, numberOf } from "../sql.ts"
import { Warehouse, ownerless } from "../warehouse.ts"
import { query, queryValue } from "../query.ts"
import { orNull, wordOf } from "../../../values/rows.ts"
import { stopwatch } from "../../../values/stopwatch.ts"

export interface RunRecord {
  readonly id: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** The milliseconds since then, by a clock that nobody sets. */
  readonly elapsed?: Effect.Effect<number>
  /** By how much the machine's clock was ahead of the service's, or behind if negative; absent if nothing proves it wrong. */
  readonly clockAheadMs?: number | undefined
}

export const beginRun = Effect.fnUntraced(function* (command: string, planned?: LikelyRange) {
  const startedAt = yield* Clock.currentTimeMillis
  const last = (yield* queryValue(orNull(String), "SELECT max(run_id) FROM meta.runs")) ?? null
  const id = idAfter(startedAt, last)
  yield* (yield* Warehouse).transaction([
    `UPDATE meta.runs SET status = 'interrupted'
     WHERE status IS NULL OR (exit_code IS NULL AND run_id = ${literal(last ?? "")})`,
    `INSERT INTO meta.runs (run_id, command, started_at, planned_requests, planned_requests_min, planned_requests_max)
     VALUES (${[id, command].map(literal).join(", ")}, ${instantOf(startedAt)},
       ${[planned && middleOf(planned), planned?.min, planned?.max].map(literal).join(", ")})`
  ])
  return { id, startedAt, elapsed: yield* stopwatch }
})

/** Ids sort by start time. A new id is always the highest, even if the clock was ahead when an earlier run began. */
const idAfter = (time: number, last: string | null): string => {
  const id = idOf(time)
  if (last === null || last < id) return id
  const [, year, month, day, hour, minute, second, milli] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(last) ?? []
  return year === undefined
    ? `${last}0`
    : idOf(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milli}Z`) + 1)
}

const idOf = (time: number): string => new Date(time).toISOString().replaceAll(/[-:.]/g, "")

/** Two clocks of a machine are never at the same millisecond. */
const clockToleranceMs = 1000

/** Without an exit code, only the readings have ended: a run that is killed then counts as interrupted. */
export const endRun = Effect.fnUntraced(function* (
  run: RunRecord,
  end: {
    readonly status: RunState
    readonly exitCode?: number
    readonly requests: number
  }
) {
  const [now, elapsed] = [yield* Clock.currentTimeMillis, run.elapsed ? yield* run.elapsed : 0]
  // The clock went back: the run began by the one that it has now.
  const begun = now - run.startedAt < elapsed - clockToleranceMs ? `started_at = ${instantOf(now - elapsed)},` : ""
  yield* (yield* Warehouse).transaction([
    `UPDATE meta.runs SET ${begun} finished_at = ${instantOf(now)}, status = ${literal(end.status)},
       clock_ahead_ms = ${literal(run.clockAheadMs)},
       exit_code = ${end.exitCode ?? "NULL"}, requests = ${end.requests} WHERE run_id = ${literal(run.id)}`
  ])
})

/** Stores why a run could not read on. It is not finished: the next one resumes it. */
export const failRun = Effect.fnUntraced(function* ({ id }: RunRecord, exitCode: number, requests: number) {
  yield* (yield* Warehouse).transaction([
    `UPDATE meta.runs SET exit_code = ${exitCode}, requests = ${requests} WHERE run_id = ${literal(id)}`
  ])
})

export interface Run {
  readonly id: string
  readonly command: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly finishedAt: number | undefined
  readonly status: RunState
  readonly exitCode: number | undefined
  readonly requests: number | undefined
  /** The middle of a narrow range. */
  readonly plannedRequests: number | undefined
  readonly planned?: Range
  readonly clockAheadMs?: number
}

/** A file of an earlier version does not have the limits of the plan and what the clock was ahead. */
const withLaterColumns = `(FROM meta.runs UNION ALL BY NAME (SELECT NULL::BIGINT AS planned_requests_min,
  NULL::BIGINT AS planned_requests_max, NULL::BIGINT AS clock_ahead_ms LIMIT 0))`

/** Runs, newest first. `command`: only runs of this command. */
export const runsNewestFirst = Effect.fnUntraced(function* (command?: string, limit = 1_000_000) {
  const warehouse = yield* Warehouse
  const rows = yield* query(
    {
      id: String,
      command: String,
      startedAt: Number,
      finishedAt: numberOf,
      status: orNull(wordOf<RunState>),
      exitCode: numberOf,
      requests: numberOf,
      plannedRequests: numberOf,
      plannedMin: numberOf,
      plannedMax: numberOf,
      clockAheadMs: numberOf,
      isLast: Boolean
    },
    `SELECT run_id AS id, command, epoch_ms(started_at) AS startedAt, epoch_ms(finished_at) AS finishedAt, status,
       exit_code AS exitCode, requests, planned_requests AS plannedRequests, planned_requests_min AS plannedMin,
       planned_requests_max AS plannedMax, clock_ahead_ms AS clockAheadMs, run_id = (SELECT max(run_id) FROM meta.runs) AS isLast
     FROM ${withLaterColumns} ${command === undefined ? "" : `WHERE command = ${literal(command)}`} ORDER BY run_id DESC LIMIT ${limit}`
  )
  return rows.map(({ clockAheadMs, isLast, plannedMax, plannedMin, status, ...run }): Run => {
    const isKilled = isLast && run.exitCode === undefined && ownerless.has(warehouse)
    return {
      ...run,
      status: isKilled ? "interrupted" : (status ?? "interrupted"),
      ...(plannedMin !== undefined && { planned: between(plannedMin, plannedMax) }),
      ...(clockAheadMs !== undefined && { clockAheadMs })
    }
  })
})

export const lastRun = () => Effect.map(runsNewestFirst(undefined, 1), ([run]) => run)

/** Mean time per request of the last syncs, waits for the rate limit included; `undefined` if none was long enough. */
export const secondsPerRequest = () =>
  queryValue(
    numberOf,
    `SELECT sum(epoch_ms(finished_at) - epoch_ms(started_at)) / 1000 / sum(requests) FROM (
       FROM meta.runs WHERE command LIKE 'sync%' AND requests >= 20 AND finished_at > started_at
       ORDER BY run_id DESC LIMIT 5)`
  )

/** The command of a sync in `meta.runs` that reads each record again. */
export const eachSync = "sync --each"

/** Long enough to wait for the next day's budget, but too short to combine separate full syncs. */
const resumeWithinMs = 2 * 86_400_000

/** When the unfinished sync of each record began that a run would resume now, in epoch milliseconds; `undefined` if there is none. */
export const unfinishedFullSync = Effect.fnUntraced(function* () {
  const now = yield* Clock.currentTimeMillis
  let begunAt: number | undefined
  let next = now
  for (const { startedAt, finishedAt, status } of yield* runsNewestFirst(eachSync)) {
    const isUnfinished = finishedAt === undefined || status === "paused"
    if (!isUnfinished || next - (finishedAt ?? startedAt) > resumeWithinMs) break
    // The local clock was ahead when this run began.
    if (startedAt > now) break
    begunAt = next = startedAt
  }
  return begunAt
})
