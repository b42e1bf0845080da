/** One message each morning, or each week, also when all is well: silence alone does not say whether anybody is awake. */
import * as Effect from "effect/Effect"
import type { Facts } from "../../../alarms/facts.ts"
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
import { type Watched, send } from "./report.ts"

/** A night may begin a little earlier than the one before. */
const dueAfter = { daily: dayMs * 0.75, weekly: dayMs * 6.5 } as const

export const isDigestDue = (
  { digest }: Pick<SignalSettings, "digest">,
  { digestAt, now }: { readonly digestAt: number | undefined; readonly now: number }
): boolean => digest !== undefined && (digestAt === undefined || digestAt > now || now - digestAt >= dueAfter[digest])

export const sendDigest = (output: Reported, watched: Watched, facts: Facts | undefined) =>
  Effect.promise(async () => {
    const totals = await releasedTotals(outputPaths(output.folder).published)
    const parts = { tables: totals && totalsText(totals), runsAt: output.signals.runsAt, output: output.folder }
    return send(output.signals, digestOf(watched, facts, parts), watched)
  })

interface DigestParts {
  /** What the release has. */
  readonly tables: string | undefined
  readonly runsAt: string | undefined
  /** The output folder. */
  readonly output: string
}

export const digestOf = (
  { alarms, now }: Pick<Watched, "alarms" | "now">,
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
    (facts?.lastReadings ?? []).reduce((all, one) => all + (one.run === last?.id ? one[of] : 0), 0)
  const lines = [
    `${title} (${output})`,
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
