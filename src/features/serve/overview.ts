/** What the overview shows: whether all is well, and what each piece of work does or did. */
import { counted } from "../../values/finding.ts"
import { exitCodes } from "../../values/failure.ts"
import { type StatusData, alarmsText, completeText, targetText } from "../../run/status-text.ts"
import { withoutStop } from "../../values/text.ts"
import type { Job } from "./jobs.ts"
import type { Printed } from "./progress.ts"

type Level = "ok" | "warn" | "error" | "none"

/** Sentences of `status` and `check`. All is well only if everything was compared and nothing was found. */
export const headlineOf = (
  status: StatusData | undefined,
  now: number
): { readonly level: Level; readonly text: string } => {
  if (status === undefined) return { level: "none", text: "Nothing was read yet." }
  const behind = (status.targets ?? []).filter(({ failedSince }) => failedSince !== undefined)
  const active = status.alarms.filter(({ silenced }) => silenced === undefined)
  const isWrong = behind.length > 0 || active.some(({ level }) => level === "error")
  const level = isWrong ? "error" : status.problems > 0 || active.length > 0 ? "warn" : "ok"
  const parts = [
    status.problems > 0 ? `${counted(status.problems, "resource")} not complete` : undefined,
    completeText(status, now),
    ...behind.map((target) => targetText(target, now)),
    active.length > 0 ? alarmsText(active.length) : "No alarms"
  ]
  return { level, text: parts.flatMap((part) => (part === undefined ? [] : [`${withoutStop(part)}.`])).join(" ") }
}

/** How a piece of work ended. */
const endText = (
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
  return {
    ...summaryOf(job),
    ...(progress && { progress }),
    ...(data !== undefined && { result: data }),
    ...(error && { error }),
    ...(next !== undefined && { next })
  }
}
