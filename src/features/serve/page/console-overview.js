/** The start of the console: whether all is well, what stands, and what comes next. */
import { count, h, number } from "./dom.js"
import { current, isOwner, jobOf, live, readState, runningJob } from "./console-state.js"
import * as part from "./console-parts.js"
import { proposeChange } from "./console-change.js"
import { buttonsOf, jobButtons, progressBar } from "./console-job.js"
import { nextRuns } from "./console-schedule.js"
import { request } from "./service.js"

const { actions, ago, badge, field, formOf, input, nameOf, start, tablePart, time } = part

export const overview = () => (current().locations.length === 0 ? fleetOnly : ofOutput())

const fleetOnly = [
  h("h2", "A fleet"),
  h("p", "Its workers read the ", h("a", { href: "#/locations" }, "locations"), ".")
]

const ofOutput = () => [
  live(h("div.part"), ({ headline, statusAt, statusProblem }) => ({ headline, statusAt, statusProblem }), summary),
  live(h("div.part"), workOf, workNow),
  live(h("div.part"), (state) => ({ ...state, jobs: undefined }), standing)
]

const marks = { ok: ["✓", "All is well: "], warn: ["!", "Warning: "], error: ["✕", "Problem: "], none: ["–", ""] }

const summary = ({ headline, statusAt, statusProblem }) => {
  const { level, text } = headline ?? { level: "none", text: "Nothing has been read yet." }
  const [mark, word] = marks[level]
  const sign = h("span.mark", { "aria-hidden": "true" }, mark)
  const words = h("div", h("h2", h("span.hidden", word), text), statusAt && h("p.muted", `As of ${ago(statusAt)}.`))
  return [h("div.headline", { "data-tone": level }, sign, words), statusProblem && part.problemBox(statusProblem)]
}

const workOf = ({ holder, schedule, status }) => {
  const { id, title } = runningJob() ?? {}
  return { id, title, holder: holder ?? status?.holder, halted: schedule?.halted }
}
const workNow = ({ halted, holder, id, title }) => [halted && haltedNote(halted), cardOf(id, title, holder)]

const haltedNote = ({ text }) => {
  const resume = ["Resume the schedule", () => request("/api/schedule/resume", {})]
  return part.headline("error", h("p", `The schedule has stopped: ${text}`), actions(resume))
}

const cardOf = (id, title, holder) => {
  const now = () => jobOf(id)
  const state = ({ state: one }) => badge(one)
  if (id !== undefined)
    return h(
      "div.card",
      h("h3", h("a", { href: `#/job/${id}` }, title), " ", live(h("span"), now, state)),
      live(h("div.part"), now, progressBar),
      live(h("div.part"), buttonsOf(id), jobButtons)
    )
  if (!holder?.pid && !holder?.isRun)
    return actions(
      ["Sync now", () => start("sync"), part.primary],
      ["Plan", () => start("plan")],
      ["Check", () => start("check")]
    )
  const { command = "", pid = "of another machine", requests } = holder
  return h(
    "div.card",
    h("h3", "A run that was started elsewhere ", badge("running")),
    h("p", h("code", command), ` Process ${pid}.`),
    requests !== undefined && progressBar({ progress: holder })
  )
}

const isWhole = (state) => state === "complete" || state === "complete_with_warnings"
const isProblem = ({ isStale, state }) => isStale || !isWhole(state)

const standing = ({ locations, output, requestsToday, schedule, settingsFile, status, version }) => {
  const { alarms = [], readings = [], targets = [] } = status ?? {}
  const problems = readings.filter(isProblem)
  const change = h("a", { href: "#/schedule" }, schedule?.times.length > 0 ? "Change the schedule" : "Set a schedule")
  return [
    alarms.length > 0 && h("div.part", h("h3", alarmTitle(alarms)), h("ul.alarms", alarms.map(alarmCard))),
    status && figures(status, problems, requestsToday, schedule),
    status && tablePart("Locations", locationColumns(readings, requestsToday), locations),
    tablePart(`${count(problems.length, "resource")} not complete, or late`, problemColumns, problems.slice(0, 20)),
    problems.length > 20 && h("p.muted", "The first 20; ./sluice status shows all."),
    tablePart("Targets", targetColumns, targets),
    h(
      "div.part",
      h("h3", "Schedule"),
      h("div.card", nextRuns(schedule && { ...schedule, halted: undefined }), h("p", change))
    ),
    h("p.muted", `sluice ${version}; settings in ${settingsFile}, tables in ${output}.`)
  ]
}

const figures = ({ disk, lastRun, readings }, problems, requestsToday, schedule) => {
  const [next] = schedule?.next ?? []
  const address = lastRun && `#/run/${encodeURIComponent(lastRun.id)}`
  const last = lastRun && h("a", { href: address }, ago(lastRun.finishedAt ?? lastRun.startedAt))
  const bytes = Object.values(disk).reduce((sum, one) => sum + one, 0)
  return part.tiles({
    "Last run": lastRun && [badge(lastRun.status), last],
    "Next run": next ? part.timeText(next) : schedule?.halted ? "stopped" : schedule?.paused ? "paused" : "not set",
    "Requests today": requestsToday?.reduce((sum, { requests }) => sum + requests, 0),
    "Resources complete": `${number(readings.length - problems.length)} of ${number(readings.length)}`,
    Disk: `${number(Math.ceil(bytes / 1e6))} MB`
  })
}

const alarmTitle = (alarms) => {
  const silenced = alarms.filter((one) => one.silenced).length
  return `${count(alarms.length - silenced, "alarm")}${silenced > 0 ? `, and ${number(silenced)} silenced` : ""}`
}

const alarmCard = ({ alarm, level, message, next, silenced, since }) =>
  h(
    "li.card",
    h("p", badge(silenced ? "silenced" : level), " ", h("strong", alarm), h("span.muted", " since ", time(since))),
    h("p", message),
    silenced ? h("p.muted", silenced) : part.nextStep(next),
    !silenced && isOwner && silenceForm(alarm)
  )

/** The alarm stays here and is not reported, for a reason and until a day. */
const silenceForm = (alarm) => {
  const reason = input({ required: true })
  const until = input({ required: true, type: "date" })
  const propose = () => {
    const values = { alarm, reason: reason.value.trim(), until: until.value }
    return proposeChange({ add: { list: "silence", values } }, readState)
  }
  const fields = [field("Reason", "Why nobody needs to hear of it.", reason), field("Until", "The last day.", until)]
  return h("details", h("summary", "Silence"), formOf("Show the change", fields, propose))
}

/** A location is as fresh as its oldest resource. */
const locationColumns = (readings, requestsToday) => {
  const of = (id) => readings.filter(({ location }) => location === id)
  const stateOf = (all) => {
    const problems = all.filter(isProblem).length
    if (all.every(({ state }) => state === "never")) return badge("never")
    return problems === 0 ? badge("complete") : badge("incomplete", `${number(problems)} not complete`)
  }
  const oldest = (all) => all.map(({ completeAt }) => completeAt ?? "").toSorted()[0]
  const today = (id) => requestsToday?.find(({ location }) => location === id)
  return [
    ["Location", ({ id }) => h("span", nameOf(id), nameOf(id) !== id && h("span.muted", ` ${id}`))],
    ["State", ({ id }) => stateOf(of(id))],
    ["Oldest resource", ({ id }) => time(oldest(of(id)))],
    ["Resources", ({ id }) => of(id).length],
    ["Requests today", ({ id }) => today(id)?.requests],
    ["Left today", ({ id }) => today(id)?.leftToday]
  ].slice(0, requestsToday ? undefined : -2)
}

const problemColumns = [
  "resource",
  ["State", ({ isStale, state }) => badge(isStale && isWhole(state) ? "stale" : state)],
  ["Read completely", ({ completeAt }) => time(completeAt)],
  ["Location", ({ location }) => nameOf(location)],
  ["Why", ({ warnings }) => warnings.join(" ")]
]

const targetColumns = [
  ["Target", ({ name }) => name],
  ["State", ({ failedSince }) => badge(failedSince ? "failed" : "ok", failedSince ? "failed" : "up to date")],
  ["Delivered", ({ deliveredAt }) => time(deliveredAt)],
  ["Problem", ({ failedSince, problem }) => failedSince && `${problem} Since ${ago(failedSince)}.`]
]
