/** What a run says of itself; `--json=lines` prints one object on each line. docs/schemas/events.schema.json is generated from it. */
import * as Schema from "effect/Schema"
import { modeShape, publishedShape, runResourceShape } from "./run-shapes.ts"
import { statuses } from "./state.ts"

const Count = Schema.Int
const Texts = Schema.Array(Schema.String)
const Range = Schema.Struct({ min: Count, max: Schema.optionalKey(Count), likely: Schema.optionalKey(Count) })
const Mode = modeShape()
const Status = Schema.Literals(statuses)
/** `resource`: a table, or the label of its children or details. */
const reading = { location: Schema.String, resource: Schema.String }
const run = { run: Schema.String }

const event = <const Name extends string, Fields extends Schema.Struct.Fields>(
  name: Name,
  description: string,
  fields: Fields
) =>
  Schema.Struct({
    schema: Schema.Literal("sluice/events/1"),
    time: Schema.String.annotate({ description: "ISO 8601, in UTC." }),
    event: Schema.Literal(name),
    ...fields
  }).annotate({ description })

export const Event = Schema.Union([
  event("started", "The command begins.", { command: Schema.String, version: Schema.String, output: Schema.String }),
  event("planned", "What the run is expected to take. Without `max`, no upper limit is known.", {
    ...run,
    requests: Range,
    steps: Schema.Array(Schema.Struct({ ...reading, mode: Mode, requests: Range, records: Schema.optionalKey(Count) }))
  }),
  event("resourceStarted", "A reading starts; it may wait for the rows of another one.", { ...run, ...reading }),
  event("waiting", "Requests wait for at least a second: for the rate limit, or because the service refused one.", {
    location: Schema.String,
    reason: Schema.Literals(["rateLimit", "refused"]),
    waitMs: Count
  }),
  event("progress", "The sums so far, and the readings with new pages; at most one each second.", {
    requests: Count,
    planned: Schema.optionalKey(Range),
    records: Count,
    resources: Schema.Array(Schema.Struct({ ...reading, requests: Count, pages: Count, records: Count })),
    budgets: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        inWindow: Count,
        burst: Count,
        leftToday: Schema.optionalKey(Count)
      })
    )
  }),
  event("resourceFinished", "A reading ended. `reason`: why it could not go on.", {
    ...run,
    ...reading,
    mode: Mode,
    status: Status,
    reason: Schema.optionalKey(Schema.Literals(["badToken", "forbidden", "retryLater"])),
    requests: Count,
    pages: Count,
    records: Count,
    durationMs: Count,
    warnings: Texts
  }),
  event("message", "A warning or an error, as stderr has it.", {
    level: Schema.Literals(["warn", "error"]),
    message: Schema.String
  }),
  event("loaded", "All records are in the warehouse. Of a rebuild, `resources` is empty.", {
    ...run,
    resources: Schema.Array(runResourceShape())
  }),
  event("published", "Whether a new release was published, or why not.", {
    ...run,
    published: publishedShape(),
    modelProblems: Texts
  }),
  event("finished", "The last event. `result` is what --json prints: the result of the command, or an error.", {
    exitCode: Count,
    result: Schema.Unknown
  })
])
