/** The data of the results of a run, of `plan` and of `status`: what the commands print with `--json`, and the library returns. */
import * as Schema from "effect/Schema"
import { modeShape, publishedShape, runCounts, runResourceShape } from "../values/run-shapes.ts"
import { readingStates, runStates, statuses } from "../values/state.ts"
import { holderShape, instantShape, locationsShape, rangeShape, standingShape } from "../command/result-shapes.ts"
import type { DataOf } from "../command/command.ts"
import { ShownAlarm } from "../console/alarm-lines.ts"

export const runResults = () => {
  const Holder = holderShape()
  const Count = Schema.Int
  const Instant = instantShape()
  const Texts = Schema.Array(Schema.String)

  const Status = Schema.Literals(statuses)
  const Mode = modeShape()

  const Run = Schema.Struct({
    id: Schema.String,
    command: Schema.String,
    startedAt: Instant,
    finishedAt: Schema.optionalKey(Instant),
    status: Schema.Literals(runStates),
    exitCode: Schema.optionalKey(Count),
    requests: Schema.optionalKey(Count),
    plannedRequests: Schema.optionalKey(Count),
    planned: Schema.optionalKey(rangeShape())
  })

  /** One sentence for each model that the release does not have. */
  const ModelProblems = Texts

  const RunResource = runResourceShape()

  /** Locations that the settings no longer name, whose rows stay as they were last read. */
  const LeftLocations = Schema.optionalKey(Schema.Array(Schema.Struct({ location: Schema.String, readAt: Instant })))

  /** Cells of wide tables that do not show their custom value exactly, now, by column; absent if there are none. */
  const WideLosses = Schema.optionalKey(
    Schema.Array(Schema.Struct({ table: Schema.String, column: Schema.String, rounded: Count, unfit: Count }))
  )

  /** What a limit leaves out, by the table that lacks it; absent if there is nothing. */
  const Limits = Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        place: Schema.String,
        what: Schema.String,
        allowed: Count,
        found: Count,
        leftOut: Texts,
        /** The table that has all. */
        whole: Schema.String
      })
    )
  )

  /** Columns and custom fields that the settings keep out, whose values were stored before and still are. */
  const StoredEarlier = Schema.optionalKey(Texts)

  const Sync = Schema.Struct({
    run: Schema.String,
    locations: locationsShape(),
    requests: Count,
    /** Requests of the day that are left for the location with the fewest, if the service has reported it. */
    requestsLeft: Schema.optionalKey(Count),
    plannedRequests: Schema.optionalKey(Count),
    /** Whether a new release was published, or why not. */
    published: publishedShape(),
    /** Of the release, with rows that are marked as deleted; absent without one. */
    totals: Schema.optionalKey(Schema.Struct({ tables: Count, rows: Count })),
    modelProblems: ModelProblems,
    loadedMs: Count,
    elapsedMs: Count,
    /** With the counts of `continued`. */
    resources: Schema.Array(RunResource),
    /** Syncs that were stopped directly before this one and printed no result; absent if there are none. */
    continued: Schema.optionalKey(Texts),
    /** How each reading of the run ended; a location that cannot be read has no row in `resources`. */
    ended: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        resource: Schema.String,
        mode: Mode,
        status: Status,
        reason: Schema.optionalKey(Schema.Literals(["badToken", "forbidden", "retryLater"])),
        resumeAt: Schema.optionalKey(Instant),
        requests: Count,
        warnings: Texts
      })
    ),
    drift: Schema.Struct({ changes: Texts, unexpectedValues: Texts }),
    wideLosses: WideLosses,
    limits: Limits,
    /** Locations whose time zone is not known: their days and hours are those of UTC. */
    unknownTimeZones: Schema.optionalKey(
      Schema.Array(Schema.Struct({ location: Schema.String, timeZone: Schema.String }))
    ),
    standingRejects: standingShape(),
    isVaultTruncated: Schema.Boolean,
    missingSegments: Schema.Array(Count),
    /** Records of erased people that were received and not stored. */
    suppressedRecords: Count,
    storedEarlier: StoredEarlier,
    leftLocations: LeftLocations
  })

  const Reading = Schema.Struct({
    location: Schema.String,
    /** A resource, or the label of its children or details. */
    resource: Schema.String,
    state: Schema.Literals(readingStates),
    /** The end of the last complete reading. */
    completeAt: Schema.optionalKey(Instant),
    /** Whether that is longer ago than `--max-age`. */
    isStale: Schema.Boolean,
    /** Of a list: when deleted rows were last looked for, in a full reading or because the service's total agreed. */
    deletionsSoughtAt: Schema.optionalKey(Instant),
    /** The last run that read it. */
    run: Schema.optionalKey(Schema.String),
    ...runCounts(),
    warnings: Texts
  })

  const StatusResult = Schema.Struct({
    /** `published`: the warehouse is in use, and the result describes the last release. `none`: there is no release. */
    source: Schema.Literals(["warehouse", "published", "none"]),
    holder: Schema.optionalKey(Holder),
    lastRun: Schema.optionalKey(Run),
    locations: locationsShape(),
    readings: Schema.Array(Reading),
    /** Readings that are never read, interrupted, incomplete or stale. */
    problems: Count,
    /** What each place has that gets the tables, the published files among them. */
    targets: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          name: Schema.String,
          /** The run whose tables it shows; absent if it never got any. */
          run: Schema.optionalKey(Schema.String),
          deliveredAt: Schema.optionalKey(Instant),
          /** Since when it does not get what is new, and why; absent if it is up to date. */
          failedSince: Schema.optionalKey(Instant),
          problem: Schema.optionalKey(Schema.String)
        })
      )
    ),
    leftLocations: LeftLocations,
    wideLosses: WideLosses,
    limits: Limits,
    standingRejects: standingShape(),
    /** As `check` prints them. */
    alarms: Schema.Array(ShownAlarm),
    /** The head of the ledger; absent without one, and for one that `ledger verify` rejects. */
    ledger: Schema.optionalKey(Schema.Struct({ seq: Count, sha256: Schema.String })),
    /** Bytes of the parts of the output folder; a file that several releases link counts once. */
    disk: Schema.Struct({ vault: Count, warehouse: Count, published: Count, files: Count }),
    oldest: Schema.optionalKey(Schema.Struct({ location: Schema.String, resource: Schema.String, completeAt: Instant }))
  })

  const Range = rangeShape()

  const Plan = Schema.Struct({
    /** The program that has the warehouse open, which a plan needs; there are no steps then. */
    holder: Schema.optionalKey(Holder),
    locations: locationsShape(),
    /** Requests of the whole plan; without `max`, no upper limit is known. */
    requests: Schema.optionalKey(Range),
    elapsedMs: Schema.optionalKey(Range),
    /** One number within each range, and what it follows from. */
    likely: Schema.optionalKey(Schema.Struct({ requests: Count, elapsedMs: Schema.Int, basis: Schema.String })),
    dailyRemaining: Schema.optionalKey(Count),
    /** Files behind links that no file was fetched for; `bytes` of those whose size the records say. */
    files: Schema.optionalKey(
      Schema.Array(Schema.Struct({ location: Schema.String, files: Schema.Int, sized: Schema.Int, bytes: Schema.Int }))
    ),
    /** What the settings leave out, and the setting that includes it. */
    omitted: Schema.Array(Schema.Struct({ resource: Schema.String, what: Schema.String, setting: Schema.String })),
    /** Columns, child tables, tables and custom fields that the settings keep out. */
    withheld: Schema.optionalKey(Texts),
    storedEarlier: StoredEarlier,
    steps: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        resource: Schema.String,
        mode: Mode,
        records: Schema.optionalKey(Count),
        requests: Range,
        basis: Schema.String,
        refused: Schema.optionalKey(Schema.Struct({ reason: Schema.String, scope: Schema.optionalKey(Schema.String) }))
      })
    )
  })

  const Publish = Schema.Struct({
    targets: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        /** The link to the release that it got; absent if it got rows. */
        folder: Schema.optionalKey(Schema.String),
        isNew: Schema.Boolean,
        files: Count,
        delivered: Schema.optionalKey(
          Schema.Struct({ to: Schema.String, changed: Count, unit: Schema.Literals(["table", "file"]) })
        )
      })
    ),
    folder: Schema.String,
    modelProblems: ModelProblems,
    files: Schema.Array(
      Schema.Struct({
        path: Schema.String,
        table: Schema.String,
        rows: Count,
        bytes: Count,
        sha256: Schema.String
      })
    )
  })

  const Rebuild = Schema.Struct({ records: Count, loadedMs: Count, elapsedMs: Count, modelProblems: ModelProblems })

  return {
    sync: Sync,
    backfill: Sync,
    status: StatusResult,
    plan: Plan,
    publish: Publish,
    rebuild: Rebuild
  }
}

export type RunResults = DataOf<typeof runResults>
