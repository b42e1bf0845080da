/** `sluice fleet enqueue`, `status`, `pause`, `resume` and `cancel`: one statement each, which the workers notice. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { exitCodes } from "../../../values/failure.ts"
import { type Database, DatabaseError } from "../database.ts"
import { type Chosen, enqueue } from "../jobs.ts"
import { type LocationStatus, cancel, countOf, overviewOfFleet, setPaused, statusOfFleet, unknownOf } from "./roster.ts"
import { fleetSettings } from "../../../settings/settings.ts"
import { commaSeparated } from "../../../values/setting.ts"
import type { Flags } from "../../../settings/read.ts"
import { counted } from "../../../values/finding.ts"
import { Environment } from "../../../values/environment.ts"
import { usageError } from "../../../console/errors.ts"
import type { Again } from "../../../command/selection.ts"
import { withDatabase } from "./fleet-database.ts"
import { table } from "../../../console/streams.ts"
import { duration } from "../../../values/text.ts"
import { shown } from "../../../console/result.ts"

export interface ChosenFlags extends Pick<Flags, "config"> {
  readonly all: boolean
  readonly location: string | undefined
}

type Change = "fleet-locations" | "fleet-enqueue" | "fleet-pause" | "fleet-resume" | "fleet-cancel"

/** Changes the chosen locations, and prints how many there were. */
const change = Effect.fnUntraced(function* (
  name: Change,
  flags: ChosenFlags,
  act: (chosen: Chosen) => Effect.Effect<ReadonlyArray<string>, DatabaseError, Database>,
  sentence: (changed: string) => string
) {
  const command = `./sluice ${name.replace("-", " ")}`
  if (flags.all === (flags.location !== undefined))
    return yield* usageError("Either --all or --location names the locations.", `${command} --all`)
  const settings = yield* fleetSettings(flags, yield* Environment)
  const chosen = flags.location === undefined ? undefined : commaSeparated(flags.location)
  const { changed, known } = yield* withDatabase(
    settings,
    Effect.gen(function* () {
      yield* refuseUnknown(chosen)
      const changed = yield* act(chosen)
      return { changed, known: yield* countOf(chosen) }
    })
  )
  return report(name, changed, known, sentence)
})

export const report = (
  name: Change,
  changed: ReadonlyArray<string>,
  all: number,
  sentence: (changed: string) => string
) => {
  const unchanged = all - changed.length
  const data = { locations: changed, unchanged }
  return shown(name, { exitCode: 0, next: "./sluice fleet status", data }, () => [
    `${sentence(counted(changed.length, "location"))}${unchanged === 0 ? "" : `; ${unchanged} unchanged`}`
  ])
}

const refuseUnknown = Effect.fnUntraced(function* (chosen: Chosen) {
  const unknown = yield* unknownOf(chosen)
  if (unknown.length > 0)
    return yield* usageError(
      `--location ${unknown.join(",")}: the fleet has no such location.`,
      `./sluice fleet locations add ${unknown.join(" ")}`
    )
})

export interface EnqueueFlags extends ChosenFlags {
  readonly again: Again | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

export const fleetEnqueue = Effect.fn("command.fleetEnqueue")(function* (flags: EnqueueFlags) {
  const { again = "changed", from, to } = flags
  if ((again !== "changed" && from !== undefined) || (to !== undefined && from === undefined))
    return yield* usageError(
      from === undefined ? "--to needs --from." : "--again and --from exclude each other.",
      "./sluice fleet enqueue --all --from 2025-01-01"
    )
  const kind = from === undefined ? ({ changed: "sync", lists: "full", all: "all" } as const)[again] : "backfill"
  return yield* change(
    "fleet-enqueue",
    flags,
    (chosen) => enqueue(chosen, { kind, from, to }),
    (changed) => `${changed} queued`
  )
})

const pausing = (name: Change, isPaused: boolean) => (flags: ChosenFlags) =>
  change(
    name,
    flags,
    (chosen) => setPaused(chosen, isPaused),
    (changed) => `${changed} ${isPaused ? "paused" : "resumed"}`
  )
export const changes = {
  pause: pausing("fleet-pause", true),
  resume: pausing("fleet-resume", false),
  cancel: (flags: ChosenFlags) => change("fleet-cancel", flags, cancel, (changed) => `The runs of ${changed} end`)
}

/** Rows that people are shown without `--all`. */
const shownMax = 500

export const fleetStatus = Effect.fn("command.fleetStatus")(function* (
  flags: ChosenFlags & { readonly check: boolean; readonly json: boolean }
) {
  const settings = yield* fleetSettings(flags, yield* Environment)
  const chosen = flags.location === undefined ? undefined : commaSeparated(flags.location)
  const isWhole = flags.json || flags.all || chosen !== undefined
  const reading = isWhole ? Effect.map(statusOfFleet(chosen), inStates) : overviewOfFleet(shownMax)
  const { counts, locations: listed } = yield* withDatabase(settings, Effect.andThen(refuseUnknown(chosen), reading))
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const failed = listed.find(({ state }) => state === "failed")
  const exitCode = flags.check && failed !== undefined ? exitCodes.alarms : 0
  const next =
    total === 0
      ? "./sluice fleet locations import"
      : failed !== undefined
        ? `./sluice fleet enqueue --location ${failed.location}, when the cause is corrected`
        : "./sluice fleet enqueue --all"
  const now = yield* Clock.currentTimeMillis
  return shown("fleet-status", { exitCode, next, data: { counts, locations: listed } }, function* () {
    if (listed.length > 0)
      yield* table(
        ["location", "state", "tables are", "requests left", "worker", "next or reason"],
        listed.map((row) => cellsOf(row, now))
      )
    const left = total - (counts["done"] ?? 0) - listed.length
    if (!isWhole && left > 0) yield `and ${left.toLocaleString("en-US")} more that are not done; --all lists them`
    const states = Object.entries(counts).map(([state, count]) => `${count} ${state}`)
    yield `${counted(total, "location")}${states.length === 0 ? "" : `: ${states.join(", ")}`}`
  })
})

const inStates = (locations: ReadonlyArray<LocationStatus>) => {
  const counts: Record<string, number> = {}
  for (const { state } of locations) counts[state] = (counts[state] ?? 0) + 1
  return { counts, locations }
}

export const cellsOf = (row: LocationStatus, now: number) => [
  row.location,
  row.paused ? `${row.state}, paused` : row.state,
  row.freshAt === undefined ? "never complete" : `${duration(now - Date.parse(row.freshAt))} old`,
  row.requestsLeft ?? "",
  row.owner ?? "",
  reasonOf(row, now)
]

const reasonOf = ({ message, notBefore, state }: LocationStatus, now: number): string => {
  const waitMs = notBefore === undefined ? 0 : Date.parse(notBefore) - now
  const wait = waitMs > 0 ? `in ${duration(waitMs)}` : undefined
  const isOpen = state === "queued" || state === "waiting"
  const reason = state === "done" || state === "running" ? undefined : message?.replaceAll(/\s+/g, " ").slice(0, 120)
  return [isOpen ? wait : undefined, reason].filter((part) => part !== undefined).join(": ")
}
