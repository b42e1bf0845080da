/** Plans a run: which resources to read, in which mode and from which checkpoints, and the requests that this takes. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { chosenLinks } from "../../catalog/link-columns.ts"
import { familyNamed, tablePrefix } from "../../catalog/published-tables.ts"
import { enabledPart, listPart } from "../../catalog/optional.ts"
import { closest } from "../../settings/closest.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import {
  type Resource,
  childRequestOf,
  embeddedResourcesOf,
  hasCompanyParameter,
  onTrial
} from "../../catalog/resource.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import { noCapabilities } from "../../values/capabilities.ts"
import { type Range } from "../../values/range.ts"
import type { Step } from "../../values/step.ts"
import { completeRuns, lastStatuses, unfinishedRefreshes } from "../../stores/warehouse/meta/run-resources.ts"
import { withObjectKeys } from "../../stores/warehouse/object-keys.ts"
import { unfinishedFullSync } from "../../stores/warehouse/meta/runs.ts"
import { failure } from "../../values/failure.ts"
import { some } from "../../values/text.ts"
import { type ExpectedStep, expect, plannedOf } from "./expect.ts"
import { type SyncState, liveCounts, newestFetch, readSyncState } from "../../stores/warehouse/sync-state.ts"

export interface Plan {
  readonly steps: ReadonlyArray<Step>
  readonly expected: ReadonlyArray<ExpectedStep>
  /** Requests of the whole plan. */
  readonly requests: Range
}

export interface Choice {
  /** Tables or families; empty: all. */
  readonly only: ReadonlyArray<string>
  /** Tables or families to leave out. */
  readonly except: ReadonlyArray<string>
  /** Read lists alone: whatever takes a request for each record waits for another sync, as after one that was stopped. */
  readonly lists?: boolean | undefined
  readonly optional: OptionalSettings
  /** Read all lists again. */
  readonly full: boolean
  /** Send the requests for each record again, too. An unfinished sync of this kind of an earlier run is resumed. */
  readonly each?: boolean
}

export const makePlan = Effect.fn("plan.make")(function* (catalogue: Catalogue, location: string, choice: Choice) {
  const optional = yield* withObjectKeys(choice.optional, location, catalogue.resources)
  const syncState = yield* readSyncState(location)
  const now = yield* Clock.currentTimeMillis
  const refreshCutoff = choice.each ? yield* cutoffOf(location, now) : undefined
  const readable = yield* withParentRows(yield* choose(catalogue, choice), catalogue, location, choice)
  const chosen = yield* withoutEarlier(readable, location, now, choice.full)
  const unfinished = choice.each ? undefined : yield* unfinishedRefreshes(location)
  const unproven = chosen.flatMap(({ table, unproven }) => (unproven ? [table] : []))
  const rows = yield* liveCounts(location, unproven)
  const mayRest = !choice.full && choice.only.length === 0
  const steps = chosen
    .map((one) => (one.unproven && !rows.has(one.table) ? onTrial(one) : one))
    .map((resource) => ({
      ...stepOf(resource, embeddedResourcesOf(catalogue.resources, resource.table), syncState, now, choice.full),
      ...(mayRest && restOf(resource, syncState, now)),
      refreshCutoff: refreshCutoff ?? unfinished?.get(childRequestOf(resource)?.label ?? ""),
      ...(resource.kind === "files" && choice.full && { refreshCutoff: now })
    }))
  const expected = yield* expect(steps, syncState, location, optional)
  const withParents = expected.map(({ step, children }) => (children ? { ...step, parents: children.state } : step))
  return { steps: withParents, expected, requests: plannedOf(expected) }
})

/** How long a list is not requested again that the account did not have. */
const restMs = 30 * dayMs

/** Children rest only if the service refused them: a new parent may have some. */
const restOf = (resource: Resource, states: ReadonlyMap<string, SyncState>, now: number): Pick<Step, "restsSince"> => {
  const isList = resource.kind === "list"
  const label = isList ? resource.table : childRequestOf(resource)?.label
  const { completeAt, capabilities, checkpoints } = states.get(label ?? "") ?? {}
  const isNone = isList || capabilities?.notOffered !== undefined
  const isResting = resource.isTrial && isNone && Object.keys(checkpoints ?? {}).length === 0
  return isResting && completeAt !== undefined && Math.abs(now - completeAt) < restMs ? { restsSince: completeAt } : {}
}

/** What of the choice can be read here. What cannot is named; that it is left out is no shortfall. */
const withParentRows = Effect.fnUntraced(function* (
  chosen: ReadonlyArray<Resource>,
  catalogue: Catalogue,
  location: string,
  choice: Choice
) {
  const { except, only } = choice
  const read = new Set<string>()
  for (const resource of catalogue.resources.filter((one) => isAmong(catalogue, one, except)))
    if ((yield* lastStatuses(location, resource.table)).length > 0) read.add(resource.table)
  const readable = withoutOrphans(chosen, catalogue, choice, (table) => read.has(table))
  const labelOf = (resource: Resource) => childRequestOf(resource)?.label ?? resource.table
  const left = new Set(readable.map(labelOf))
  const orphans = chosen.map(labelOf).filter((label) => !left.has(label))
  if (orphans.length > 0)
    yield* Effect.logInfo(
      `Not read, because they need rows of tables that are left out and were never read: ${some(orphans)}.`
    )
  if (readable.length === 0 && chosen.length > 0) return yield* failure({ _tag: "NothingSelected", only, except })
  return readable
})

/**
 * Without the requests for each row of a table that is left out and was never read: none of them could be sent, and each sync
 * would end incomplete. Who names a table, and not its family, gets it or hears why not.
 */
export const withoutOrphans = (
  chosen: ReadonlyArray<Resource>,
  catalogue: Catalogue,
  { except, only }: Pick<Choice, "except" | "only">,
  isRead: (table: string) => boolean
): ReadonlyArray<Resource> => {
  if (except.length === 0) return chosen
  const unread = new Set(
    catalogue.resources
      .filter((resource) => isAmong(catalogue, resource, except) && !isRead(resource.table))
      .map(({ table }) => table)
  )
  const isOrphan = (resource: Resource) =>
    !only.includes(resource.table) && rowsOf(resource).some((table) => unread.has(table))
  const partOf = (resource: Resource) => (resource.childOf ? listPart(resource) : undefined)
  for (let known = -1; known < unread.size;) {
    known = unread.size
    for (const resource of chosen) if (isOrphan(resource) && partOf(resource) === undefined) unread.add(resource.table)
  }
  return chosen.flatMap((resource) => (isOrphan(resource) ? (partOf(resource) ?? []) : resource))
}

/** A night begins as long after the last one as this. */
const nightAfterMs = 20 * 3_600_000

/** Without the requests for each record that the settings leave to the night, if they were all answered in this one. */
const withoutEarlier = Effect.fnUntraced(function* (
  chosen: ReadonlyArray<Resource>,
  location: string,
  now: number,
  isFull: boolean
) {
  if (isFull || chosen.every(({ singleReads }) => singleReads !== "night")) return chosen
  const done = new Set(
    (yield* completeRuns())
      .filter((one) => one.location === location && Math.abs(now - one.checkedAt) < nightAfterMs)
      .map(({ resource }) => resource)
  )
  return chosen.flatMap((resource) =>
    resource.singleReads === "night" && done.has(childRequestOf(resource)?.label ?? "")
      ? (listPart(resource) ?? [])
      : resource
  )
})

/** Children that were fetched before this time are due where each record is read. */
const cutoffOf = Effect.fnUntraced(function* (location: string, now: number) {
  const last = (yield* newestFetch(location)) ?? 0
  // The clock is behind an earlier run's: by it, what that run has fetched would seem to be of this one.
  return last > now ? last + 1 : ((yield* unfinishedFullSync()) ?? now)
})

const stepOf = (
  resource: Resource,
  embedded: ReadonlyArray<Resource>,
  stateByLabel: ReadonlyMap<string, SyncState>,
  now: number,
  isFull: boolean
): Omit<Step, "refreshCutoff"> => {
  const state = stateByLabel.get(resource.table)
  const childRequest = childRequestOf(resource)
  const common = {
    resource,
    embedded,
    capabilities: state?.capabilities ?? noCapabilities,
    childCapabilities: childRequest && stateByLabel.get(childRequest.label)?.capabilities,
    checkpoints: state?.checkpoints ?? {}
  }
  if (resource.kind !== "list") return { ...common, mode: "children" }
  // An interrupted reading resumes in the mode in which it began.
  const resumed = Object.values(common.checkpoints)[0]
  const { changes } = resource
  const sinceFull = now - (state?.fullCompleteAt ?? 0)
  // A time in the future was recorded while the local clock was ahead.
  const isStale =
    changes?.fullEvery !== undefined && (sinceFull > Duration.toMillis(changes.fullEvery) || sinceFull < -dayMs)
  const since =
    resumed?.since ??
    (changes && state?.watermark !== undefined ? state.watermark - Duration.toMillis(changes.overlap) : undefined)
  const isIncremental = !isFull && changes !== undefined && since !== undefined && !isStale
  const mode = (isFull ? undefined : resumed?.mode) ?? (isIncremental ? "incremental" : "full")
  return { ...common, mode, ...(mode === "incremental" && since !== undefined && { since }) }
}

/** The selected resources and those they need: their parents, and the lists they are embedded in. */
export const choose = (catalogue: Catalogue, { only, except, lists, optional }: Choice) => {
  const { resources, familyByTable } = catalogue
  const among = (names: ReadonlyArray<string>) => (resource: Resource) => isAmong(catalogue, resource, names)
  for (const [flag, names] of [
    ["--only", only],
    ["--except", except]
  ] as const) {
    const unknown = names.find((name) => !resources.some(among([name])))
    if (unknown !== undefined) {
      const families = [...new Set(familyByTable.values())]
      const tables = resources.flatMap((resource) => tablesOf(resource).map((table) => table.name))
      const near = closest(unknown, [...tables, ...families])
      return Effect.fail(failure({ _tag: "UnknownSelection", flag, name: unknown, families, closest: near }))
    }
  }
  const links = chosenLinks(resources, optional.files)
  if (links.unknown !== undefined)
    return Effect.fail(failure({ _tag: "UnknownLinks", name: links.unknown, groups: links.groups }))
  const enabled = resources.flatMap((resource) => enabledPart(resource, optional) ?? [])
  const available = lists ? enabled.flatMap((resource) => listPart(resource) ?? []) : enabled
  const wanted = new Set(only.length === 0 ? available : available.filter(among(only)))
  for (const resource of wanted)
    for (const needed of neededBy(resource))
      for (const other of available) if (other.table === needed) wanted.add(other)
  const chosen = available.filter(
    (resource) => wanted.has(resource) && !resource.embeddedIn && !among(except)(resource)
  )
  // It is not an error if --only names only resources that the settings disable.
  return chosen.length > 0 || except.length === 0
    ? Effect.succeed(chosen)
    : Effect.fail(failure({ _tag: "NothingSelected", only, except }))
}

/**
 * Whether the names include its family, the resource, or one of its tables. A name of both means the family here: what is not
 * read would be missing. `table:invoices` is the table alone.
 */
export const isAmong = ({ familyByTable }: Catalogue, resource: Resource, names: ReadonlyArray<string>): boolean =>
  names.some(
    (name) =>
      familyByTable.get(resource.table) === familyNamed(name) ||
      tablesOf(resource).some((table) => table.name === name || `${tablePrefix}${table.name}` === name)
  )

/** Tables that a resource needs: those whose rows it needs, and for the id of the company, the location. */
const neededBy = (resource: Resource): ReadonlyArray<string> => [
  ...rowsOf(resource),
  ...(hasCompanyParameter(resource) ? ["locations"] : [])
]

/** Its parent, the list it is embedded in, and what its partitions are named by. */
const rowsOf = (resource: Resource): ReadonlyArray<string> => [
  ...(resource.childOf ? [resource.childOf.table] : []),
  ...(resource.embeddedIn ? [resource.embeddedIn.table] : []),
  ...(resource.partitions === "object_keys" ? ["objects"] : [])
]
