/** Section: the last runs: when, how long, how many requests against their plans, and what they changed. */
import * as Effect from "effect/Effect"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type Html, html } from "../../../values/html.ts"
import { type Bar, columns, strip, ticksOf } from "../../../values/charts.ts"
import { brief, count, counted, duration } from "../format.ts"
import { day, dayAndTime } from "../../../values/moment.ts"
import { stateKeys } from "./freshness.ts"
import { section, tableOf } from "../table.ts"
import { isWhole, stateText, toneOf } from "../../../values/state.ts"
import type { Run } from "../../../stores/warehouse/meta/runs.ts"

/** Runs that are shown, however many there were. */
export const runsMax = 30

export interface RunChanges {
  readonly added: number
  readonly changed: number
  readonly deleted: number
}

/** Rows that runs added, changed and deleted, by the id of the run. */
export const changesByRun = Effect.fn("report.runs")(function* (runs: ReadonlyArray<Run>) {
  if (runs.length === 0) return new Map()
  const rows = yield* (yield* Warehouse).rows(
    `SELECT run_id, coalesce(sum(new_rows), 0)::BIGINT AS added, coalesce(sum(changed_rows), 0)::BIGINT AS changed, coalesce(sum(deleted_rows), 0)::BIGINT AS deleted
     FROM meta.run_resources WHERE run_id IN (${runs.map(({ id }) => literal(id)).join(", ")}) GROUP BY run_id`
  )
  return new Map(
    rows.map((row) => [
      String(row["run_id"]),
      { added: Number(row["added"]), changed: Number(row["changed"]), deleted: Number(row["deleted"]) }
    ])
  )
})

/** `runs`: newest first. */
export const runsSection = (
  runs: ReadonlyArray<Run>,
  total: number,
  changes: ReadonlyMap<string, RunChanges>
): Html => {
  const oldestFirst = runs.toReversed()
  const ticks = ticksOf(
    oldestFirst.map(({ startedAt }) => day(startedAt)),
    "columns",
    runsMax
  )
  const longest = Math.max(...runs.map(durationOf))
  const unit = longest < 180_000 ? { name: "Seconds", ms: 1000 } : { name: "Minutes", ms: 60_000 }
  const planned = runs.filter(({ plannedRequests, requests }) => plannedRequests && requests !== undefined)
  const inPlan = planned.filter(({ plannedRequests, requests }) => Math.abs(requests! / plannedRequests! - 1) <= 0.25)
  const failed = runs.filter(({ status }) => status === "interrupted").length
  return section({
    id: "runs",
    title: "Runs",
    lead: `${total > runs.length ? `The last ${count(runs.length)} of ${counted(total, "run")}.` : `${counted(total, "run")} in all.`}${
      failed > 0 ? ` ${count(failed)} did not end.` : ""
    }${planned.length > 0 ? ` Of ${counted(planned.length, "run")} with a plan, ${count(inPlan.length)} took a number of requests within a quarter of it.` : ""}`,
    content: html`<div class="pair">
        <div>
          <h4>Requests against plan</h4>
          ${columns(
            oldestFirst.map((run) => ({
              ...barOf(run, `${requestsText(run)} requests`),
              value: run.requests ?? 0,
              mark: run.plannedRequests || undefined
            })),
            {
              title: "Requests of each run, and the number that was planned",
              description: `The last run took ${requestsText(runs[0]!)} requests${runs[0]?.plannedRequests ? `; ${count(runs[0].plannedRequests)} were planned` : ""}.`,
              unit: "Requests; the line is the plan",
              format: brief,
              slots: runsMax,
              ticks
            }
          )}
        </div>
        <div>
          <h4>Duration</h4>
          ${columns(
            oldestFirst.map((run) => ({ ...barOf(run, durationText(run)), value: durationOf(run) / unit.ms })),
            {
              title: "Duration of each run",
              description: `The last run took ${durationText(runs[0]!)}.`,
              unit: `${unit.name} from start to end`,
              format: brief,
              slots: runsMax,
              ticks
            }
          )}
        </div>
      </div>
      <h4>Status, change and cost</h4>
      ${stateKeys}
      ${strip(
        oldestFirst.map(({ status }) => toneOf(status) ?? "none"),
        runsMax,
        {
          title: "Status of each run, the latest at the right",
          description: `${count(runs.filter(({ status }) => isWhole(status)).length)} of ${counted(runs.length, "run")} read everything to its end.`
        }
      )}
      ${tableOf({
        id: "runs-table",
        caption: "Runs, the latest first",
        rows: runs,
        folded: 10,
        columns: [
          { head: "Started, UTC", cell: ({ startedAt }) => dayAndTime(startedAt) },
          { head: "Command", cell: ({ command }) => command },
          {
            head: "Status",
            cell: ({ status }) => html`<span class="state ${status}">${stateText(status)}</span>`
          },
          { head: "Exit code", kind: "number", cell: ({ exitCode }) => exitCode },
          { head: "Duration", kind: "number", cell: durationText },
          { head: "Requests", kind: "number", cell: requestsText },
          {
            head: "Planned",
            kind: "number",
            cell: ({ plannedRequests }) => (plannedRequests ? count(plannedRequests) : "–")
          },
          { head: "New", kind: "number", cell: ({ id }) => count(changes.get(id)?.added ?? 0) },
          { head: "Changed", kind: "number", cell: ({ id }) => count(changes.get(id)?.changed ?? 0) },
          { head: "Deleted", kind: "number", cell: ({ id }) => count(changes.get(id)?.deleted ?? 0) }
        ]
      })}`
  })
}

const barOf = ({ command, startedAt, status }: Run, text: string): Omit<Bar, "value"> => {
  const tone = toneOf(status)
  return {
    text: `${dayAndTime(startedAt)}, ${command}: ${text}, ${stateText(status)}`,
    tone: isWhole(status) || tone === "complete" ? undefined : tone
  }
}

const requestsText = ({ requests }: Run): string => (requests === undefined ? "unknown" : count(requests))

const durationOf = ({ startedAt, finishedAt }: Run): number =>
  finishedAt === undefined ? 0 : Math.max(0, finishedAt - startedAt)

const durationText = (run: Run): string => (run.finishedAt === undefined ? "did not end" : duration(durationOf(run)))
