/** What `sluice explore --json` prints. */
import * as Schema from "effect/Schema"

/** Printed once the server listens. */
export const Explore = Schema.Struct({
  /** The address to open, with the token. */
  url: Schema.String,
  port: Schema.Int,
  /** The folder of the saved queries. */
  queries: Schema.String
})
