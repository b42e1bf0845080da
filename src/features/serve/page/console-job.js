/** One piece of work: its progress while it runs, its messages, and what came of it. */
import { parsed } from "./address.js"
import { count, gridBox, h, number, present } from "./dom.js"
import { jobOf, live, logOf, readJob } from "./console-state.js"
import * as part from "./console-parts.js"
import { runParts, starters } from "./console-runs.js"
import { request } from "./service.js"

const { badge, duration, nameOf, rangeText } = part

export const job = async ([id]) => {
  await readJob(id)
  const now = () => jobOf(id)
  const grid = gridBox("Resources")
  const resources = h("div.part", h("h3", "Resources"), grid)
  const table = ({ progress, state }) => {
    const rows = progress?.resources ?? []
    // After its end, the parts of the run say it.
    resources.hidden = rows.length === 0 || (isEnded(state) && now().run !== undefined)
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
    live(h("div.part"), () => isEnded(now().state) && now().run, runPart()),
    h("div.beside", resources, h("div.part", h("h3", "Messages"), live(log, lines, messagesIn(log))))
  ]
}

/** What the run of the work did, once it has ended: read once. */
const runPart = () => {
  let shown
  return (run) => {
    if (!run) return undefined
    shown ??= h("div.part", h("p.muted", "Reading what it did…"))
    if (!runs.has(run)) runs.set(run, runParts(run))
    runs.get(run).then(
      (parts) => shown.replaceChildren(...present([parts])),
      () => shown.replaceChildren()
    )
    return shown
  }
}
const runs = new Map()

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
export const progressBar = ({ progress, state = /** @type {string | undefined} */ (undefined) }) => {
  if (!progress || isEnded(state)) return undefined
  const { budgets = [], isPublishing, leftMs, planned, records = 0, requests, waiting } = progress
  // As the words beside it: of the likely number, where one is known.
  const max = planned && !isPublishing && Math.max(planned.likely ?? planned.max ?? planned.min, requests)
  const budget = ({ burst, inWindow, leftToday, location }) => {
    const left = leftToday === undefined ? "" : `, ${number(leftToday)} left today`
    return `${budgets.length > 1 ? `${nameOf(location)}: ` : ""}budget ${inWindow}/${burst}${left}`
  }
  const sums = [
    `${number(requests)}${planned ? ` of ${rangeText(planned)}` : ""} requests`,
    count(records, "record"),
    isPublishing ? "publishing" : leftMs && `${rangeText(leftMs, duration)} left`,
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

const columnsOf = (jobState, rows) => {
  const isOfSeveral = rows.some(({ location }) => location !== rows[0].location)
  const place = ({ location }) => isOfSeveral && h("span.muted", ` ${nameOf(location)}`)
  return [
    ["Resource", (row) => h("span", row.resource, place(row))],
    ["State", (row) => badge(stateOf(jobState, row))],
    "pages",
    "records",
    "requests",
    ["Planned", ({ planned }) => planned && rangeText(planned)]
  ]
}

const resultParts = ({ applies, documents = [], next, progress, result, run }) => {
  const files = documents.map((name) => h("a", { href: `/exports/${encodeURIComponent(name)}`, download: name }, name))
  const sentence = h("p", "This page removes nothing. The command that applies this plan:")
  return [
    applies && part.headline("warn", sentence, h("pre.command", applies)),
    files.length > 0 && h("p", "Written: ", ...files),
    part.nextStep(next),
    result && h("details.part", { open: !progress && !run }, h("summary", "Result"), part.dataView(result))
  ]
}

/** A line of the log as a sentence, with the rest of what it says beside it. */
const messageParts = (line) => {
  const [, time, before, quoted, after] =
    /^time=\S+T([\d:]+)\S* level=\S+ (.*?)message=("(?:[^"\\]|\\.)*")(.*)$/.exec(line) ?? []
  if (quoted === undefined) return line
  return [h("span.muted", `${time} `), parsed(quoted) ?? quoted, h("span.muted", ` ${before}${after.trim()}`)]
}

/** The newest message stays in sight, unless somebody looks at earlier ones. */
const messagesIn = (box) => (lines) => {
  const isAtEnd = box.scrollTop + box.clientHeight > box.scrollHeight - 30
  if (isAtEnd) requestAnimationFrame(() => (box.scrollTop = box.scrollHeight))
  const line = ({ level, message }) => h("p", { "data-tone": part.toneOf(level) }, messageParts(message))
  return lines.length === 0 ? h("p.muted", "None.") : lines.map(line)
}
