/** What stops a command: one paragraph for people, the next command to type, and how the process ends. */
import * as Schema from "effect/Schema"

/** Exit codes; stable, and part of the contract with schedulers. */
export const exitCodes = {
  failed: 1,
  damaged: 1,
  usage: 2,
  partial: 3,
  locked: 11,
  later: 75,
  credentials: 77,
  config: 78
} as const

export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  ends: Schema.Literals(["failed", "damaged", "usage", "partial", "locked", "later", "credentials", "config"]),
  message: Schema.String,
  /** The command or the act that gets on from here. */
  next: Schema.String
}) {}

/** Disk trouble names the file and says that what was earned is kept. */
export const diskFailure = (what: string, cause: unknown): Failure =>
  new Failure({
    ends: "failed",
    message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}. Everything read before this is kept.`,
    next: "Make room or mend the permissions, then run the same command again; it goes on from the last page kept."
  })

/** A setting that is missing or wrong, named with its place. */
export const settingFailure = (message: string): Failure =>
  new Failure({
    ends: "config",
    message,
    next: "Set it and try again; README.md shows every setting, and `./sluice demo` needs none."
  })
