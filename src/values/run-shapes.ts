/** Shapes that the results and the events of a run share. Each is a function, because only documents need the schemas. */
import * as Schema from "effect/Schema"
import { begunStates } from "./state.ts"

export const modeShape = () => Schema.Literals(["full", "incremental", "children", "window"])

/** Whether a new release was published, or why not. */
export const publishedShape = () => Schema.Literals(["released", "unchanged", "nothingRead", "notWanted"])

/** What a run read, and what it changed. */
export const runCounts = () => {
  const Count = Schema.Int
  return {
    requests: Count,
    records: Count,
    newRows: Count,
    changedRows: Count,
    deletedRows: Count,
    /** Rejected values and records. */
    rejected: Count,
    /** Numbers that were stored with fewer decimals than sent. */
    rounded: Count
  }
}

/** What a run did for a resource of a location. */
export const runResourceShape = () =>
  Schema.Struct({
    /** The last one, if there are several. */
    run: Schema.String,
    location: Schema.String,
    resource: Schema.String,
    /** Absent until the reading has ended. */
    mode: Schema.optionalKey(modeShape()),
    ...runCounts(),
    status: Schema.Literals(begunStates),
    warnings: Schema.Array(Schema.String)
  })
