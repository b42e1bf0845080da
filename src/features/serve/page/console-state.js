/** The state of the console as the server sends it, and the parts of the page that show it. */
import { present } from "./dom.js"
import { request } from "./service.js"

/** A reader of the console is offered nothing that acts; the server refuses it as well. */
export const isOwner = document.body.dataset.console === "owner"

let state
const jobs = new Map()
const logs = new Map()
const parts = new Set()

export const current = () => state

/** A piece of work as far as it is known, and its messages. */
export const jobOf = (id) => jobs.get(id)
export const logOf = (id) => logs.get(id) ?? []
export const runningJob = () => state.jobs.find((job) => job.state !== "ended")

/** Fills an element with what `of` says now, and again when that is something else, as long as it is on the page. */
export const live = (element, of, render) => {
  let before
  let wasShown = false
  const show = () => {
    wasShown ||= element.isConnected
    if (wasShown && !element.isConnected) return parts.delete(show)
    const value = of(state)
    // Texts say how long ago something was.
    const text = JSON.stringify([value, Math.floor(Date.now() / 30_000)])
    // Nobody loses what they are typing.
    if (text === before || (element.contains(document.activeElement) && document.activeElement?.matches("input")))
      return undefined
    before = text
    const at = controlsIn(element).indexOf(document.activeElement)
    element.replaceChildren(...present([render(value)]))
    if (at >= 0) controlsIn(element)[at]?.focus()
    return undefined
  }
  parts.add(show)
  show()
  return element
}
const controlsIn = (element) => Array.from(element.querySelectorAll("a, button, input, [tabindex]"))
export const showAll = () => {
  for (const show of parts) show()
}
setInterval(() => state && showAll(), 30_000)

export const readState = async () => {
  take(await request("/api/console"))
  showAll()
}
const take = (next) => {
  // The events do not repeat what only the first answer has.
  state = { needsPassword: state?.needsPassword, ...next }
  for (const job of next.jobs) jobs.set(job.id, { ...jobs.get(job.id), ...job })
}

/** Reads a piece of work with its messages. */
export const readJob = async (id) => {
  const { log, ...job } = await request("/api/job", { id })
  jobs.set(id, job)
  logs.set(id, log)
  showAll()
}

let lost
let gone = false
/** Whether the server does not answer. */
export const isLost = () => gone
const setGone = (is) => {
  gone = is
  showAll()
}
/**
 * Follows the server while the page is seen; a browser has few connections to a server for all its pages. `onConnection`: called
 * with whether it answers, and later with each change of that.
 */
export const connect = (onConnection) => {
  const source = new EventSource("/api/events")
  const on = (name, handle) =>
    source.addEventListener(name, ({ data }) => {
      handle(JSON.parse(data))
      showAll()
    })
  on("state", take)
  on("job", (job) => jobs.set(job.id, job))
  on("log", ({ id, isWhole, lines }) => logs.set(id, [...(isWhole ? [] : logOf(id)), ...lines].slice(-300)))
  source.addEventListener("open", () => {
    clearTimeout(lost)
    lost = undefined
    setGone(false)
    onConnection(true)
  })
  source.addEventListener("error", () => {
    lost ??= setTimeout(() => {
      setGone(true)
      onConnection(false)
    }, 3000)
    if (source.readyState !== EventSource.CLOSED) return
    // A browser gives up after an answer that is an error; a request finds out which.
    const again = () => setTimeout(whenSeen, 3000)
    request("/api/console").then(again, again)
  })
  const whenSeen = () => {
    if (!document.hidden) return connect(onConnection)
    return document.addEventListener("visibilitychange", whenSeen, { once: true })
  }
  const whenHidden = () => {
    if (source.readyState === EventSource.CLOSED) return
    source.close()
    whenSeen()
  }
  document.addEventListener("visibilitychange", whenHidden, { once: true })
}
