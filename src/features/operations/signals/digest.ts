/** One message each morning, or each week, also when all is well: silence alone does not say whether anybody is awake. */
import type { Facts } from "../../../alarms/facts.ts"
import type { KnownAlarm, Notified } from "../../../alarms/state.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import type { Reported } from "../../../command/features.ts"
import { releasedTotals } from "../../../output/manifest.ts"
import { outputPaths } from "../../../output/paths.ts"
import { targetResult } from "../../../run/status.ts"
import { targetText, totalsText } from "../../../run/status-text.ts"
import type { SignalSettings } from "../../../settings/signals.ts"
import { counted } from "../../../values/finding.ts"
import { stateText } from "../../../values/state.ts"
import { type Message, alarmLine, limited } from "./message.ts"

/** A night may begin a little earlier than the one before. */
const dueAfter = { daily: dayMs * 0.75, weekly: dayMs * 6.5 } as const

interface Moment {
  readonly alarms: ReadonlyArray<KnownAlarm>
  readonly now: number
  /** The verdict in words. */
  readonly saying: string
}

/** Whether a place is to get one now. A check makes none due: it repeats the one that a place has not accepted. */
export const isDigestDue = (
  { digest }: Pick<SignalSettings, "digest">,
  { digestAt, digestDue }: Pick<Notified, "digestAt" | "digestDue">,
  { now, isAtEndOfSync }: { readonly now: number; readonly isAtEndOfSync: boolean }
): boolean =>
  digest !== undefined &&
  (digestDue !== undefined ||
    (isAtEndOfSync && (digestAt === undefined || digestAt > now || now - digestAt >= dueAfter[digest])))

export const digestNow = async (
  { folder, signals }: Pick<Reported, "folder" | "signals">,
  watched: Moment,
  facts: Facts | undefined
): Promise<Message> => {
  const totals = await releasedTotals(outputPaths(folder).published)
  return digestOf(watched, facts, { tables: totals && totalsText(totals), runsAt: signals.runsAt, output: folder })
}

interface DigestParts {
  /** What the release has. */
  readonly tables: string | undefined
  readonly runsAt: string | undefined
  /** The output folder. */
  readonly output: string
}

export const digestOf = (
  { alarms, now, saying }: Moment,
  facts: Facts | undefined,
  { output, runsAt, tables }: DigestParts
): Message => {
  const open = alarms.filter(({ silenced }) => silenced === undefined)
  const isWrong = open.some(({ level }) => level === "wrong")
  // Without tables, nothing was compared.
  const title =
    open.length > 0
      ? `sluice: ${counted(open.length, "alarm")}`
      : facts === undefined
        ? "sluice: nothing was read yet"
        : "sluice: all is well"
  const [last] = facts?.syncs ?? []
  const sum = (of: "newRows" | "changedRows" | "deletedRows") =>
    (facts?.readings ?? []).reduce((all, one) => all + (one.last?.run === last?.id ? (one.last?.[of] ?? 0) : 0), 0)
  const lines = [
    `${title} (${output})`,
    saying,
    ...(last
      ? [
          `Last sync: ${stateText(last.status)}, ${counted(last.requests ?? 0, "request")}; ${sum("newRows")} new, ${sum("changedRows")} changed and ${sum("deletedRows")} deleted rows.`
        ]
      : []),
    ...(tables === undefined ? [] : [`The release has ${tables}.`]),
    ...(facts?.targets ?? []).map((target) => `${targetText(targetResult(target), now)}.`),
    ...limited(open, alarmLine),
    ...(runsAt === undefined ? [] : [`The next run is at ${runsAt}.`])
  ]
  return {
    state: "digest",
    level: isWrong ? "error" : open.length > 0 ? "warning" : "ok",
    title,
    text: lines.join("\n")
  }
}
