/** The history: what was done, and one run of it. */
import { tableAddress } from "./address.js"
import { button, count, gridBox, h, number } from "./dom.js"
import { badge, duration, nameOf, tableOf, tablePart, tiles, timeText, toneOf } from "./console-parts.js"
import { request } from "./service.js"

const addressOf = ({ job, run }) => (job ? `#/job/${job}` : `#/run/${encodeURIComponent(run)}`)
const lastOf = ({ finishedAt, startedAt }) =>
  finishedAt ? duration(Date.parse(finishedAt) - Date.parse(startedAt)) : ""

export const starters = { console: "from this page", schedule: "by the schedule", terminal: "in a terminal" }

const runColumns = [
  ["Started", (one) => h("a", { href: addressOf(one) }, timeText(one.startedAt))],
  ["Status", ({ status }) => badge(status)],
  "what",
  ["Why", ({ status, text }) => (["complete", "ok", "running"].includes(status) ? "" : text)],
  ["By", ({ by }) => starters[by]],
  ["Duration", lastOf],
  "requests",
  "new",
  "changed",
  ["Deleted", ({ deleted }) => deleted],
  "warnings"
]

const shownRuns = 100
export const runs = async () => {
  const { runs: all } = await request("/api/runs")
  const list = h("div.part")
  const show = (rows) =>
    list.replaceChildren(
      gridBox("Runs", tableOf(runColumns, rows)),
      h("div.actions", rows.length < all.length && button(`Show all ${number(all.length)}`, () => show(all)))
    )
  show(all.slice(0, shownRuns))
  const marks = all.filter(({ run }) => run).slice(0, 30)
  return [
    h("h2", "Runs"),
    marks.length > 1 && [
      h("p.muted", `The last ${number(marks.length)} runs, the newest on the right.`),
      h("ol.strip", { "aria-label": "The last runs" }, marks.toReversed().map(mark))
    ],
    all.length === 0 ? h("p.empty", "No run has been made yet.") : list
  ]
}

const mark = (one) => {
  const text = `${timeText(one.startedAt)}: ${one.status.replaceAll("_", " ")}`
  return h("li", h("a", { href: addressOf(one), title: text, "aria-label": text, "data-tone": toneOf(one.status) }))
}

export const run = async ([id]) => {
  const { job } = await request("/api/run", { run: id })
  // The page of the work has what this one has, and why it ended so.
  if (job) location.replace(addressOf({ job, run: id }))
  const [{ runs: all }, parts] = await Promise.all([request("/api/runs"), runParts(id)])
  const one = all.find(({ run: other }) => other === id)
  return [
    h("h2", one ? `${one.what}, ${timeText(one.startedAt)}` : "Run"),
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
    parts
  ]
}

const order = ["interrupted", "incomplete", "complete_with_warnings"]
const rankOf = ({ status }) => order.indexOf(status) + 1 || order.length + 1
const isPlain = ({ reasons, status }) => status === "complete" && reasons.length === 0

/** What a run did, the worst first. */
export const runParts = async (id) => {
  const found = await request("/api/run", { run: id })
  const [plain, others] = [true, false].map((is) => found.resources.filter((row) => isPlain(row) === is))
  return [
    tablePart(
      "What is not complete, or has a reason",
      resourceColumns,
      others.toSorted((one, other) => rankOf(one) - rankOf(other))
    ),
    tablePart("What it changed", [["Table", changesOf(id)], "rows"], found.changedTables),
    plain.length > 0 &&
      h(
        "details",
        h("summary", count(plain.length, "complete resource")),
        gridBox("Resources", tableOf(resourceColumns, plain))
      ),
    tablePart("Rejected values", ["table", "column", "reason", "count"], found.rejects),
    tablePart("Changes of the schema", ["table", "column", "change"], found.schemaChanges)
  ]
}

const changesOf =
  (run) =>
  ({ table }) => {
    const changes = { schema: "main", name: `${table}_changes` }
    const filters = [{ column: "run_id", operator: "equals", value: run }]
    return h("a", { href: tableAddress(changes, { filters }) }, table)
  }

const resourceColumns = [
  "resource",
  ["Location", ({ location }) => nameOf(location)],
  ["Status", ({ status }) => badge(status)],
  ["Reasons", ({ reasons }) => reasons.join(" ")],
  "mode",
  "requests",
  "pages",
  "records",
  "new",
  "changed",
  "deleted"
]
