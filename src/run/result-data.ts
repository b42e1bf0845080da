/** The data of the results of a run, of `plan` and of `status`: what the commands print with `--json`, and the library returns. */
import * as Schema from "effect/Schema"
import { modeShape, publishedShape, runCounts, runResourceShape } from "../values/run-shapes.ts"
import { verdicts } from "../alarms/verdict.ts"
import { readingStates, runStates, statuses } from "../values/state.ts"
import { holderShape, instantShape, locationsShape, rangeShape, standingShape } from "../command/result-shapes.ts"
import type { DataOf } from "../command/command.ts"
import { ShownAlarm } from "../console/alarm-lines.ts"

const textsShape = () => Schema.Array(Schema.String)

const endShape = () => Schema.Literals(statuses)

const runShape = () =>
  Schema.Struct({
    id: Schema.String,
    command: Schema.String,
    startedAt: instantShape(),
    finishedAt: Schema.optionalKey(instantShape()),
    status: Schema.Literals(runStates),
    exitCode: Schema.optionalKey(Schema.Int),
    requests: Schema.optionalKey(Schema.Int),
    plannedRequests: Schema.optionalKey(Schema.Int),
    planned: Schema.optionalKey(rangeShape())
  })

/** Locations that the settings no longer name, whose rows stay as they were last read. */
const leftLocationsShape = () =>
  Schema.optionalKey(Schema.Array(Schema.Struct({ location: Schema.String, readAt: instantShape() })))

/** Cells of wide tables that do not show their custom value exactly, now, by column; absent if there are none. */
const wideLossesShape = () =>
  Schema.optionalKey(
    Schema.Array(Schema.Struct({ table: Schema.String, column: Schema.String, rounded: Schema.Int, unfit: Schema.Int }))
  )

/** What a limit leaves out, by the table that lacks it; absent if there is nothing. */
const limitsShape = () =>
  Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        place: Schema.String,
        what: Schema.String,
        allowed: Schema.Int,
        found: Schema.Int,
        leftOut: textsShape(),
        /** The tables that have what is left out. */
        whole: Schema.String
      })
    )
  )

/** Columns and custom fields that the settings keep out, whose values were stored before and still are. */
const storedEarlierShape = () => Schema.optionalKey(textsShape())

const totalsShape = () => Schema.Struct({ tables: Schema.Int, rows: Schema.Int })

const syncShape = () =>
  Schema.Struct({
    run: Schema.String,
    locations: locationsShape(),
    requests: Schema.Int,
    /** Requests of the day that are left for the location with the fewest, if the service has reported it. */
    requestsLeft: Schema.optionalKey(Schema.Int),
    plannedRequests: Schema.optionalKey(Schema.Int),
    /** Whether a new release was published, or why not. */
    published: publishedShape(),
    /** Of the release, with rows that are marked as deleted; absent without one. */
    totals: Schema.optionalKey(totalsShape()),
    modelProblems: textsShape(),
    loadedMs: Schema.Int,
    elapsedMs: Schema.Int,
    /** With the counts of `continued`. */
    resources: Schema.Array(runResourceShape()),
    /** Syncs that were stopped directly before this one and printed no result; absent if there are none. */
    continued: Schema.optionalKey(textsShape()),
    /** Children and details of which nothing was due: they are as of their last complete reading. */
    notDue: Schema.optionalKey(
      Schema.Array(Schema.Struct({ location: Schema.String, resource: Schema.String, completeAt: instantShape() }))
    ),
    /** How each reading of the run ended. */
    ended: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        resource: Schema.String,
        mode: modeShape(),
        status: endShape(),
        reason: Schema.optionalKey(Schema.Literals(["badToken", "forbidden", "retryLater"])),
        resumeAt: Schema.optionalKey(instantShape()),
        requests: Schema.Int,
        warnings: textsShape()
      })
    ),
    drift: Schema.Struct({ changes: textsShape(), unexpectedValues: textsShape() }),
    wideLosses: wideLossesShape(),
    limits: limitsShape(),
    /** Locations whose time zone is not known: their days and hours are those of UTC. */
    unknownTimeZones: Schema.optionalKey(
      Schema.Array(Schema.Struct({ location: Schema.String, timeZone: Schema.String }))
    ),
    /** By how much the machine's clock was ahead of the service's, or behind if negative, if several answers prove it. */
    clockAheadMs: Schema.optionalKey(Schema.Number),
    standingRejects: standingShape(),
    isVaultTruncated: Schema.Boolean,
    missingSegments: Schema.Array(Schema.Int),
    /** Records of erased people that were received and not stored. */
    suppressedRecords: Schema.Int,
    storedEarlier: storedEarlierShape(),
    leftLocations: leftLocationsShape()
  })

const readingShape = () =>
  Schema.Struct({
    location: Schema.String,
    /** A resource, or the label of its children or details. */
    resource: Schema.String,
    state: Schema.Literals(readingStates),
    /** The end of the last complete reading. */
    completeAt: Schema.optionalKey(instantShape()),
    /** Whether that is longer ago than `--max-age`. */
    isStale: Schema.Boolean,
    /** Whether rows may be missing, or it is stale. */
    isProblem: Schema.Boolean,
    /** Of a list: when deleted rows were last looked for, in a full reading or because the service's total agreed. */
    deletionsSoughtAt: Schema.optionalKey(instantShape()),
    /** The last run that read it. */
    run: Schema.optionalKey(Schema.String),
    ...runCounts(),
    warnings: textsShape()
  })

/** Whether what is wanted is there, and if not, why, the worst cause first. */
const verdictShape = () =>
  Schema.Struct({
    state: Schema.Literals([...verdicts, "nothing"]),
    level: Schema.Literals(["complete", "warning", "problem"]),
    /** All of it in a few sentences. */
    text: Schema.String,
    causes: Schema.Array(
      Schema.Struct({
        kind: Schema.String,
        location: Schema.optionalKey(Schema.String),
        resources: Schema.optionalKey(textsShape()),
        text: Schema.String,
        /** What mends it. */
        next: Schema.String
      })
    ),
    locations: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        complete: Schema.Int,
        of: Schema.Int,
        /** When its least recent complete reading ended. */
        oldestAt: Schema.optionalKey(instantShape())
      })
    )
  })

const statusShape = () =>
  Schema.Struct({
    /** `published`: the warehouse is in use, and the result describes the last release. `none`: there is no release. */
    source: Schema.Literals(["warehouse", "published", "none"]),
    holder: Schema.optionalKey(holderShape()),
    lastRun: Schema.optionalKey(runShape()),
    locations: locationsShape(),
    verdict: verdictShape(),
    readings: Schema.Array(readingShape()),
    /** Of the last release, with rows that are marked as deleted; absent without one. */
    totals: Schema.optionalKey(totalsShape()),
    /** Readings that are never read, interrupted, incomplete or stale. */
    problems: Schema.Int,
    /** What each place has that gets the tables, the published files among them. */
    targets: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          name: Schema.String,
          /** The run whose tables it shows; absent if it never got any. */
          run: Schema.optionalKey(Schema.String),
          deliveredAt: Schema.optionalKey(instantShape()),
          /** Since when it does not get what is new, and why; absent if it is up to date. */
          failedSince: Schema.optionalKey(instantShape()),
          problem: Schema.optionalKey(Schema.String),
          /** Published files that are not there any more. */
          missing: Schema.optionalKey(textsShape())
        })
      )
    ),
    leftLocations: leftLocationsShape(),
    /** Requests for each record that the settings leave to one sync a day, or out. */
    singleReads: Schema.optionalKey(textsShape()),
    wideLosses: wideLossesShape(),
    limits: limitsShape(),
    standingRejects: standingShape(),
    /** That the tables were restored, and have people again who were erased; absent if nobody can be back. */
    restored: Schema.optionalKey(Schema.String),
    /** As `check` prints them. */
    alarms: Schema.Array(ShownAlarm),
    /** The places of alarms that have not accepted what they are to be told, since when, and why. */
    unanswered: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({ place: Schema.Literals(["webhook", "mail"]), since: instantShape(), problem: Schema.String })
      )
    ),
    /** The head of the ledger; absent without one, and for one that `ledger verify` rejects. */
    ledger: Schema.optionalKey(Schema.Struct({ seq: Schema.Int, sha256: Schema.String })),
    /** Bytes of the parts of the output folder; a file that several releases link counts once. */
    disk: Schema.Struct({ vault: Schema.Int, warehouse: Schema.Int, published: Schema.Int, files: Schema.Int }),
    oldest: Schema.optionalKey(
      Schema.Struct({ location: Schema.String, resource: Schema.String, completeAt: instantShape() })
    )
  })

const planShape = () =>
  Schema.Struct({
    /** The program that has the warehouse open, which a plan needs; there are no steps then. */
    holder: Schema.optionalKey(holderShape()),
    locations: locationsShape(),
    /** Locations that could not be planned; the figures are those of the others. */
    unplanned: Schema.optionalKey(
      Schema.Array(Schema.Struct({ location: Schema.String, problem: Schema.String, next: Schema.String }))
    ),
    /** Requests of the whole plan; without `max`, no upper limit is known. */
    requests: Schema.optionalKey(rangeShape()),
    elapsedMs: Schema.optionalKey(rangeShape()),
    /** One number within each range, and what it follows from. */
    likely: Schema.optionalKey(Schema.Struct({ requests: Schema.Int, elapsedMs: Schema.Int, basis: Schema.String })),
    dailyRemaining: Schema.optionalKey(Schema.Int),
    /** Files behind links that no file was fetched for; `bytes` of those whose size the records say. */
    files: Schema.optionalKey(
      Schema.Array(Schema.Struct({ location: Schema.String, files: Schema.Int, sized: Schema.Int, bytes: Schema.Int }))
    ),
    /** What the settings leave out, and the setting that includes it. */
    omitted: Schema.Array(Schema.Struct({ resource: Schema.String, what: Schema.String, setting: Schema.String })),
    /** Columns, child tables, tables and custom fields that the settings keep out. */
    withheld: Schema.optionalKey(textsShape()),
    storedEarlier: storedEarlierShape(),
    steps: Schema.Array(
      Schema.Struct({
        location: Schema.String,
        resource: Schema.String,
        mode: modeShape(),
        records: Schema.optionalKey(Schema.Int),
        requests: rangeShape(),
        likely: Schema.Int,
        basis: Schema.String,
        refused: Schema.optionalKey(Schema.Struct({ reason: Schema.String }))
      })
    )
  })

const publishShape = () =>
  Schema.Struct({
    targets: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        /** The link to the release that it got; absent if it got rows. */
        folder: Schema.optionalKey(Schema.String),
        isNew: Schema.Boolean,
        files: Schema.Int,
        delivered: Schema.optionalKey(
          Schema.Struct({ to: Schema.String, changed: Schema.Int, unit: Schema.Literals(["table", "file"]) })
        )
      })
    ),
    folder: Schema.String,
    modelProblems: textsShape(),
    files: Schema.Array(
      Schema.Struct({
        path: Schema.String,
        table: Schema.String,
        rows: Schema.Int,
        bytes: Schema.Int,
        sha256: Schema.String
      })
    )
  })

const rebuildShape = () =>
  Schema.Struct({ records: Schema.Int, loadedMs: Schema.Int, elapsedMs: Schema.Int, modelProblems: textsShape() })

export const runResults = () => {
  const sync = syncShape()
  return {
    sync,
    backfill: sync,
    status: statusShape(),
    plan: planShape(),
    publish: publishShape(),
    rebuild: rebuildShape()
  }
}

export type RunResults = DataOf<typeof runResults>
