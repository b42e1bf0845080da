/** Shapes that the results of several commands share. Each is a function, because only documents need the schemas. */
import * as Schema from "effect/Schema"

/** An instant, as `instant` of result.ts prints it. */
export const instantShape = () => Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))

/** A number within limits; without `max`, no upper limit is known. */
export const rangeShape = () =>
  Schema.Struct({ min: Schema.Int, max: Schema.optionalKey(Schema.Int), likely: Schema.optionalKey(Schema.Int) })

/** The program that has the warehouse open; for a sync or backfill, with its progress. */
export const holderShape = () => {
  const Count = Schema.Int
  const Instant = instantShape()
  return Schema.Struct({
    command: Schema.String,
    pid: Schema.optionalKey(Count),
    /** Whether it is a sluice command that writes. */
    isRun: Schema.Boolean,
    startedAt: Schema.optionalKey(Instant),
    updatedAt: Schema.optionalKey(Instant),
    requests: Schema.optionalKey(Count),
    /** Requests of the whole run, as far as they are known by now. */
    planned: Schema.optionalKey(rangeShape()),
    records: Schema.optionalKey(Count)
  })
}

/** The names of the locations, as far as they are known. */
export const locationsShape = () =>
  Schema.optionalKey(Schema.Array(Schema.Struct({ location: Schema.String, name: Schema.String })))

/** What was rejected and is not mended yet, by resource, with the rows beside it; absent if there is nothing. */
export const standingShape = () =>
  Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ location: Schema.String, resource: Schema.String, rejected: Schema.Int, rows: Schema.Int })
    )
  )

/** What there was to compare for alarms; the volume of a reading, if it has enough nights. */
export const comparedShape = () => Schema.Struct({ syncs: Schema.Int, readings: Schema.Int, volumes: Schema.Int })
