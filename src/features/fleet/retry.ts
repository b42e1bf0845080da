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

/** Failures of which nothing is known are tried this many times. */
const triesMax = 3
const backoffMs = { first: 60_000, last: 30 * 60_000 }
/** A holder of the output folder that is not a worker, such as a person's command. */
const lockedMs = 10_000

export const nextOf = ({ exitCode, failures, now, resumeAt }: Ended): Next => {
  const again = (notBefore: number): Next => ({ state: "waiting", notBefore, isFailure: false })
  const failed: Next = { state: "waiting", notBefore: now + backoff(failures), isFailure: true }
  switch (exitCode) {
    case 0:
      return { state: "done" }
    case exitCodes.partial:
      return { state: "partial" }
    case exitCodes.later:
      // The day's requests are used up until then. If the API is down, nobody knows.
      return resumeAt === undefined ? failed : again(Math.max(resumeAt, now))
    case exitCodes.locked:
      return again(now + lockedMs)
    // A signal stopped the process, and the run was not cancelled.
    case 130:
    case 143:
      return again(now)
    // Only a person can correct these.
    case exitCodes.credentials:
    case exitCodes.config:
    case exitCodes.usage:
      return { state: "failed" }
    default:
      return failures + 1 >= triesMax ? { state: "failed" } : failed
  }
}

const backoff = (failures: number): number => Math.min(backoffMs.first * 2 ** failures, backoffMs.last)
