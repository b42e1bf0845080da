/** What `meta` records about the tables of a bundle, up to the run that published the release. */
import { Effect } from "effect"
import { countColumns } from "../../../stores/warehouse/meta/run-changes.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { isoText } from "./control-totals.ts"

interface Scope {
  /** The run that published the release; later ones are not part of it. */
  readonly run: string
  /** When the release was written, ISO 8601. */
  readonly writtenAt: string
  /** The resources that fill the tables. */
  readonly resources: ReadonlyArray<string>
}

/** The label of children or details begins with the name of their resource. */
const isOf = (resources: ReadonlyArray<string>): string =>
  `split_part(resource, '/', 1) IN (${resources.map(literal).join(", ")})`

/** The rows of `meta.runs` and `meta.run_resources`, oldest first. */
export const runLedger = Effect.fn("bundle.runLedger")(function* ({ run, resources }: Scope) {
  const { rows } = yield* Warehouse
  const scoped = `run_id <= ${literal(run)} AND ${isOf(resources)}`
  return {
    runs: yield* rows(
      `SELECT run_id, command, ${isoText("started_at")} AS started_at, ${isoText("finished_at")} AS finished_at, status,
         exit_code, requests::DOUBLE AS requests FROM meta.runs
       WHERE run_id = ${literal(run)} OR run_id IN (SELECT run_id FROM meta.run_resources WHERE ${scoped}) ORDER BY run_id`
    ),
    resources: yield* rows(
      `SELECT run_id, location_id, resource, mode, ${isoText("since")} AS since, ${counts
        .map((count) => `${count}::DOUBLE AS ${count}`)
        .join(", ")}, status, warnings, ${isoText("finished_at")} AS finished_at
       FROM meta.run_resources WHERE ${scoped} ORDER BY run_id, location_id, resource`
    )
  }
})

/** As numbers; the driver returns BIGINT as text. */
const counts = ["requests", ...countColumns.filter((count) => count !== "requests")]

export type ApiTotal = Effect.Success<ReturnType<typeof apiTotals>>[number]
/** The totals that the API named before the release was written. */
export const apiTotals = Effect.fn("bundle.apiTotals")(function* ({ writtenAt, resources }: Scope) {
  return yield* query(
    { location: String, resource: String, total: Number, readAt: String },
    `SELECT location_id AS location, resource, total::DOUBLE AS total, ${isoText("full_complete_at")} AS readAt FROM meta.watermarks
     WHERE total IS NOT NULL AND full_complete_at <= ${literal(writtenAt)}::TIMESTAMPTZ AND ${isOf(resources)}
     ORDER BY location_id, resource`
  )
})
