/** The history: all runs, and one of them. */
import { button, h, number } from "./dom.js"
import { live } from "./console-state.js"
import { badge, duration, gridBox, nameOf, tableOf, tablePart, tiles, timeText, toneOf } from "./console-parts.js"
import { request } from "./service.js"

const addressOf = (run) => `#/run/${encodeURIComponent(run)}`
const lastOf = ({ finishedAt, startedAt }) =>
  finishedAt ? duration(Date.parse(finishedAt) - Date.parse(startedAt)) : ""

const runColumns = [
  ["Started", ({ run, startedAt }) => h("a", { href: addressOf(run) }, timeText(startedAt))],
  "command",
  ["Status", ({ status }) => badge(status)],
  ["Duration", lastOf],
  "requests",
  "new",
  "changed",
  "deleted",
  "warnings"
]

const jobColumns = [
  ["Started", ({ id, startedAt }) => h("a", { href: `#/job/${id}` }, timeText(startedAt))],
  ["Work", ({ title }) => title],
  ["State", ({ level, state }) => badge(state === "ended" ? (level ?? "ended") : state, state)],
  "by",
  ["How it ended", ({ text }) => text]
]

const shownRuns = 100
export const runs = async () => {
  const { runs: all } = await request("/api/runs")
  const list = h("div.part")
  const show = (rows) =>
    list.replaceChildren(
      gridBox("Runs", tableOf(runColumns, rows)),
      h("div.actions", rows.length < all.length && button(`Show all ${number(all.length)} runs`, () => show(all)))
    )
  show(all.slice(0, shownRuns))
  return [
    h("h2", "Runs"),
    h("ol.strip", { "aria-label": "The last 30 runs, the newest last" }, all.slice(0, 30).toReversed().map(mark)),
    all.length === 0 ? h("p.empty", "No run has been made yet.") : list,
    live(h("div.part"), ({ jobs }) => jobs, jobList)
  ]
}

const jobList = (jobs) => tablePart("Work of the console", jobColumns, jobs)

const mark = ({ run, startedAt, status }) => {
  const text = `${timeText(startedAt)}: ${status.replaceAll("_", " ")}`
  return h("li", h("a", { href: addressOf(run), title: text, "aria-label": text, "data-tone": toneOf(status) }))
}

export const run = async ([id]) => {
  const [{ runs: all }, found] = await Promise.all([request("/api/runs"), request("/api/run", { run: id })])
  const one = all.find(({ run: other }) => other === id)
  const isPlain = ({ reasons, status }) => status === "complete" && reasons.length === 0
  const [plain, others] = [true, false].map((is) => found.resources.filter((row) => isPlain(row) === is))
  return [
    h("h2", one ? `${one.command}, ${timeText(one.startedAt)}` : "Run"),
    h("p.muted", id),
    one &&
      tiles({
        Status: badge(one.status),
        Duration: lastOf(one) || "not ended",
        Requests: one.requests,
        "New rows": one.new,
        "Changed rows": one.changed,
        "Deleted rows": one.deleted,
        "Exit code": one.exitCode
      }),
    tablePart("What it changed", [["Table", changedLink], "rows"], found.changedTables),
    tablePart("Resources with a reason", resourceColumns, others),
    tablePart("Resources", resourceColumns, plain),
    tablePart("Rejected values", ["table", "column", "reason", "count"], found.rejects),
    tablePart("Changes of the schema", ["table", "column", "change"], found.schemaChanges)
  ]
}

const changedLink = ({ address, table }) => (address ? h("a", { href: address }, table) : table)

const resourceColumns = [
  "resource",
  ["Status", ({ status }) => badge(status)],
  "mode",
  "requests",
  "pages",
  "records",
  "new",
  "changed",
  "deleted",
  ["Location", ({ location }) => nameOf(location)],
  ["Reasons", ({ reasons }) => reasons.join(" ")]
]
