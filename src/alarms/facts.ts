/** What the alarms are decided from: the tables of `meta`, without a request. */
import * as Effect from "effect/Effect"
import type { Catalogue } from "../catalog/discover.ts"
import { tablesOf } from "../catalog/tables.ts"
import { type Run, runsNewestFirst } from "../stores/warehouse/meta/runs.ts"
import { type StoredProblem, modelProblems } from "../stores/warehouse/meta/model-problems.ts"
import { locationNames } from "../stores/warehouse/locations.ts"
import { type StandingRejects, standingRejects } from "../stores/warehouse/meta/standing-rejects.ts"
import { type UnknownStates, unknownStates } from "../stores/warehouse/meta/unknown-states.ts"
import { type UnknownTimeZone, unknownTimeZones } from "../stores/warehouse/time-zones.ts"
import { type ReachedLimit, reachedLimits } from "../stores/warehouse/meta/limits.ts"
import { type TargetState, targetStates } from "../stores/warehouse/meta/targets.ts"
import { literal, selected } from "../stores/warehouse/sql.ts"
import { query } from "../stores/warehouse/query.ts"
import type { Reading } from "./reading.ts"
import { type Wanted, readingsOf } from "./readings.ts"
import { type Night, nightsMax } from "./volume.ts"

export interface Facts {
  /** Syncs, newest first. */
  readonly syncs: ReadonlyArray<Run>
  /** One for each that is wanted. */
  readonly readings: ReadonlyArray<Reading & { readonly subject: string }>
  /** Of the locations, by id. */
  readonly names: ReadonlyMap<string, string>
  /** Changes of each resource in the last complete nights, newest first. */
  readonly nights: ReadonlyMap<string, ReadonlyArray<Night>>
  /** What was rejected and is not mended yet. */
  readonly standing: ReadonlyArray<StandingRejects & { readonly subject: string }>
  /** What each place has that gets the tables. */
  readonly targets: ReadonlyArray<TargetState>
  readonly limits: ReadonlyArray<ReachedLimit>
  readonly unknownTimeZones: ReadonlyArray<UnknownTimeZone>
  readonly unknownStates: ReadonlyArray<UnknownStates>
  /** Models that could not be built for the last release. */
  readonly modelProblems: ReadonlyArray<StoredProblem>
  /** What the last reading of its table met for the first time: `contacts.loyaltyTier (new field)`. */
  readonly newFields: ReadonlyArray<string>
  /** As `contacts.type = prospect`. */
  readonly newValues: ReadonlyArray<string>
}

/** What stands rejected, as results say it. */
export const standingOf = (facts: Facts | undefined): ReadonlyArray<StandingRejects> =>
  (facts?.standing ?? []).map(({ location, rejected, resource, rows }) => ({ location, resource, rejected, rows }))

const isSync = "command LIKE 'sync%'"

export const readFacts = Effect.fn("alarms.facts")(function* (
  { resources }: Pick<Catalogue, "resources">,
  wanted: Wanted
) {
  const syncs = (yield* runsNewestFirst(undefined, 1000)).filter(({ command }) => command.startsWith("sync"))
  const readings = yield* readingsOf(wanted)
  const several = new Set(readings.map(({ location }) => location)).size > 1
  const subjectOf = (location: string, resource: string) => (several ? `${location}/${resource}` : resource)

  // One row for each resource: thousands of rows take longer to reach JavaScript than to find.
  const volumes = yield* query(
    { location: String, resource: String, nights: selected<ReadonlyArray<Night>> },
    `SELECT r.location_id AS location, r.resource, to_json(max_by(
         {'at': epoch_ms(n.started_at), 'changed': r.new_rows + r.changed_rows}, r.run_id, ${nightsMax + 2}
       ))::VARCHAR AS nights
     FROM meta.run_resources AS r JOIN meta.runs AS n USING (run_id)
     WHERE n.${isSync} AND r.status LIKE 'complete%' AND r.mode <> 'window' GROUP BY ALL`
  )
  const byResource = new Map(volumes.map(({ location, nights, resource }) => [subjectOf(location, resource), nights]))

  const owners = resources.flatMap((resource) =>
    tablesOf(resource).map(({ name }) => `(${literal(name)}, ${literal(resource.table)})`)
  )
  // Everything is new to a first sync.
  const drift = yield* query(
    { field: String, kind: String },
    `WITH owners (table_name, resource) AS (VALUES ${owners.join(", ")}),
     last_run AS (
       SELECT location_id, split_part(resource, '/', 1) AS resource, max(run_id) AS run_id
       FROM meta.run_resources WHERE run_id IN (SELECT run_id FROM meta.runs WHERE ${isSync}) GROUP BY ALL)
     SELECT DISTINCT table_name || '.' || field AS field, kind
     FROM meta.schema_changes AS c JOIN owners USING (table_name) JOIN last_run USING (location_id, resource)
     WHERE first_run_id = last_run.run_id
       AND EXISTS (FROM meta.runs WHERE ${isSync} AND status LIKE 'complete%' AND run_id < c.first_run_id) ORDER BY ALL`
  )
  const isValue = ({ kind }: (typeof drift)[number]) => kind.endsWith(" value")
  return {
    syncs,
    readings: readings.map((one) => ({ ...one, subject: subjectOf(one.location, one.resource) })),
    names: yield* locationNames(),
    nights: byResource,
    standing: (yield* standingRejects(resources)).map((one) => ({
      ...one,
      subject: subjectOf(one.location, one.resource)
    })),
    targets: yield* targetStates(),
    limits: yield* reachedLimits(),
    unknownTimeZones: yield* unknownTimeZones(),
    unknownStates: yield* unknownStates(),
    modelProblems: yield* modelProblems(),
    newFields: drift.filter((one) => !isValue(one)).map(({ field, kind }) => `${field} (${kind})`),
    newValues: drift.filter(isValue).map(({ field }) => field)
  }
})
