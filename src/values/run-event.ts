/** What a run tells those who watch it, such as the reader of `--json=lines`. */
import * as Context from "effect/Context"
import type { Range } from "./range.ts"
import type { RunResource } from "./run-resource.ts"
import type { Status } from "./status.ts"
import type { Step } from "./step.ts"

/** A list, or the requests for its children or details, of one location. */
interface Reading {
  readonly location: string
  readonly resource: string
}

export interface Started {
  readonly event: "started"
  readonly command: string
  readonly version: string
  readonly output: string
}

export interface Planned {
  readonly event: "planned"
  readonly run: string
  readonly requests: Range
  readonly steps: ReadonlyArray<
    Reading & { readonly mode: Step["mode"]; readonly requests: Range; readonly records?: number }
  >
}

export interface ResourceStarted extends Reading {
  readonly event: "resourceStarted"
  readonly run: string
}

export interface ResourceFinished extends Reading {
  readonly event: "resourceFinished"
  readonly run: string
  readonly mode: Step["mode"]
  readonly status: Status
  readonly reason?: "retryLater" | "forbidden"
  readonly requests: number
  readonly pages: number
  readonly records: number
  readonly durationMs: number
  readonly warnings: ReadonlyArray<string>
}

/** Requests wait for more than a second: for the rate limit, or because the service refused one. */
export interface Waiting {
  readonly event: "waiting"
  readonly location: string
  readonly reason: "rateLimit" | "refused"
  readonly waitMs: number
}

/** The sums so far, and the readings that went on since the last of these events. */
export interface Progress {
  readonly event: "progress"
  readonly requests: number
  readonly plannedRequests?: number
  readonly records: number
  readonly resources: ReadonlyArray<
    Reading & { readonly requests: number; readonly pages: number; readonly records: number }
  >
  readonly budgets: ReadonlyArray<{
    readonly location: string
    readonly inWindow: number
    readonly burst: number
    readonly leftToday?: number
  }>
}

/** All records are in the warehouse. */
export interface Loaded {
  readonly event: "loaded"
  readonly run: string
  readonly resources: ReadonlyArray<RunResource>
}

export interface Published {
  readonly event: "published"
  readonly run: string
  readonly published: "released" | "unchanged" | "nothingRead" | "notWanted"
  readonly modelProblems: ReadonlyArray<string>
}

/** A warning or an error, as stderr has it. */
export interface Message {
  readonly event: "message"
  readonly level: "warn" | "error"
  readonly message: string
}

/** The last event. `result`: what `--json` prints. */
export interface Finished {
  readonly event: "finished"
  readonly exitCode: number
  readonly result: object
}

export type RunEvent =
  | Started
  | Planned
  | ResourceStarted
  | ResourceFinished
  | Waiting
  | Progress
  | Loaded
  | Published
  | Message
  | Finished

/** Takes an event and returns at once; `undefined` if nobody watches, so that nothing has to be built. */
export type OnRunEvent = ((event: RunEvent) => void) | undefined

export const RunEvents = Context.Reference<OnRunEvent>("sluice/RunEvents", { defaultValue: () => undefined })
