/** The start of the console: whether all is well, what stands, and what comes next. */
import { count, gridBox, h, number, searchField } from "./dom.js"
import { current, isLost, isOwner, jobOf, live, readState, runningJob, showAll } from "./console-state.js"
import * as part from "./console-parts.js"
import { addForm } from "./console-change.js"
import { buttonsOf, jobButtons, progressBar } from "./console-job.js"
import { tokenForm } from "./console-setup.js"
import { request } from "./service.js"

const { actions, ago, badge, nameOf, start, tablePart, time } = part

export const overview = () => (current().locations.length === 0 ? fleetOnly : ofOutput())

const fleetOnly = [
  h("h2", "A fleet"),
  h("p", "Its workers read the ", h("a", { href: "#/locations" }, "locations"), ".")
]

const ofOutput = () => {
  const found = h("div.part")
  const showPlaces = (wanted = search.value.trim().toLowerCase()) => found.replaceChildren(...placesLike(wanted))
  const search = searchField("Find a location", showPlaces)
  const places = h("div.part", h("h3", "Locations"), search, found)
  return [
    live(
      h("div.part"),
      ({ headline, statusAt, statusProblem }) => [headline, statusAt, statusProblem, isLost()],
      summary
    ),
    live(h("div.part"), workOf, workNow),
    live(h("div.part"), ({ status }) => status, alarmsNow),
    live(h("div.part"), figuresOf, figures),
    live(
      places,
      ({ requestsToday, status }) => [requestsToday, status?.verdict.locations, [...contactsOf(status)]],
      ([, all]) => {
        search.hidden = (all?.length ?? 0) <= searchedMin
        places.hidden = all === undefined
        showPlaces()
        return [...places.childNodes]
      }
    ),
    live(h("div.part"), (state) => ({ ...state, jobs: undefined }), standing)
  ]
}
/** So few locations are seen at once. */
const searchedMin = 8

const marks = { ok: ["✓", "All is well: "], warn: ["!", "Warning: "], error: ["✕", "Problem: "], none: ["–", ""] }

const summary = ([headline, statusAt, statusProblem, lost]) => {
  const known = headline ?? { level: "none", text: "Nothing has been read yet." }
  // What a server that is gone said last is no statement about now.
  const [level, text] = lost ? ["none", "The console does not answer."] : [known.level, known.text]
  const [mark, word] = marks[level]
  const sign = h("span.mark", { "aria-hidden": "true" }, mark)
  const asOf = lost ? `${ago(statusAt)} it said: ${known.text}` : `As of ${ago(statusAt)}.`
  const words = h("div", h("h2", h("span.hidden", word), text), statusAt && h("p.muted", asOf))
  return [h("div.headline", { "data-tone": level }, sign, words), statusProblem && part.problemBox(statusProblem)]
}

const workOf = ({ holder, schedule, status }) => {
  const { id, title } = runningJob() ?? {}
  return { id, title, holder: holder ?? status?.holder, halted: schedule?.halted }
}
const workNow = ({ halted, holder, id, title }) => [halted && haltedNote(halted), cardOf(id, title, holder)]

const haltedNote = ({ text }) => {
  const resume = ["Resume the schedule", () => request("/api/schedule/resume", {})]
  const [why, next] = text.split(" Next: ")
  return part.headline("error", h("p", `The schedule has stopped: ${why}`), part.nextStep(next), actions(resume))
}

const cardOf = (id, title, holder) => {
  const now = () => jobOf(id)
  const state = ({ state: one }) => badge(one)
  if (id !== undefined)
    return h(
      "div.card",
      h("h3", h("a", { href: `#/job/${id}` }, title), " ", live(h("span"), now, state)),
      // The names of locations may come later.
      live(h("div.part"), ({ status }) => ({ ...now(), names: status?.locations }), progressBar),
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

/** What is wrong, each once and with its way out: an alarm says what the status says of a location. */
const alarmsNow = (status) => {
  const { alarms = [], unanswered = [], verdict } = status ?? {}
  const causes = verdict?.causes ?? []
  const causeOf = ({ message, subject }) =>
    causes.find(({ kind, location, text }) => message === text || (kind === "unreadable" && location === subject))
  const told = new Set(alarms.map(causeOf))
  const others = causes.filter((cause) => !told.has(cause))
  return [
    alarms.length > 0 &&
      h(
        "div.part",
        h("h3", alarmTitle(alarms)),
        h(
          "ul.alarms",
          alarms.map((one) => alarmCard(one, causeOf(one)))
        )
      ),
    tablePart("What is missing, or late", causeColumns, others),
    unanswered.map(({ place, problem, since }) =>
      h("p", badge("warning"), ` The ${place} has not answered since `, time(since), `: ${problem}.`)
    )
  ]
}

const alarmTitle = (alarms) => {
  const silenced = alarms.filter((one) => one.silenced).length
  return `${count(alarms.length - silenced, "alarm")}${silenced > 0 ? `, and ${number(silenced)} silenced` : ""}`
}

const alarmCard = ({ alarm, level, message, next, silenced, since }, cause) =>
  h(
    "li.card",
    h("p", badge(silenced ? "silenced" : level), " ", h("strong", message), h("span.muted", " since ", time(since))),
    silenced ? h("p.muted", silenced) : wayOut({ ...cause, next }),
    !silenced &&
      isOwner &&
      h("details", h("summary", "Silence"), addForm("silence", silenceFields, [], readState, { alarm }))
  )
const silenceFields = [
  { name: "reason", kind: "text", required: true, description: "Why nobody needs to hear of it." },
  { name: "until", kind: "date", required: true, description: "The last day." }
]

/** For whoever has the page in front of them. */
const wayOut = ({ kind, location, next }) => (kind === "unreadable" && tokenForm(location)) || part.nextStep(next)

const causeColumns = [
  ["What", ({ text }) => text],
  ["Next", (cause) => [wayOut(cause)]]
]

let counted = new Map()
let countedFor
/** The contacts of each location that exist, counted by the release again after each run; none before the first. */
const contactsOf = (status) => {
  const run = status?.lastRun?.id
  if (run === undefined || run === countedFor) return counted
  countedFor = run
  const sql = "SELECT location_id, count(*) AS n FROM contacts WHERE _deleted_at IS NULL GROUP BY ALL"
  request("/api/query", { sql }).then(
    ({ rows }) => {
      counted = new Map(rows.map(([location, n]) => [location, Number(n)]))
      showAll()
    },
    // The release of a first run may be a moment away.
    () => setTimeout(() => (countedFor = undefined), 5000)
  )
  return counted
}

const figuresOf = ({ requestsToday, schedule, status }) => {
  const contacts = [...contactsOf(status).values()]
  return { contacts, requestsToday, schedule, status }
}

const figures = ({ contacts, requestsToday, schedule, status }) => {
  if (!status) return undefined
  const { bytes, changes, lastRun, totals } = status
  const [next] = schedule?.next ?? []
  const address = lastRun && `#/run/${encodeURIComponent(lastRun.id)}`
  const last = lastRun && h("a", { href: address }, ago(lastRun.finishedAt ?? lastRun.startedAt))
  return part.tiles({
    "Last run": lastRun && [badge(lastRun.status), last],
    "What it brought": lastRun && changesText(changes),
    "Next run": next ? part.timeText(next) : schedule?.halted ? "stopped" : schedule?.paused ? "paused" : "not set",
    Contacts: contacts.length > 0 ? contacts.reduce((all, one) => all + one, 0) : undefined,
    "Rows in all tables": totals?.rows,
    "Requests today": requestsToday?.reduce((all, { requests }) => all + requests, 0),
    Disk: `${number(Math.ceil(bytes / 1e6))} MB`
  })
}
const changesText = ({ changed, deleted, new: added }) =>
  [
    [added, "new"],
    [changed, "changed"],
    [deleted, "deleted"]
  ]
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${number(n)} ${word}`)
    .join(", ") || "nothing new"

const placesLike = (wanted) => {
  const { requestsToday, status } = current()
  const isLike = ({ location }) => `${location} ${nameOf(location)}`.toLowerCase().includes(wanted)
  const found = (status?.verdict.locations ?? []).filter(isLike)
  const today = (id) => requestsToday?.find(({ location }) => location === id)?.requests
  if (found.length === 0) return [h("p.empty", "No location is like this.")]
  return [gridBox("Locations", part.tableOf(locationColumns(today, contactsOf(status)), found))]
}

const stateOf = ({ complete, of, oldestAt }) => {
  if (complete === of && of > 0) return badge("complete")
  return oldestAt === undefined ? badge("never") : badge("incomplete", `${number(of - complete)} not complete`)
}
/** A location is as fresh as its oldest resource. */
const locationColumns = (today, contacts) => [
  ["Location", ({ location: id }) => h("span", nameOf(id), nameOf(id) !== id && h("span.muted", ` ${id}`))],
  ["State", stateOf],
  ["Oldest data", ({ oldestAt }) => time(oldestAt)],
  ["Contacts", ({ location }) => contacts.get(location)],
  ["Requests today", ({ location }) => today(location)]
]

const standing = ({ output, schedule, settingsFile, status, version }) => {
  const change = h(
    "a",
    { href: "#/settings/when" },
    schedule?.times.length > 0 ? "Change the schedule" : "Set a schedule"
  )
  return [
    tablePart("Targets", targetColumns, status?.targets ?? []),
    h(
      "div.part",
      h("h3", "Schedule"),
      h("div.card", part.nextRuns(schedule && { ...schedule, halted: undefined }), h("p", change))
    ),
    h("p.muted", `sluice ${version}; settings in ${settingsFile}, tables in ${output}.`)
  ]
}

const targetColumns = [
  ["Target", ({ name }) => name],
  ["State", ({ failedSince }) => badge(failedSince ? "failed" : "ok", failedSince ? "failed" : "up to date")],
  ["Delivered", ({ deliveredAt }) => time(deliveredAt)],
  ["Problem", ({ failedSince, problem }) => failedSince && `${problem} Since ${ago(failedSince)}.`]
]
