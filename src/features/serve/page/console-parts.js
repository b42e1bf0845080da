/** What the views of the console share: times and states in words, tables, forms, and buttons that act. */
import { attempt as attemptWith, button, gridBox, h, number } from "./dom.js"
import { current, isOwner } from "./console-state.js"
import { request } from "./service.js"

export const duration = (milliseconds) => {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${number(Math.round(minutes / 6) / 10)} h`
}

export const ago = (instant) => {
  if (!instant) return "never"
  const passed = Date.now() - Date.parse(instant)
  if (passed < 0) return `in ${duration(-passed)}`
  return passed < 172_800_000 ? `${duration(passed)} ago` : `${number(Math.floor(passed / 86_400_000))} days ago`
}

/** @type {Intl.DateTimeFormatOptions} */
const parts = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }
/** In the time zone of the schedule, or else of the browser. */
export const timeText = (instant, timeZone = current().schedule?.timeZone) =>
  new Date(instant).toLocaleString("en-GB", { ...parts, timeZone })

export const time = (instant) =>
  instant ? h("time", { dateTime: instant, title: timeText(instant) }, ago(instant)) : h("span.muted", "never")

/** `of`: the words for each limit. */
export const rangeText = ({ likely, min, max }, of = number) => {
  if (likely !== undefined && min !== max) return `about ${of(likely)}`
  if (max === undefined) return `at least ${of(min)}`
  return of(min) === of(max) ? of(min) : `${of(min)} to ${of(max)}`
}

const tones = {
  ok: ["complete", "done", "ok"],
  warn: ["complete_with_warnings", "paused", "stale", "partial", "warn", "warning"],
  error: ["incomplete", "interrupted", "failed", "error"],
  busy: ["reading", "running", "stopping"]
}
export const toneOf = (state) => Object.keys(tones).find((tone) => tones[tone].includes(state)) ?? "none"

/** A state with its colour. */
export const badge = (state, text = state === "never" ? "never read" : state.replaceAll("_", " ")) =>
  h("span.badge", { "data-tone": toneOf(state) }, text)

/** The name of a location, once it has been read. */
export const nameOf = (id) => current().status?.locations?.find(({ location }) => location === id)?.name ?? id

/** The name of a value as a title: `plannedRequests` as `Planned requests`. */
export const words = (name) => {
  const text = name.replaceAll(/[_-]|(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()
  return text[0].toUpperCase() + text.slice(1)
}

const isEmpty = (value) => value === undefined || value === null || value === "" || value === false

/** A column is the name of a value, or a title and a function; one without any value is left out. Numbers stand on the right. */
export const tableOf = (columns, rows) => {
  const known = columns.map((column) => (Array.isArray(column) ? column : [words(column), (row) => row[column]]))
  const named = known.filter(([, of]) => rows.some((row) => !isEmpty(of(row))))
  const values = rows.map((row) => named.map(([, of]) => of(row)))
  const isNumber = named.map((_, at) => values.some((row) => typeof row[at] === "number"))
  const cell = (value, at) => {
    const content = plain(value)
    return h(content.length > 40 ? "td.wrap" : isNumber[at] ? "td.number" : "td", content)
  }
  const head = named.map(([title], at) => h(isNumber[at] ? "th.number" : "th", { scope: "col" }, title))
  const body = values.map((row) => h("tr", row.map(cell)))
  return h("table", h("thead", h("tr", head)), h("tbody", body))
}

/** A table below its title; nothing without rows. */
export const tablePart = (title, columns, rows) =>
  rows.length > 0 && h("div.part", h("h3", title), gridBox(title, tableOf(columns, rows)))

/** Values as tiles; those that are not there are left out. */
export const tiles = (values) => {
  const isThere = ([, value]) => value !== undefined && value !== null && value !== ""
  const tile = ([title, value]) => h("div", h("dt", title), h("dd", plain(value)))
  return h("dl.tiles", Object.entries(values).filter(isThere).map(tile))
}

/** A value of a result as a text; elements stay. */
const plain = (value) => {
  if (isEmpty(value)) return value === false ? "no" : ""
  if (value === true) return "yes"
  if (typeof value === "number") return number(value)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return timeText(value)
  if (typeof value !== "object" || value instanceof Node || value[0] instanceof Node) return value
  if (Array.isArray(value)) return value.map(plain).join("; ")
  return Object.entries(value)
    .map((pair) => pair.map(plain).join(" "))
    .join(", ")
}

/** What a command returned, whatever it is: its values, and tables of its lists. */
export const dataView = (data) => {
  const isList = ([, value]) => typeof value === "object" && value !== null
  const entries = Object.entries(data)
  const single = entries.filter((entry) => !isList(entry)).map(([name, value]) => [words(name), value])
  return [single.length > 0 && tiles(Object.fromEntries(single)), entries.filter(isList).map(listTable)]
}
const listTable = ([name, value]) => {
  const pairs = Array.isArray(value) ? value : Object.entries(value).map(([key, one]) => ({ name: key, value: one }))
  const rows = pairs.slice(0, 500).map((one) => (typeof one === "object" ? one : { [name]: one }))
  return tablePart(words(name), [...new Set(rows.flatMap(Object.keys))], rows)
}

/** Where the page does what a command does. */
const pages = { explore: "tables", status: "", serve: "", config: "settings", init: "setup" }
const tasks = ["sync", "plan", "check", "doctor", "backfill", "publish", "verify", "backup"]

/** What to do next, as a link if this page can do it: `./sluice sync` of a terminal, or a token that is to be set. */
export const nextStep = (next) => {
  if (!next) return undefined
  if (/\btoken\b/.test(next))
    return h("p", "Next: ", h("a", { href: "#/settings/tokens" }, "set a new token"), ", then sync.")
  const [whole, command = ""] = /^(?:\.\/)?sluice (\w+)(?!.*[.;,] )/.exec(next) ?? []
  const page = tasks.includes(command) ? `tasks/${command}` : pages[command]
  if (page !== undefined) return h("p", "Next: ", h("a", { href: `#/${page}` }, page === "" ? "overview" : command))
  return h("p", "Next: ", whole === undefined ? next : h("code", next))
}

export const headline = (tone, ...content) => h("div.headline", { "data-tone": tone }, h("div", content))

/** Why something could not be done, and what to do. */
export const problemBox = ({ job, message, next }) => {
  const other = job && h("p", h("a", { href: `#/job/${job.id}` }, `Show what runs: ${job.title}`))
  const element = headline("error", h("p", message), nextStep(next), other)
  element.role = "alert"
  return element
}

export const attempt = (control, box, work, failed = problemBox) => attemptWith(control, box, work, failed)

/** Buttons as [text, what to do, properties], and below them why one of them failed. A reader has none. */
export const actions = (...buttons) => {
  if (!isOwner) return undefined
  const box = h("div")
  const controls = buttons.map(([text, work, properties]) =>
    button(text, ({ currentTarget }) => attempt(currentTarget, box, work), properties)
  )
  return h("div.acting", h("div.actions", controls), box)
}
export const primary = { className: "primary" }

/** Starts a command, and shows it. */
export const start = async (task, values = {}) => {
  const { job } = await request("/api/start", { task, values })
  location.hash = `#/job/${job.id}`
}

/** When the sync runs by itself, or why it does not. */
export const nextRuns = (now) => {
  const { halted, next, paused, retryAt, timeZone, times = [] } = now ?? {}
  if (times.length === 0) return h("p", "No run is scheduled: nothing is read unless somebody starts it.")
  const one = (instant) => h("li", h("strong", timeText(instant, timeZone)), h("span.muted", ago(instant)))
  const sentence = `Every day at ${times.join(", ")} (${timeZone}).`
  const again = retryAt && ` The last run was stopped early; it continues ${ago(retryAt)}.`
  if (paused) return [h("p", sentence), headline("warn", h("p", "The schedule is paused."))]
  if (halted) return [h("p", sentence), headline("error", h("p", `It has stopped: ${halted.text}`))]
  return [h("p", sentence, again), h("ol.next-runs", { "aria-label": "The next three runs" }, next.map(one))]
}
