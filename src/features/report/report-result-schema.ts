/** The data of the result of `sluice report --json`. */
import * as Schema from "effect/Schema"

export const Report = Schema.Struct({
  path: Schema.String,
  bytes: Schema.Int,
  /** `published`: the warehouse is in use, and the report describes the last release. */
  source: Schema.Literals(["warehouse", "published"]),
  /** As the report says it: `Complete`, `Incomplete`. */
  state: Schema.String,
  /** The last run. */
  run: Schema.String,
  /** When the data that it describes were loaded. */
  asOf: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
})
