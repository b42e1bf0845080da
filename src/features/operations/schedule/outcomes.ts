/** What a scheduler does after a sync has ended: the printed files and `./sluice serve` follow this table. */
import { exitCodes } from "../../../values/failure.ts"

/**
 * `done`: nothing until the next time. `again`: an hour later, when the run resumes. `wait`: as soon as the other run has ended.
 * `stopped`: nothing until the next time, which resumes; no failure. `tell`: a person has to know, and another try would end the
 * same. `halt`: as `tell`, and no further night either until a person has acted.
 */
export type Reaction = "done" | "again" | "wait" | "stopped" | "tell" | "halt"

interface Outcome {
  readonly code: number
  readonly reaction: Reaction
  /** For the comments in the files. */
  readonly brief: string
}

export const outcomes: ReadonlyArray<Outcome> = [
  { code: 0, reaction: "done", brief: "done" },
  { code: exitCodes.failed, reaction: "tell", brief: "failed" },
  { code: exitCodes.usage, reaction: "tell", brief: "usage" },
  { code: exitCodes.partial, reaction: "tell", brief: "in part" },
  { code: exitCodes.alarms, reaction: "tell", brief: "alarms" },
  { code: exitCodes.locked, reaction: "wait", brief: "locked by another run" },
  { code: exitCodes.later, reaction: "again", brief: "later" },
  { code: exitCodes.credentials, reaction: "halt", brief: "credentials" },
  { code: exitCodes.config, reaction: "halt", brief: "settings" },
  { code: 130, reaction: "stopped", brief: "stopped" },
  { code: 143, reaction: "stopped", brief: "stopped" }
]

/** Of an exit code; null is that of a process that a signal has killed, for example for its memory. */
export const reactionOf = (code: number | null): Reaction =>
  code === null || code === 137 ? "again" : (outcomes.find((one) => one.code === code)?.reaction ?? "tell")

/** The codes after which a process is not started again at once: a person has to act, or another run works. */
export const personCodes = outcomes
  .filter(({ reaction }) => ["tell", "halt", "wait"].includes(reaction))
  .map(({ code, brief }) => [code, brief] as const)
