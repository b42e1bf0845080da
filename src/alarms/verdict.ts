/**
 * Whether what was wanted is there, and what keeps the rest from being there. Status, alarms, messages, the report, the page and
 * metrics get it from here; values/status.ts decides the status of one reading, and run/night.ts that of one run.
 */
import type { Run } from "../stores/warehouse/meta/runs.ts"
import type { StoredProblem } from "../stores/warehouse/meta/model-problems.ts"
import type { TargetState } from "../stores/warehouse/meta/targets.ts"
import { type Reason, sentenceOf } from "../values/reason.ts"
import { isWhole } from "../values/state.ts"
import type { Reading } from "./reading.ts"

/** Why the last run did nothing, in words. Such a run may have no row in `meta.runs`. */
export interface FailedRun {
  readonly at: number
  readonly exitCode: number
  readonly message: string
  readonly next: string
}

/** The last of some syncs, newest first, that works no more. */
export const lastEnded = (syncs: ReadonlyArray<Run>, isRunning: boolean): Run | undefined => {
  const [newest, before] = syncs
  const isWorking = isRunning && newest?.finishedAt === undefined && newest?.exitCode === undefined
  return isWorking ? before : newest
}

export interface Evidence {
  /** One for each that is wanted. */
  readonly readings: ReadonlyArray<WantedReading>
  /** The last sync that works no more, and the last run of any kind that did nothing, if none has ended since. */
  readonly run: Run | undefined
  readonly failed?: FailedRun | undefined
  readonly targets: ReadonlyArray<TargetState>
  readonly models: ReadonlyArray<StoredProblem>
}

export type WantedReading = Pick<Reading, "completeAt" | "location" | "reasons" | "resource" | "state"> & {
  /** It was read longer ago than is wanted. */
  readonly isLate?: boolean
}

/** Why something is not there. Of a location, each cause is one, whatever number of resources it reaches. */
export type Cause =
  | { readonly kind: "failed"; readonly failed: FailedRun }
  /** It was stopped or killed, or could not read on: then it has an exit code. */
  | { readonly kind: "stopped"; readonly run: Run }
  /** It ended with an exit code that nothing else explains. */
  | { readonly kind: "ended"; readonly run: Run }
  /** The budget was spent, or the service did not respond. */
  | { readonly kind: "paused"; readonly run: Run }
  | (OfReadings & { readonly kind: "unreadable"; readonly reason: Reason })
  /** `dependents`: those below them, which are no more complete than they are. */
  | (OfReadings & {
      readonly kind: "incomplete"
      readonly reasons: ReadonlyArray<Reason>
      readonly dependents: ReadonlyArray<string>
    })
  /** A run was stopped in their middle. */
  | (OfReadings & { readonly kind: "unfinished" })
  | (OfReadings & { readonly kind: "never" })
  | (OfReadings & { readonly kind: "late"; readonly completeAt: number | undefined })
  | { readonly kind: "target"; readonly target: TargetState }
  | { readonly kind: "model"; readonly model: StoredProblem }

interface OfReadings {
  readonly location: string
  readonly resources: ReadonlyArray<string>
}

/** The worst first. */
export const verdicts = [
  "stopped",
  "incomplete",
  "paused",
  "undelivered",
  "models",
  "late",
  "warned",
  "complete"
] as const

export interface Verdict {
  /** `nothing`: nothing is wanted, or was ever read. */
  readonly state: (typeof verdicts)[number] | "nothing"
  readonly tone: "complete" | "warning" | "problem"
  /** The worst first. */
  readonly causes: ReadonlyArray<Cause>
  readonly complete: number
  readonly of: number
  readonly warned: number
  /** The least recent of those that are complete. */
  readonly oldest: (WantedReading & { readonly completeAt: number }) | undefined
  readonly locations: ReadonlyArray<OfLocation>
}

export interface OfLocation {
  readonly location: string
  readonly complete: number
  readonly of: number
  /** When the least recent complete reading ended; epoch milliseconds. */
  readonly oldestAt: number | undefined
}

export const isProblem = (reading: WantedReading): boolean => !isWhole(reading.state) || reading.isLate === true

export const verdictOf = (evidence: Evidence): Verdict => {
  const { readings, models } = evidence
  const behind = evidence.targets.filter(({ failedSince }) => failedSince !== undefined)
  const byLocation = Map.groupBy(readings, ({ location }) => location)
  const found: ReadonlyArray<Cause> = [
    ...ofRun(evidence),
    ...[...byLocation].flatMap(([location, own]) => ofReadings(location, own.filter(isProblem))),
    ...behind.map((target) => ({ kind: "target", target }) as const),
    ...models.map((model) => ({ kind: "model", model }) as const)
  ]
  const { run } = evidence
  const causes: ReadonlyArray<Cause> =
    found.length === 0 && run !== undefined && (run.exitCode ?? 0) !== 0 ? [{ kind: "ended", run }] : found
  const worst = causes.toSorted((one, other) => severity.indexOf(one.kind) - severity.indexOf(other.kind))
  const warned = readings.filter(({ state }) => state === "complete_with_warnings").length
  const state =
    readings.length === 0 && worst.length === 0
      ? "nothing"
      : worst[0] === undefined
        ? warned > 0
          ? "warned"
          : "complete"
        : stateBy[worst[0].kind]
  return {
    state,
    tone: toneBy[state],
    causes: worst,
    complete: readings.filter((reading) => !isProblem(reading)).length,
    of: readings.length,
    warned,
    oldest: readings
      .flatMap((one) =>
        isProblem(one) || one.completeAt === undefined ? [] : [{ ...one, completeAt: one.completeAt }]
      )
      .toSorted((one, other) => one.completeAt - other.completeAt)[0],
    locations: Array.from(byLocation, ([location, own]) => ({
      location,
      complete: own.filter((reading) => !isProblem(reading)).length,
      of: own.length,
      oldestAt: own.flatMap(({ completeAt }) => completeAt ?? []).reduce<number | undefined>(least, undefined)
    }))
  }
}

const least = (one: number | undefined, other: number) => (one === undefined ? other : Math.min(one, other))

const stateBy = {
  failed: "stopped",
  unreadable: "incomplete",
  stopped: "stopped",
  ended: "incomplete",
  paused: "paused",
  incomplete: "incomplete",
  unfinished: "incomplete",
  never: "incomplete",
  target: "undelivered",
  model: "models",
  late: "late"
} as const
const severity = Object.keys(stateBy)

const toneBy = {
  nothing: "problem",
  stopped: "problem",
  incomplete: "problem",
  paused: "warning",
  undelivered: "problem",
  models: "warning",
  late: "warning",
  warned: "warning",
  complete: "complete"
} as const

const ofRun = ({ failed, run }: Evidence): ReadonlyArray<Cause> => {
  if (failed && failed.at >= (run?.finishedAt ?? run?.startedAt ?? 0)) return [{ kind: "failed", failed }]
  if (run?.status === "paused" || (run?.finishedAt !== undefined && run.exitCode === 75))
    return [{ kind: "paused", run }]
  return run?.status === "interrupted" ? [{ kind: "stopped", run }] : []
}

/** `open`: what is not there, of one location. */
const ofReadings = (location: string, open: ReadonlyArray<WantedReading>): ReadonlyArray<Cause> => {
  const dependents = open.filter(({ reasons }) => reasons.length > 0 && reasons.every(isOfParent))
  const groups = Map.groupBy(
    // Without their parents, which another location's settings may leave out, they are the news themselves.
    dependents.length === open.length ? open : open.filter((one) => !dependents.includes(one)),
    ({ reasons, state }) =>
      isWhole(state) ? "late" : JSON.stringify([state, ...reasons.map((reason) => sentenceOf(reason))])
  )
  return [...groups.values()].map((own, index): Cause => {
    const [{ completeAt, reasons, state }] = own as [WantedReading]
    const of = { location, resources: own.map(({ resource }) => resource) }
    const reason = reasons.find(({ _tag }) => _tag === "LocationUnreadable")
    if (reason) return { kind: "unreadable", ...of, reason }
    if (state === "never") return { kind: "never", ...of }
    if (isWhole(state)) return { kind: "late", ...of, completeAt }
    if (reasons.length === 0) return { kind: "unfinished", ...of }
    const below = index === 0 && dependents.length < open.length ? dependents.map(({ resource }) => resource) : []
    return { kind: "incomplete", ...of, reasons, dependents: below }
  })
}

const isOfParent = ({ _tag }: Reason): boolean => _tag === "ParentNotComplete"
