/** What the commands of a fleet print with `--json`. */
import * as Schema from "effect/Schema"
import { instantShape } from "../../command/result-shapes.ts"

export const fleetResults = () => {
  const Instant = instantShape()
  const optional = Schema.optionalKey

  /** The locations that a command has changed; it left the others as they were. */
  const Changed = Schema.Struct({ locations: Schema.Array(Schema.String), unchanged: Schema.Int })

  const FleetStatus = Schema.Struct({
    /** How many locations there are in each state. */
    counts: Schema.Record(Schema.String, Schema.Int),
    locations: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        name: optional(Schema.String),
        paused: Schema.Boolean,
        /** Of the last run: one that is tried again is waiting; `none` if there was none. */
        state: Schema.Literals([
          "none",
          "queued",
          "waiting",
          "running",
          "cancelling",
          "done",
          "partial",
          "failed",
          "cancelled"
        ]),
        kind: optional(Schema.Literals(["sync", "full", "all", "backfill"])),
        attempts: optional(Schema.Int),
        exitCode: optional(Schema.Int),
        /** Why the last run is not done. */
        message: optional(Schema.String),
        /** The worker that has the location now. */
        owner: optional(Schema.String),
        /** As the service reported it within the last 24 hours. */
        requestsLeft: optional(Schema.Int),
        /** The start of the last complete run. */
        freshAt: optional(Instant),
        requestedAt: optional(Instant),
        notBefore: optional(Instant),
        startedAt: optional(Instant),
        endedAt: optional(Instant)
      })
    )
  })
  return {
    "fleet-status": FleetStatus,
    "fleet-enqueue": Changed,
    "fleet-pause": Changed,
    "fleet-resume": Changed,
    "fleet-cancel": Changed,
    "fleet-locations": Changed
  }
}
