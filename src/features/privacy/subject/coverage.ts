/** What an export about a person covers: for each resource how many records were found, how fresh it is, or why nothing can be said. */
import { Effect } from "effect"
import { notExtracted } from "../../../catalog/coverage.ts"
import { type Resource, childRequestOf, settingOf } from "../../../catalog/resource.ts"
import { isNeverRequested, singleReadsPath } from "../../../catalog/optional.ts"
import { type OptionalSettings, optionalPath } from "../../../catalog/optional-settings.ts"
import type { Reading } from "../../../alarms/reading.ts"
import { labelsOf, readingsOf } from "../../../alarms/readings.ts"
import { rowsOfEach } from "../../../stores/warehouse/groups.ts"
import { numbers } from "../../../values/rows.ts"
import { type LinkedResource, type PossibleRecord, keysTable, mentionsTable } from "./belongings.ts"
import { counted } from "../../../values/finding.ts"
import { isWhole, stateText } from "../../../values/state.ts"

export type CoveredResource = Effect.Success<ReturnType<typeof coverageOf>>[number]
export const coverageOf = Effect.fn("subject.coverage")(function* (
  linked: ReadonlyArray<LinkedResource>,
  settings: { readonly enabled: ReadonlyArray<Resource>; readonly optional: OptionalSettings },
  locations: ReadonlyArray<string>,
  possible: { readonly contacts: number; readonly records: ReadonlyArray<PossibleRecord> }
) {
  const statuses = yield* readingsOf({ resources: linked.map(({ resource }) => resource), locations })
  const counts = yield* rowsOfEach(
    numbers("records", "mentions"),
    linked.map(({ resource }) => ({ resource, size: 0 })),
    ({ resource }) =>
      `SELECT (SELECT count(*) FROM ${keysTable(resource)}) AS records, (SELECT count(*) FROM ${mentionsTable(resource)}) AS mentions`
  )
  return counts.map(([{ resource }, { mentions, records }]) => {
    // Without its setting, a detail is not read.
    const chosen = settings.enabled.find(({ table }) => table === resource.table)
    const labels = labelsOf(chosen ?? resource)
    const readings = statuses.filter((one) => labels.includes(one.resource))
    const partial = childRequestOf(resource)?.partial
    const isLeftOut = partial !== undefined && !settings.optional[partial.unless]
    const setting = settingOf(resource)
    const off = isNeverRequested(resource)
      ? `its single records are not read: ${singleReadsPath(resource)}`
      : !chosen
        ? `${setting && optionalPath(setting)} is not set`
        : isLeftOut
          ? `${partial.omits} are not read, because account.${partial.unless} is not set`
          : undefined
    const gap = chosen && gapOf(readings)
    const times = readings.flatMap(({ completeAt }) => (completeAt === undefined ? [] : [completeAt]))
    const completeAt = times.length === 0 ? undefined : new Date(Math.min(...times)).toISOString()
    return {
      resource: resource.table,
      records,
      /** Records of other contacts that contain an address of the person. */
      mentions,
      /** Whether every list and every child of it was read completely, in all locations. */
      isComplete: gap === undefined && off === undefined,
      /** Whether everything that the settings ask for was read completely. */
      isAsSet: gap === undefined,
      /** When the oldest of its readings ended; ISO 8601. */
      completeAt,
      /** A sentence that starts with `12 found`, `none`, `not certain` or `not reachable`. */
      finding: findingOf(records, gap ?? off, {
        ...possible,
        own: possible.records.filter(({ table }) => table === resource.table).length
      })
    }
  })
})

interface Possible {
  /** Contacts that may be the person, whose records are not looked for. */
  readonly contacts: number
  /** Records of this resource that may be about the person. */
  readonly own: number
}

const findingOf = (records: number, gap: string | undefined, { contacts, own }: Possible): string => {
  if (gap !== undefined) return records === 0 ? `not reachable: ${gap}` : `${records} found, there may be more: ${gap}`
  if (own > 0)
    return `${records > 0 ? `${records} found, and ` : ""}not certain: ${counted(own, "record")} may be about the person`
  if (records > 0) return `${records} found`
  return contacts > 0 ? `not certain: ${counted(contacts, "contact")} may be the person` : "none"
}

/** Why records may be missing; `undefined` if every reading is complete. */
const gapOf = (readings: ReadonlyArray<Reading>): string | undefined => {
  const gaps = readings.flatMap(({ last, resource, state }) => {
    if (state === "never") return [`${resource} was never read`]
    if (isWhole(state)) return []
    return [`${resource} is ${stateText(state)}${last?.warnings[0] === undefined ? "" : `: ${last.warnings[0]}`}`]
  })
  return readings.length === 0 ? "nothing was read" : gaps.length === 0 ? undefined : [...new Set(gaps)].join("; ")
}

/** What no export can contain. */
export const limits: ReadonlyArray<string> = [
  "What other people wrote about the person in records that belong to somebody else: --search-text lists candidates.",
  "Files behind links that were not fetched stay with the service, and are listed as links; files.fetch fetches them.",
  "Records that were deleted before the first sync.",
  ...notExtracted
    .filter(([purpose]) => purpose === "not documented")
    .map(([, operation, reason]) => `The API does not show: ${operation} (${reason}).`)
]
