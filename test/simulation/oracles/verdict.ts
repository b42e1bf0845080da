/** What every surface says after a run, against what the services have answered in it. */
import { Effect } from "effect"
import { alarmsOf, type AlarmLimits } from "../../../src/alarms/alarms.ts"
import { isProblem, verdictOf } from "../../../src/alarms/verdict.ts"
import { readFacts } from "../../../src/alarms/facts.ts"
import { evidenceOf } from "../../../src/alarms/watch.ts"
import { metricsText } from "../../../src/features/operations/signals/metrics.ts"
import { operations } from "../../../src/features/report/operations/operations.ts"
import { readResources } from "../../../src/run/alarms-now.ts"
import { readSettings } from "../../../src/settings/read.ts"
import { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"
import * as status from "../../../src/values/status.ts"
import { simulatedOf } from "../catalogue.ts"
import { routes } from "../routes.ts"
import type { Night } from "../world.ts"
import { type Ran, type Stage, optionalOf } from "../run.ts"

const { alarms } = readSettings({ noFile: true }, {}).values
const limits: AlarmLimits = { ...alarms, requestsPerDay: 1e9 }

/** The states that go with each exit code. A run that was stopped has none. */
const statesOf: Readonly<Record<number, RegExp>> = {
  0: /^(complete|warned|models)$/,
  1: /^(undelivered|incomplete)$/,
  3: /^incomplete$/,
  75: /^(paused|incomplete)$/,
  77: /^incomplete$/
}

/**
 * The truth is what the services have answered: a location that has answered nothing but refusals was not read, whatever the
 * tables have from earlier runs.
 */
export const surfacesSayTheTruth = async (stage: Stage, night: Night, ran: Ran): Promise<ReadonlyArray<string>> => {
  const { catalogue, output, services, warehouse } = stage
  const within = <A, E>(work: Effect.Effect<A, E, Warehouse>) =>
    Effect.runPromise(Effect.provideService(work, Warehouse, warehouse))
  const locations = services.map(({ location }) => location)
  const resources = await Effect.runPromise(readResources(catalogue, { optional: optionalOf(stage.world) }))
  const facts = await within(readFacts(catalogue, { locations, resources }))
  const verdict = verdictOf(evidenceOf(facts, { isRunning: false, failed: undefined }))
  const isComplete = (location: string, resource: string) =>
    facts.readings.some((one) => one.location === location && one.resource === resource && !isProblem(one))
  const untold = [
    ...services.flatMap((service) =>
      stage.world.collections.flatMap((collection) => {
        const { childOf, table } = simulatedOf(collection).resource
        const isList =
          childOf === undefined && routes.some((one) => one.kind === "list" && one.collection === collection)
        const isUnread = isList && !service.answered().has(collection)
        return isUnread && isComplete(service.location, table)
          ? [`${table} of ${service.location} is complete, and no request for it was ever answered`]
          : []
      })
    ),
    ...(ran.hasTargetFailed && verdict.causes.every(({ kind }) => kind !== "target")
      ? ["the target failed, and the verdict does not say so"]
      : [])
  ]
  if (ran.synced === undefined) return untold
  const naming = {
    isOfSeveral: locations.length > 1,
    placeOf: (location: string) => location,
    tokenOf: (location: string) => `token of ${location}`
  }
  const now = stage.clock.now()
  const found = alarmsOf({ now, facts, verdict, naming, free: [], isRunning: false }, limits)
  const metrics = metricsText(facts, {
    alarms: found.map((one) => ({ ...one, since: now })),
    failed: undefined,
    verdict
  })
  const { exitCode = -1 } = ran.synced
  const says = (isSaid: boolean, text: string) => (isSaid ? [] : [`exit code ${exitCode}, and ${text}`])
  const isWrong = verdict.tone === "problem"
  // What a run that was interrupted has read to its end, the next one does not read again.
  const resumedFrom = Math.max(
    0,
    ...facts.syncs.slice(1).flatMap(({ finishedAt, status }) => (status === "interrupted" ? [] : (finishedAt ?? [])))
  )
  const wrongAlarm = found.some(({ kind, level }) => (kind === "sync" || kind === "target") && level === "wrong")
  const unread = services.filter(
    ({ sent }) => sent.length > 0 && sent.every(({ received }) => received?.status === 401)
  )
  const report =
    night.refused || exitCode !== 0
      ? await within(operations(output.folder, catalogue.resources, undefined, locations))
      : undefined
  return [
    ...untold,
    ...says(exitCode !== 75 || verdict.causes.some(({ kind }) => kind === "paused"), "no cause is the pause"),
    ...says(statesOf[exitCode]?.test(verdict.state) ?? false, `the verdict is ${verdict.state}`),
    ...says(
      wrongAlarm === isWrong,
      `the verdict is ${verdict.tone}, and alarms are ${found.map(({ where }) => where).join()}`
    ),
    ...says(report === undefined || report.overview.tone === verdict.tone, `the report is ${report?.overview.state}`),
    ...says(verdict.of === facts.readings.length, "not everything that is wanted is counted"),
    ...locations.flatMap((location) => {
      const complete = facts.readings.filter((one) => one.location === location && !isProblem(one)).length
      const isSame = metrics.includes(`sluice_resources_complete{location="${location}"} ${complete}\n`)
      return says(isSame, `the metrics have another number of complete resources of ${location}`)
    }),
    ...says(unread.length < services.length || exitCode === 77, "no location could be read"),
    ...says(
      exitCode !== 77 || ran.synced.ended.every((one) => !status.isComplete(one)),
      "something was read to its end"
    ),
    ...unread.flatMap(({ location }) => [
      ...says(exitCode !== 0, `${location} was not read`),
      ...says(
        facts.readings.every(
          (one) => one.location !== location || isProblem(one) || (one.completeAt ?? 0) >= resumedFrom
        ),
        `resources of ${location}, which was not read, are complete`
      ),
      ...says(
        found.some(({ next, what }) => what.includes(location) && next.includes(`token of ${location}`)),
        `no alarm names ${location} and its token`
      ),
      ...says(
        report?.overview.sentence.includes(report.period.placeOf(location)) ?? true,
        `the report does not name ${location}: ${report?.overview.sentence}`
      )
    ])
  ]
}
