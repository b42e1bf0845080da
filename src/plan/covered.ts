/** What a run made of every read operation of the API: the coverage report, for this token and these settings. */
import { Effect } from "effect"
import { type Covered, coverageOf, operationsOf } from "../catalog/coverage.ts"
import type { Catalogue } from "../catalog/discover.ts"
import { followUpOf } from "../catalog/resource.ts"
import { literal } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { Step } from "./plan.ts"

interface RunResult {
  readonly run: string
  readonly location: string
  readonly steps: ReadonlyArray<Step>
  readonly ended: ReadonlyArray<{
    readonly resource: string
    readonly verdict: string
    readonly why?: string
    readonly doubts: ReadonlyArray<string>
  }>
}

export const recordCoverage = Effect.fn("plan.recordCoverage")(function* (catalogue: Catalogue, result: RunResult) {
  const { run, location } = result
  const rows = coverageOf(catalogue).map((covered) => {
    const { status, reason } = statusOf(covered, result)
    const { operation, purpose, tables } = covered
    const told = [run, location, operation, purpose].map(literal).join(", ")
    return `(${told}, [${tables.map(literal).join(", ")}], ${literal(status)}, ${literal(reason)})`
  })
  yield* (yield* Warehouse).transaction([
    `DELETE FROM meta.coverage WHERE location_id = ${literal(location)}`,
    `INSERT INTO meta.coverage VALUES ${rows.join(", ")}`
  ])
})

const statusOf = (
  { operation, purpose, reason, resources: readers }: Covered,
  { steps, ended }: RunResult
): { readonly status: string; readonly reason: string } => {
  if (purpose !== "tables") return { status: purpose, reason }
  // The settings may have left out a part of what a resource reads.
  const read = steps
    .map(({ resource }) => resource)
    .filter((resource) => readers.includes(resource.table) && operationsOf(resource).includes(operation))
  if (read.length === 0) return { status: reason === "" ? "left out of this run" : "skipped by the settings", reason }
  const labels = new Set(read.flatMap((resource) => [resource.table, followUpOf(resource)?.label]))
  const ends = ended.filter(({ resource }) => labels.has(resource))
  const closed = ends.find(({ why }) => why === "scope")
  if (closed) {
    const reader = read.find(({ table }) => closed.resource.split("/")[0] === table)
    return { status: "not readable with this token", reason: `scope ${reader?.scope}: ${closed.doubts.join("; ")}` }
  }
  const worst = ["incomplete", "complete with doubts"].find((verdict) => ends.some((end) => end.verdict === verdict))
  return { status: worst ?? "read", reason: ends.flatMap(({ doubts }) => doubts).join("; ") }
}
