/** What the overview shows: whether all is well, and what each piece of work does or did. */
import { basename } from "node:path"
import type { Role } from "../../network/server.ts"
import type { Printed } from "../../run/process.ts"
import { type StatusData, alarmsText } from "../../run/status-text.ts"
import type { Job } from "../../run/work.ts"
import { exitCodes } from "../../values/failure.ts"
import { counted } from "../../values/finding.ts"
import { byName } from "../../values/text.ts"
import type { Scheduler } from "./scheduler.ts"
import type { Effect } from "effect"
import { dayOf } from "./nights.ts"

type Level = "ok" | "warn" | "error" | "none"
type Schedule = Effect.Success<ReturnType<Scheduler["shown"]>>

/** The verdict of `status`, with the alarms: all is well only if what is wanted is there and nothing else was found. */
export const levelOf = (status: StatusData | undefined): Level => {
  if (status === undefined) return "none"
  const { verdict } = status
  const active = activeAlarms(status)
  const isWrong = verdict.level === "problem" || active.some(({ level }) => level === "error")
  return isWrong ? "error" : verdict.level === "warning" || active.length > 0 ? "warn" : "ok"
}

const activeAlarms = ({ alarms }: StatusData) => alarms.filter(({ silenced }) => silenced === undefined)

/** What an owner asks: whether the data of each location is there, of when, and when the next comes. */
export const headlineOf = (status: StatusData | undefined, schedule: Schedule, now: number): string => {
  if (status === undefined || status.verdict.state === "nothing")
    return `Nothing was read yet.${nextText(schedule, now)}`
  const { locations, state } = status.verdict
  const causes = causesOf(status)
  const whole = locations.filter(({ complete, of }) => complete === of && of > 0)
  const since = Math.min(...whole.flatMap(({ oldestAt }) => (oldestAt === undefined ? [] : [Date.parse(oldestAt)])))
  const data = Number.isFinite(since) ? dataText(since, now, schedule?.timeZone) : "its data"
  const have =
    whole.length === 0
      ? `No location has all of its data.`
      : whole.length < locations.length
        ? `${whole.length} of ${locations.length} locations ${whole.length === 1 ? "has" : "have"} ${data}.`
        : locations.length === 1
          ? `The location has ${data}.`
          : `All ${locations.length} locations have ${data}.`
  const texts = causes.slice(0, causesMax).map(({ text }) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`)
  const more = causes.length > causesMax ? [`${counted(causes.length - causesMax, "other cause")}.`] : []
  const warned = state === "warned" ? ["Some tables have warnings."] : []
  const { length } = activeAlarms(status)
  const alarms = length > 0 ? [`${alarmsText(length)}.`] : []
  return `${[have, ...texts, ...more, ...warned, ...alarms].join(" ")}${nextText(schedule, now)}`
}
const causesMax = 2

/** That a run could not go on follows from a location that it could not read. */
const causesOf = ({ verdict: { causes } }: StatusData) =>
  causes.some(({ kind }) => kind === "unreadable")
    ? causes.filter(({ kind }) => !["failed", "stopped", "ended"].includes(kind))
    : causes

/** `since`: the oldest of it. A night is from six in the evening to six in the morning. */
export const dataText = (since: number, now: number, timeZone = usualZone()): string => {
  const dayAt = (at: number) => dayOf(timeZone, at)
  const quarter = 6 * 3_600_000
  const isOfNight = dayAt(since + quarter) !== dayAt(since - quarter)
  if (isOfNight && dayAt(since + quarter) === dayAt(now)) return "last night's data"
  const days = (Date.parse(dayAt(now)) - Date.parse(dayAt(since))) / (4 * quarter)
  return days === 0 ? "today's data" : days === 1 ? "yesterday's data" : `data of ${dayAt(since)}`
}
const usualZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

const nextText = (schedule: Schedule, now: number): string => {
  if (schedule?.halted) return " The schedule has stopped."
  if (schedule?.paused && schedule.times.length > 0) return " The schedule is paused."
  const [next] = schedule?.next ?? []
  if (schedule === undefined || next === undefined) return ""
  const isSoon = Date.parse(next) - now < 86_400_000
  const format = new Intl.DateTimeFormat("en-GB", {
    ...(!isSoon && { weekday: "long" }),
    hour: "2-digit",
    minute: "2-digit",
    timeZone: schedule.timeZone
  })
  return ` Next run ${format.format(Date.parse(next))}.`
}

/** What the page shows of the status: it has a row for each resource of each location. The worst location comes first. */
export const shownStatus = (status: StatusData) => {
  const { alarms, disk, holder, lastRun, locations = [], readings, targets, totals, unanswered, verdict } = status
  const ofRun = readings.filter(({ run }) => run !== undefined && run === lastRun?.id)
  const sum = (count: (one: (typeof readings)[number]) => number) => ofRun.reduce((all, one) => all + count(one), 0)
  const nameOf = (id: string) => locations.find(({ location }) => location === id)?.name ?? id
  const places = verdict.locations.toSorted(
    (one, other) =>
      one.complete / one.of - other.complete / other.of || byName(nameOf(one.location), nameOf(other.location))
  )
  return {
    alarms,
    ...(holder && { holder }),
    ...(lastRun && { lastRun }),
    locations,
    verdict: {
      causes: causesOf(status).map(({ kind, location, next, text }) => ({ kind, location, next, text })),
      locations: places
    },
    ...(targets && { targets }),
    ...(unanswered && { unanswered }),
    ...(totals && { totals }),
    changes: {
      new: sum(({ newRows }) => newRows),
      changed: sum(({ changedRows }) => changedRows),
      deleted: sum(({ deletedRows }) => deletedRows)
    },
    bytes: Object.values(disk).reduce((all, one) => all + one, 0)
  }
}

/** How a piece of work ended. */
export const endText = (
  exitCode: number | null,
  printed: Printed | undefined
): { readonly level: Level; readonly text: string } => {
  if (exitCode === 0) return { level: "ok", text: "Done." }
  const known = exitCode === null ? undefined : ends.get(exitCode)
  const text = printed?.error?.message ?? known?.text
  return {
    level: known?.level ?? "error",
    text: text ?? (exitCode === null ? "A signal ended the process." : `It ended with exit code ${exitCode}.`)
  }
}

const stopped = {
  level: "warn",
  text: "Stopped. Everything that was read is kept, and the next sync goes on."
} as const
const ends: ReadonlyMap<number, { readonly level: Level; readonly text: string }> = new Map([
  [exitCodes.partial, { level: "warn", text: "Not everything could be read completely." }],
  [exitCodes.alarms, { level: "warn", text: "There are alarms." }],
  [exitCodes.locked, { level: "warn", text: "Another run works in this output folder." }],
  [exitCodes.later, { level: "warn", text: "No more requests for now; the next sync goes on." }],
  [130, stopped],
  [143, stopped]
])

export const isShownTo = (role: Role, { record }: Job): boolean => role === "owner" || !record.isPrivate

export const summaryOf = ({ isStopping, record, transcript }: Job) => {
  const { id, title, task, line, by, startedAt, endedAt, exitCode, isPlanOnly, document } = record
  const { printed } = transcript
  return {
    id,
    title,
    task,
    line,
    by,
    startedAt,
    state: endedAt === undefined ? (isStopping ? "stopping" : "running") : "ended",
    ...(endedAt !== undefined && { endedAt, exitCode, ...endText(exitCode ?? null, printed) }),
    ...(endedAt !== undefined && isPlanOnly && exitCode === 0 && { applies: `${line} --apply` }),
    ...(document !== undefined && exitCode === 0 && { documents: [document] })
  }
}

/** A job without its log. */
export const detailOf = (job: Job) => {
  const { printed, progress } = job.transcript
  const { data, error, next } = printed ?? {}
  // An export about a person is named after its contact, and is a file beside its folder.
  const { run, zip } = (data ?? {}) as { readonly run?: unknown; readonly zip?: unknown }
  return {
    ...summaryOf(job),
    ...(typeof run === "string" && { run }),
    ...(typeof zip === "string" && { documents: [basename(zip)] }),
    ...(progress && { progress }),
    ...(data !== undefined && { result: data }),
    ...(error && { error }),
    ...(next !== undefined && { next })
  }
}
