/** What `sluice listen --json` prints. */
import * as Schema from "effect/Schema"

/** Printed once it listens. */
export const Listen = Schema.Struct({
  url: Schema.String,
  port: Schema.Int,
  /** The tables that an event has read at once. */
  tables: Schema.Array(Schema.String)
})
