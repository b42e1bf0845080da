/** What follows when the sync of a location has ended. */
import { exitCodes } from "../../values/failure.ts"
import type { Outcome } from "./child.ts"

export interface Ended extends Pick<Outcome, "exitCode" | "resumeAt"> {
  /** How often this run has failed before. */
  readonly failures: number
  readonly now: number
}

export type Next =
  | { readonly state: "done" | "partial" | "failed" }
  | { readonly state: "waiting"; readonly notBefore: number; readonly isFailure: boolean }

/** The exit codes of a process that a signal has stopped. */
const stopped = { interrupt: 130, terminate: 143 }
/** Failures of which nothing is known are tried this many times. */
const triesMax = 3
const backoffMs = { first: 60_000, last: 30 * 60_000 }
/** A holder of the output folder that is not a worker, such as a person's command. */
const lockedMs = 10_000

export const nextOf = ({ exitCode, failures, now, resumeAt }: Ended): Next => {
  switch (exitCode) {
    case 0:
      return { state: "done" }
    case exitCodes.partial:
      return { state: "partial" }
    case exitCodes.later:
      // The day's requests are used up until then. If the API is down, nobody knows.
      return resumeAt === undefined
        ? { state: "waiting", notBefore: now + backoff(failures), isFailure: true }
        : { state: "waiting", notBefore: Math.max(resumeAt, now), isFailure: false }
    case exitCodes.locked:
      return { state: "waiting", notBefore: now + lockedMs, isFailure: false }
    // Somebody stopped the process, and the run was not cancelled.
    case stopped.interrupt:
    case stopped.terminate:
      return { state: "waiting", notBefore: now, isFailure: false }
    // Only a person can correct these.
    case exitCodes.credentials:
    case exitCodes.config:
    case exitCodes.usage:
      return { state: "failed" }
    default:
      return failures + 1 >= triesMax
        ? { state: "failed" }
        : { state: "waiting", notBefore: now + backoff(failures), isFailure: true }
  }
}

const backoff = (failures: number): number => Math.min(backoffMs.first * 2 ** failures, backoffMs.last)
