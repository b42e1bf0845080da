/** The coverage report: what a run read with each read operation of the API, for this token and these settings. */
import { Effect } from "effect"
import { type Covered, coverageOf, operationsOf } from "../../catalog/coverage.ts"
import { whyOptional } from "../../catalog/optional-settings.ts"
import { singleReadsPath } from "../../catalog/optional.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { childRequestOf } from "../../catalog/resource.ts"
import { type Facts, sentencesOf, statusOf, worstStatus } from "../../values/status.ts"
import { coverageStatements } from "../../stores/warehouse/meta/coverage.ts"
import { sentenceOf } from "../../values/reason.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Step } from "../../values/step.ts"

interface RunResult {
  readonly run: string
  readonly location: string
  readonly steps: ReadonlyArray<Step>
  readonly ended: ReadonlyArray<Facts & { readonly resource: string; readonly reason?: string }>
}

export const recordCoverage = Effect.fn("plan.recordCoverage")(function* (catalogue: Catalogue, result: RunResult) {
  const { run, location } = result
  const rows = coverageOf(catalogue).map((covered) => ({ ...covered, ...coverageStatus(catalogue, covered, result) }))
  yield* (yield* Warehouse).transaction(coverageStatements(run, location, rows))
})

const unprovenText = whyOptional("further_lists")

const coverageStatus = (
  catalogue: Catalogue,
  { operation, purpose, reason, resources: readers }: Covered,
  { steps, ended }: RunResult
): { readonly status: string; readonly reason: string } => {
  if (purpose !== "tables") return { status: purpose, reason }
  // The settings may exclude some operations of a resource.
  const read = steps
    .map(({ resource }) => resource)
    .filter((resource) => readers.includes(resource.table) && operationsOf(resource).includes(operation))
  if (read.length === 0) {
    const left = catalogue.resources.find((one) => readers.includes(one.table) && one.singleReads !== undefined)
    if (left)
      return {
        status: left.singleReads === "never" ? "skipped by the settings" : "left out of this run",
        reason: singleReadsPath(left)
      }
    const isSkipped =
      (reason !== "" && reason !== unprovenText) ||
      catalogue.resources.some((one) => readers.includes(one.table) && one.withheld?.isNotRead)
    return { status: isSkipped ? "skipped by the settings" : "left out of this run", reason }
  }
  const unreadable = ended.find(({ reason }) => reason === "badToken")
  if (unreadable) return { status: "not readable with this token", reason: sentencesOf(unreadable).join("; ") }
  const labels = new Set(read.flatMap((resource) => [resource.table, childRequestOf(resource)?.label]))
  const ends = ended.filter(({ resource }) => labels.has(resource))
  const forbidden = ends.find(({ reason }) => reason === "forbidden")
  if (forbidden) return { status: "not readable with this token", reason: sentencesOf(forbidden).join("; ") }
  const none = ends.flatMap(({ warnings }) => warnings.filter(({ _tag }) => _tag === "NotOffered"))[0]
  if (none) return { status: "not offered by this account", reason: sentenceOf(none) }
  const status = worstStatus(ends.map((end) => statusOf(end)))
  const left = read.flatMap((resource) => {
    const partial = childRequestOf(resource)?.partial
    return partial ? [`not read, unless account.${partial.unless} is set: ${partial.omits}`] : []
  })
  const unproven = read.every(({ isTrial }) => isTrial) ? [unprovenText] : []
  const reasons = [...unproven, ...ends.flatMap(sentencesOf), ...left]
  return { status: status === "complete" ? "read" : status, reason: reasons.join("; ") }
}
