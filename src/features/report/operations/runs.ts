/** Section: the last runs: when, how long, how many requests against their plans, and what they changed. */
import * as Effect from "effect/Effect"
import { itemAt } from "../../../catalog/present.ts"
import { type Run, runsNewestFirst } from "../../../stores/warehouse/meta/runs.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { day, dayAndTime, html } from "../../../pages/html.ts"
import { type Bar, columns, strip, ticksOf } from "../../../pages/charts.ts"
import { brief, count, counted, duration } from "../format.ts"
import { stateKeys } from "./freshness.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { runResources } from "./period.ts"
import { section } from "../section.ts"
import { number, tableOf, text } from "../../../pages/html-table.ts"
import { isWhole, stateText, toneOf } from "../../../values/state.ts"

/** Runs that are shown, however many there were. */
const runsMax = 30

/** `total`: of all runs, at least one. */
export const runsSection = Effect.fn("report.runs")(function* (total: number) {
  const runs = yield* runsNewestFirst(undefined, runsMax)
  const changes = yield* query(
    { id: String, added: Number, changed: Number, deleted: Number },
    `SELECT run_id AS id, sum(new_rows) AS added, sum(changed_rows) AS changed, sum(deleted_rows) AS deleted
     FROM meta.run_resources WHERE run_id IN (${runs.map(({ id }) => literal(id)).join(", ")}) GROUP BY run_id`
  )
  const unchanged = { added: 0, changed: 0, deleted: 0 }
  const shown = runs.map((run) => ({ ...run, ...(changes.find(({ id }) => id === run.id) ?? unchanged) }))
  const last = itemAt(runs, 0)
  const oldestFirst = runs.toReversed()
  const longest = Math.max(...runs.map(durationOf))
  const unit = longest < 180_000 ? { name: "Seconds", ms: 1000 } : { name: "Minutes", ms: 60_000 }
  const planned = runs.flatMap(({ plannedRequests: of, requests }) =>
    of && requests !== undefined ? requests / of : []
  )
  const inPlan = planned.filter((share) => Math.abs(share - 1) <= 0.25)
  const failed = runs.filter(({ status }) => status === "interrupted").length
  const days = oldestFirst.map(({ startedAt }) => day(startedAt))
  const axes = { format: brief, slots: runsMax, ticks: ticksOf(days, "columns", runsMax) }
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
              description: `The last run took ${requestsText(last)} requests${last.plannedRequests ? `; ${count(last.plannedRequests)} were planned` : ""}.`,
              unit: "Requests; the line is the plan",
              ...axes
            }
          )}
        </div>
        <div>
          <h4>Duration</h4>
          ${columns(
            oldestFirst.map((run) => ({ ...barOf(run, durationText(run)), value: durationOf(run) / unit.ms })),
            {
              title: "Duration of each run",
              description: `The last run took ${durationText(last)}.`,
              unit: `${unit.name} from start to end`,
              ...axes
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
      ${tableOf(shown, {
        id: "runs-table",
        caption: "Runs, the latest first",
        folded: 10,
        behind: ({ id }) => runResources(`run_id = ${literal(id)}`),
        columns: [
          text("Started, UTC", ({ startedAt }) => dayAndTime(startedAt)),
          text("Command", ({ command }) => command),
          text("Status", ({ status }) => html`<span class="state ${status}">${stateText(status)}</span>`),
          number("Exit code", ({ exitCode }) => exitCode),
          number("Duration", durationText),
          number("Requests", requestsText, "requests > 0"),
          number("Planned", ({ plannedRequests }) => plannedRequests || "–"),
          number("New", ({ added }) => added, "new_rows > 0"),
          number("Changed", ({ changed }) => changed, "changed_rows > 0"),
          number("Deleted", ({ deleted }) => deleted, "deleted_rows > 0")
        ]
      })}`
  })
})

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
