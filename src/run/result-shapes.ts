/** The program that has the warehouse open, in results. */
import * as Schema from "effect/Schema"

/** For a sync or backfill, with its progress. A function, because only documents need it. */
export const holderShape = () => {
  const Count = Schema.Int
  const Instant = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
  return Schema.Struct({
    command: Schema.String,
    pid: Schema.optionalKey(Count),
    /** Whether it is a sluice command that writes. */
    isRun: Schema.Boolean,
    startedAt: Schema.optionalKey(Instant),
    updatedAt: Schema.optionalKey(Instant),
    requests: Schema.optionalKey(Count),
    plannedRequests: Schema.optionalKey(Count),
    records: Schema.optionalKey(Count)
  })
}
