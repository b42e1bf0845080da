/** `sluice check`: prints the alarms, reports what changed since the last check or run, and ends with 4 if there are any. */
import * as Effect from "effect/Effect"
import { standingOf } from "../../alarms/facts.ts"
import type { KnownAlarm } from "../../alarms/state.ts"
import { exitCodes } from "../../values/failure.ts"
import type { Flags } from "../../settings/read.ts"
import { outputSettings } from "../../settings/settings.ts"
import { counted } from "../../values/finding.ts"
import { alarmLines, shownAlarms, sorted } from "../../console/alarm-lines.ts"
import { type Compared, alarmsNow } from "../../run/alarms-now.ts"
import { alarmsText } from "../../run/status-text.ts"
import { Environment } from "../../values/environment.ts"
import { sayStanding, sayUnknownStates } from "../../console/findings.ts"
import { Output } from "../../console/streams.ts"
import { printEither } from "../../console/result.ts"

export const check = Effect.fn("command.check")(function* (
  flags: Flags & { readonly as: "nagios" | undefined; readonly json: boolean }
) {
  const { print, printText, say } = yield* Output
  const output = yield* outputSettings(flags, yield* Environment)
  const { compared, facts, watched } = yield* alarmsNow(output)
  const { alarms, opened, recovered } = watched
  if (output.signals.isOn) {
    const { report } = yield* Effect.promise(() => import("./signals/report.ts"))
    for (const problem of yield* report(watched, { output, facts, isAtEndOfSync: false })) say(problem, "warn")
  }
  // A monitoring user may read the folder without the right to write it.
  yield* watched.remember.pipe(
    Effect.catch((failure) => Effect.sync(() => say(`The alarms were not stored: ${failure.message}`, "warn")))
  )

  const active = alarms.filter(({ silenced }) => silenced === undefined)
  if (flags.as) {
    print(nagiosLine(active, compared))
    return nagiosCode(active)
  }
  const exitCode = active.length > 0 ? exitCodes.alarms : 0
  const next = sorted(active)[0]?.next ?? "./sluice status"
  const names = (some: ReadonlyArray<KnownAlarm>) => some.map(({ where }) => where)
  const standing = standingOf(facts)
  const data = {
    compared,
    alarms: shownAlarms(alarms),
    ...(standing.length > 0 && { standingRejects: standing }),
    opened: names(opened),
    recovered: names(recovered)
  }
  const forPeople = Effect.gen(function* () {
    for (const line of alarmLines(data.alarms)) printText(line)
    for (const { where, what } of recovered) print(`recovered ${where}: ${what}`)
    print(
      `${alarmsText(active.length)}; compared: ${comparedText(compared)}`,
      (["ok", "warn", "error"] as const)[nagiosCode(active)]
    )
    yield* sayStanding(facts?.standing)
    yield* sayUnknownStates(facts?.unknownStates)
  })
  return yield* printEither("check", { exitCode, next, data }, flags.json, forPeople)
})

const comparedText = ({ syncs, readings, volumes }: Compared): string =>
  `${counted(syncs, "sync")}, the age of ${counted(readings, "resource")}, the volume of ${volumes}`

/** 0 OK, 1 WARNING, 2 CRITICAL. */
const nagiosCode = (active: ReadonlyArray<KnownAlarm>): 0 | 1 | 2 =>
  active.some(({ level }) => level === "wrong") ? 2 : active.length > 0 ? 1 : 0

/** One line; after the bar, figures for graphs. In the text, a bar would end it. */
const nagiosLine = (active: ReadonlyArray<KnownAlarm>, compared: Compared): string => {
  const state = ["OK", "WARNING", "CRITICAL"][nagiosCode(active)]
  const errors = active.filter(({ level }) => level === "wrong").length
  const text =
    active.length === 0
      ? `no alarms; compared: ${comparedText(compared)}`
      : sorted(active)
          .map(({ where, what }) => `${where}: ${what}`)
          .join("; ")
  return `SLUICE ${state} - ${text.replaceAll("|", "/").replaceAll(/\s+/g, " ")} | warnings=${active.length - errors} errors=${errors}`
}
