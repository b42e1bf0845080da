/** What the alarms are decided from: the tables of `meta`, without a request. */
import * as Effect from "effect/Effect"
import type { Failure } from "../failure.ts"
import { type Run, runsNewestFirst } from "../warehouse/meta/runs.ts"
import { type RunResource, resourcesOf } from "../warehouse/meta/run-resources.ts"
import { completeReadings } from "../warehouse/meta/watermarks.ts"
import { literal } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { Night } from "./volume.ts"

/** What the last sync did for a resource. */
export interface LastReading extends RunResource {
  readonly subject: string
}

export interface Facts {
  /** Syncs, newest first. */
  readonly syncs: ReadonlyArray<Run>
  /** The end of the last complete reading, epoch milliseconds. */
  readonly completeAt: ReadonlyArray<{
    readonly subject: string
    readonly location: string
    readonly resource: string
    readonly at: number
  }>
  /** Changes of each resource in the last complete nights, newest first. */
  readonly nights: ReadonlyMap<string, ReadonlyArray<Night>>
  readonly lastReadings: ReadonlyArray<LastReading>
  /** What the last sync met for the first time: `contacts.loyaltyTier (new field)`. */
  readonly newFields: ReadonlyArray<string>
  /** As `contacts.type = prospect`. */
  readonly newValues: ReadonlyArray<string>
}

const isSync = "command LIKE 'sync%'"

/** `nights`: how many nights a volume is compared with. */
export const factsOf = Effect.fn("alarms.facts")(function* (
  nights: number
): Effect.fn.Return<Facts, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const syncs = (yield* runsNewestFirst(undefined, 1000)).filter(({ command }) => command.startsWith("sync"))
  const readings = yield* completeReadings()
  const several = new Set(readings.map(({ location }) => location)).size > 1
  const subjectOf = (location: unknown, resource: unknown) =>
    several ? `${String(location)}/${String(resource)}` : String(resource)

  const volumes = yield* warehouse.rows(
    `SELECT r.location_id, r.resource, epoch_ms(n.started_at) AS at, r.mode, r.new_rows + r.changed_rows AS changed,
       r.run_id = (SELECT max(run_id) FROM meta.runs WHERE ${isSync}) AS is_last
     FROM meta.run_resources AS r JOIN meta.runs AS n USING (run_id)
     WHERE n.${isSync} AND r.status LIKE 'complete%' AND r.mode <> 'window'
     QUALIFY row_number() OVER (PARTITION BY r.location_id, r.resource ORDER BY r.run_id DESC) <= ${nights + 2}
     ORDER BY r.run_id DESC`
  )
  const byResource = new Map<string, Array<Night>>()
  for (const row of volumes) {
    const subject = subjectOf(row["location_id"], row["resource"])
    const night = { at: Number(row["at"]), changed: Number(row["changed"]), isLast: row["is_last"] === true }
    byResource.set(subject, [...(byResource.get(subject) ?? []), night])
  }

  const [last, ...before] = syncs
  const lastReadings = last === undefined ? [] : yield* resourcesOf(last.id)
  // Everything is new to a first sync.
  const hasEarlier = before.some(({ status }) => status.startsWith("complete"))
  const drift =
    last === undefined || !hasEarlier
      ? []
      : yield* warehouse.rows(
          `SELECT DISTINCT table_name || '.' || field AS field, kind FROM meta.schema_changes
           WHERE first_run_id = ${literal(last.id)} ORDER BY ALL`
        )
  const isValue = (row: (typeof drift)[number]) => String(row["kind"]).endsWith(" value")
  return {
    syncs,
    completeAt: readings.map(({ location, resource, completeAt }) => ({
      subject: subjectOf(location, resource),
      location,
      resource,
      at: completeAt
    })),
    nights: byResource,
    lastReadings: lastReadings.map((one) => ({ ...one, subject: subjectOf(one.location, one.resource) })),
    newFields: drift.filter((row) => !isValue(row)).map((row) => `${String(row["field"])} (${String(row["kind"])})`),
    newValues: drift.filter(isValue).map((row) => String(row["field"]))
  }
})
