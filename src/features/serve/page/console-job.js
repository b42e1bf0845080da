/** One piece of work: its progress while it runs, its messages, and what came of it. */
import { count, h, number } from "./dom.js"
import { jobOf, live, logOf, readJob } from "./console-state.js"
import * as part from "./console-parts.js"
import { request } from "./service.js"

const { badge, duration, nameOf, rangeText } = part

export const job = async ([id]) => {
  await readJob(id)
  const now = () => jobOf(id)
  const grid = part.gridBox("Resources")
  const resources = h("div.part", h("h3", "Resources"), grid)
  const table = ({ progress, state }) => {
    const rows = progress?.resources ?? []
    resources.hidden = rows.length === 0
    return part.tableOf(columnsOf(state, rows), rows.toSorted(byRank(state)))
  }
  live(grid, now, table)
  const log = h("div.log", { role: "log", "aria-live": "off", "aria-label": "Messages", tabIndex: 0 })
  const lines = () => logOf(id)
  return [
    h("h2", now().title),
    live(h("div.part"), now, summary),
    live(h("div.part"), now, progressBar),
    live(h("div.part"), buttonsOf(id), jobButtons),
    live(h("div.part"), now, resultParts),
    h("div.beside", resources, h("div.part", h("h3", "Messages"), live(log, lines, messagesIn(log))))
  ]
}

const starters = { console: "from this page", schedule: "by the schedule", terminal: "in a terminal" }
const isEnded = (state) => state === "ended"

const summary = ({ by, endedAt, exitCode = "unknown", level = "none", line, startedAt, state, text }) => {
  const took = endedAt && `, took ${duration(Date.parse(endedAt) - Date.parse(startedAt))}`
  const begun = h("p", h("code", line), ` started ${starters[by]} `, part.time(startedAt), took)
  if (!isEnded(state)) return [begun, h("p", badge(state), state === "stopping" && "It saves what it has read.")]
  const how = [h("strong", text ?? "It has ended."), h("span.muted", ` Exit code ${exitCode}.`)]
  return [begun, part.headline(level, h("p", how))]
}

/** What the buttons depend on: a button that is replaced while it is pressed does nothing. */
export const buttonsOf = (id) => () => ({ id, state: jobOf(id).state })
const stopTitle = "What was read is saved; the next sync resumes there."
export const jobButtons = ({ id, state }) =>
  state === "running" && part.actions(["Stop", () => request("/api/stop", { id }), { title: stopTitle }])

const reasons = { rateLimit: "waits for the rate limit", refused: "waits, because the service refused a request" }

/** As the display of a terminal: a bar, and the sums. */
export const progressBar = ({ progress, state }) => {
  if (!progress || isEnded(state)) return undefined
  const { budgets = [], leftMs, planned, records = 0, requests, waiting } = progress
  const max = planned && Math.max(planned.max ?? planned.min, requests)
  const budget = ({ burst, inWindow, leftToday, location }) => {
    const left = leftToday === undefined ? "" : `, ${number(leftToday)} left today`
    return `${budgets.length > 1 ? `${nameOf(location)}: ` : ""}budget ${inWindow}/${burst}${left}`
  }
  const sums = [
    `${number(requests)}${planned ? ` of ${rangeText(planned)}` : ""} requests`,
    count(records, "record"),
    leftMs && `${rangeText(leftMs, duration)} left`,
    ...budgets.map(budget),
    waiting && `${reasons[waiting.reason] ?? waiting.reason}, ${duration(waiting.waitMs)}`
  ]
  const bar = h("progress", { "aria-label": "Requests", ...(max && { max, value: requests }) })
  return [bar, h("p.sums", ...sums.map((text) => text && h("span", text)))]
}

const order = ["reading", "incomplete", "interrupted", "complete_with_warnings", "complete", "waiting", "not begun"]
const byRank = (jobState) => (one, other) => {
  const rank = (row) => order.indexOf(stateOf(jobState, row))
  return rank(one) - rank(other)
}

/** What waits for its parents or for the rate limit has no requests; what ended with the work is not read to its end. */
const stateOf = (jobState, { requests, state }) => {
  if (state !== "reading" && state !== "waiting") return state
  if (requests === 0) return isEnded(jobState) ? "not begun" : "waiting"
  return isEnded(jobState) ? "interrupted" : state
}

const columnsOf = (jobState, rows) =>
  [
    "resource",
    ["State", (row) => badge(stateOf(jobState, row))],
    "pages",
    "records",
    "requests",
    ["Planned", ({ planned }) => planned && rangeText(planned)],
    ["Location", ({ location }) => nameOf(location)]
  ].slice(0, rows.every(({ location }) => location === rows[0].location) ? -1 : undefined)

const resultParts = ({ applies, documents = [], next, progress, result }) => {
  const files = documents.map((name) => h("a", { href: `/exports/${encodeURIComponent(name)}`, download: name }, name))
  const sentence = h("p", "This page removes nothing. The command that applies this plan:")
  const run =
    result?.run && h("p", h("a", { href: `#/run/${encodeURIComponent(result.run)}` }, "What this run changed"))
  return [
    applies && part.headline("warn", sentence, h("pre.command", applies)),
    files.length > 0 && h("p", "Written: ", ...files),
    run,
    part.nextStep(next),
    result && h("details.part", { open: !progress }, h("summary", "Result"), part.dataView(result))
  ]
}

/** The newest message stays in sight, unless somebody looks at earlier ones. */
const messagesIn = (box) => (lines) => {
  const isAtEnd = box.scrollTop + box.clientHeight > box.scrollHeight - 30
  if (isAtEnd) requestAnimationFrame(() => (box.scrollTop = box.scrollHeight))
  const line = ({ level, message }) => h("p", { "data-tone": part.toneOf(level) }, message)
  return lines.length === 0 ? h("p.muted", "None.") : lines.map(line)
}
