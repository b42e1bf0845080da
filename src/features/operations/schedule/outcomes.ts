/** What a scheduler does after a sync has ended: the printed files and `./sluice serve` follow this table. */
import { exitCodes } from "../../../values/failure.ts"

/**
 * `done`: nothing until the next time. `again`: an hour later, when the run resumes. `wait`: as soon as the other run has ended.
 * `stopped`: nothing until the next time, which resumes; no failure. `tell`: a person has to know, and another try would end the
 * same. `halt`: as `tell`, and no further night either until a person has acted.
 */
export type Then = "done" | "again" | "wait" | "stopped" | "tell" | "halt"

interface Outcome {
  readonly code: number
  readonly then: Then
  /** For the comments in the files. */
  readonly brief: string
}

export const outcomes: ReadonlyArray<Outcome> = [
  { code: 0, then: "done", brief: "done" },
  { code: exitCodes.failed, then: "tell", brief: "failed" },
  { code: exitCodes.usage, then: "tell", brief: "usage" },
  { code: exitCodes.partial, then: "tell", brief: "in part" },
  { code: exitCodes.alarms, then: "tell", brief: "alarms" },
  { code: exitCodes.locked, then: "wait", brief: "locked by another run" },
  { code: exitCodes.later, then: "again", brief: "later" },
  { code: exitCodes.credentials, then: "halt", brief: "credentials" },
  { code: exitCodes.config, then: "halt", brief: "settings" },
  { code: 130, then: "stopped", brief: "stopped" },
  { code: 143, then: "stopped", brief: "stopped" }
]

/** Of an exit code; null is that of a process that a signal has killed, for example for its memory. */
export const thenOf = (code: number | null): Then =>
  code === null || code === 137 ? "again" : (outcomes.find((one) => one.code === code)?.then ?? "tell")

/** The codes after which a process is not started again at once: a person has to act, or another run works. */
export const personCodes = outcomes
  .filter(({ then }) => then === "tell" || then === "halt" || then === "wait")
  .map(({ code, brief }) => [code, brief] as const)
