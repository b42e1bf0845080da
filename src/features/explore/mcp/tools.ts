/** What an assistant may call. The descriptions are for it: they say when to call what. */
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { ShownAlarm } from "../../../console/alarm-lines.ts"
import { comparedShape } from "../../../command/result-shapes.ts"
import { runResults } from "../../../run/result-data.ts"
import { readingStates } from "../../../values/state.ts"
import { profiles } from "../../../settings/masking.ts"
import { limits } from "../limits.ts"

/** Why a call has no answer, in words for the assistant. */
export class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", { message: Schema.String }) {}

export const rowsByDefault = 200
/** UTF-16 units of the values and names of an answer: what an assistant reads at once without losing the rest. */
export const answerCharactersMax = 100_000

const Release = Schema.Struct({
  /** The name of its folder. */
  id: Schema.String,
  writtenAt: Schema.optionalKey(Schema.String),
  profile: Schema.Literals(profiles)
})

const TableLine = Schema.Struct({
  /** As a query names it. */
  name: Schema.String,
  about: Schema.String,
  /** With those that are deleted; absent for a view. */
  /** With those of deleted records. */
  rows: Schema.optionalKey(Schema.Int),
  deletedRows: Schema.optionalKey(Schema.Int),
  /** When its least recently read location was read completely. */
  readAt: Schema.optionalKey(Schema.String),
  /** The class of its most personal column before the profile masks it; absent for a model. */
  personalData: Schema.optionalKey(Schema.String)
})

const described = (name: string) => Schema.String.annotate({ description: name })

const onlyReads = <Self extends Tool.Any>(tool: Self, title: string) =>
  tool
    .annotate(Tool.Title, title)
    .annotate(Tool.Readonly, true)
    .annotate(Tool.Destructive, false)
    .annotate(Tool.Idempotent, true)
    .annotate(Tool.OpenWorld, false) as Self

const listTables = Tool.make("list_tables", {
  description:
    "Lists the tables and the models of schema bi, each with a sentence, its rows, when it was last read completely, and its class of personal data. Call it first. Prefer a model (bi.…) where one fits the question: it has only rows that exist, with names that say what they mean.",
  parameters: Schema.Struct({
    search: Schema.optionalKey(described("Only those with this text in their name or sentence.")),
    schema: Schema.optionalKey(
      Schema.Literals(["main", "bi", "crm_history", "meta"]).annotate({
        description:
          "Only this schema, with its views: main (current rows), bi (models), crm_history (earlier versions), meta (runs, rejected values, the dictionary). Without it, the tables of main and bi."
      })
    )
  }),
  success: Schema.Struct({ release: Release, tables: Schema.Array(TableLine) }),
  failure: CallFailed
})

const describeTable = Tool.make("describe_table", {
  description:
    "Describes a table: each column with its type, what it means, whether a number of a model adds up, its class of personal data, to which table it refers, and what this release shows instead of its value.",
  parameters: Schema.Struct({ table: described("contacts, bi.fct_opportunity, crm_history.contacts or meta.runs.") }),
  success: Schema.Struct({
    release: Release,
    ...TableLine.fields,
    columns: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        type: Schema.String,
        meaning: Schema.String,
        personalData: Schema.optionalKey(Schema.String),
        refersTo: Schema.optionalKey(Schema.String),
        /** What the profile shows instead of the value. */
        shown: Schema.optionalKey(Schema.String)
      })
    )
  }),
  failure: CallFailed
})

const query = Tool.make("query", {
  description: `Runs one SELECT in the SQL of DuckDB, and returns the first rows. Values are texts, timestamps are in UTC. Rows of deleted records have a time in _deleted_at: leave them out with _deleted_at IS NULL, unless they are meant. Aggregate rather than read many rows: an answer has at most ${limits.rows} rows and ${answerCharactersMax} characters, and a query ends after ${limits.queryMs / 1000} seconds.`,
  parameters: Schema.Struct({
    sql: Schema.String.check(Schema.isMaxLength(limits.sqlBytes)).annotate({
      description: "One SELECT, FROM, PIVOT, DESCRIBE, SHOW or SUMMARIZE, or EXPLAIN of one."
    }),
    max_rows: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.rows })).annotate({
        description: `At most this many rows; without it, ${rowsByDefault}.`
      })
    )
  }),
  success: Schema.Struct({
    release: Release,
    columns: Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String })),
    rows: Schema.Array(Schema.Array(Schema.NullOr(Schema.String))),
    /** Whether the query has more rows than these. */
    truncated: Schema.Boolean,
    /** The number of values of which only the beginning is shown. */
    cutValues: Schema.Int,
    elapsedMs: Schema.Int
  }),
  failure: CallFailed
})

const { holder, lastRun, leftLocations, oldest, source } = runResults().status.fields
const status = Tool.make("status", {
  description:
    "Says how far the tables can be trusted now: the last run, what was not read completely and why, what runs at the moment, and the alarms. Call it before an answer that depends on fresh or complete data.",
  success: Schema.Struct({
    source,
    holder,
    lastRun,
    leftLocations,
    oldest,
    /** Those that are not complete. */
    problems: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        resource: Schema.String,
        state: Schema.Literals(readingStates),
        completeAt: Schema.optionalKey(Schema.String),
        warnings: Schema.Array(Schema.String)
      })
    ),
    completeReadings: Schema.Int,
    alarms: Schema.Array(ShownAlarm),
    /** The command that a person should run next. */
    next: Schema.optionalKey(Schema.String)
  }),
  failure: CallFailed
})

const alarms = Tool.make("alarms", {
  description:
    "Lists what is wrong or unusual now: late tables, nights with far more or fewer rows than usual, rejected values, requests, disk, token. Each with the limit and what to do. `compared` says what there was to compare.",
  success: Schema.Struct({ compared: comparedShape(), alarms: Schema.Array(ShownAlarm) }),
  failure: CallFailed
})

export const tools = Toolkit.make(
  onlyReads(listTables, "List tables"),
  onlyReads(describeTable, "Describe a table"),
  onlyReads(query, "Run a SELECT"),
  onlyReads(status, "Status of the syncs"),
  onlyReads(alarms, "Alarms")
)
