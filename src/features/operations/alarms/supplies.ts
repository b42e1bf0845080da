/** Alarms about what a sync uses up: requests, disk space, and the time of the token. */
import { dayMs } from "../../../catalog/timestamps.ts"
import { megabytes, number } from "../../../values/text.ts"
import type { Alarm } from "../../../values/alarm.ts"
import type { Situation } from "./checks.ts"
import { daysLeft } from "./disk.ts"

/** A plan of a few requests may be wrong by many times. */
const requestsMin = 500

export const requests = ({ facts, limits }: Situation): ReadonlyArray<Alarm> => {
  const last = facts.syncs.find(({ finishedAt }) => finishedAt !== undefined)
  const { requests: sent = 0, plannedRequests: planned } = last ?? {}
  if (last === undefined || planned === undefined || sent <= limits.requestFactor * planned) return []
  return sent - planned < requestsMin
    ? []
    : [
        {
          kind: "requests",
          level: "warning",
          message: `run ${last.id} sent ${number(sent)} requests, and ${number(planned)} were planned; the limit is ${limits.requestFactor} times as many`,
          next: "./sluice report"
        }
      ]
}

/** The trend of the requests per day, a week ahead. */
export const budget = ({ now, facts, limits }: Situation): ReadonlyArray<Alarm> => {
  const perDay = Array.from({ length: 14 }, (_, day) =>
    facts.syncs
      .filter(({ startedAt }) => Math.floor((now - startedAt) / dayMs) === day)
      .reduce((sum, run) => sum + (run.requests ?? 0), 0)
  )
  const [recent, before] = [perDay.slice(0, 7), perDay.slice(7)].map(median) as [number, number]
  const expected = before === 0 ? recent : recent + Math.max(0, recent - before)
  return expected <= limits.requestsPerDay
    ? []
    : [
        {
          kind: "budget",
          level: "warning",
          message: `a day takes ${number(recent)} requests and in a week probably ${number(expected)}; the service allows ${number(limits.requestsPerDay)} without the reserve`,
          next: "read fewer tables with --except, or ask the service for a higher limit"
        }
      ]
}

export const disk = ({ free, limits }: Situation): ReadonlyArray<Alarm> => {
  const now = free.at(-1)
  if (now === undefined) return []
  const next = "free space, or give the output folder a larger disk"
  if (now.bytes < limits.diskFreeMin)
    return [
      {
        kind: "disk",
        level: "error",
        message: `${megabytes(now.bytes)} are free; the limit is ${megabytes(limits.diskFreeMin)}`,
        next
      }
    ]
  const days = daysLeft(free)
  return days === undefined || days >= limits.diskDays
    ? []
    : [
        {
          kind: "disk",
          level: "warning",
          message: `${megabytes(now.bytes)} are free, and at the present rate none in ${Math.max(0, Math.floor(days))} days`,
          next
        }
      ]
}

export const token = ({ now, limits }: Situation): ReadonlyArray<Alarm> => {
  const { tokenExpires: expires, tokenDays } = limits
  if (expires === undefined || expires - now > tokenDays * dayMs) return []
  const day = new Date(expires).toISOString().slice(0, 10)
  return [
    {
      kind: "token",
      level: expires <= now ? "error" : "warning",
      message: expires <= now ? `the token expired on ${day}` : `the token expires on ${day}`,
      next: "make a new token, put it where the settings refer to, and change alarms.token_expires"
    }
  ]
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
