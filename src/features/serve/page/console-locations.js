/** The locations of a fleet, by state. */
import { button, count, gridBox, h, number, searchField } from "./dom.js"
import { attempt, badge, tableOf, time } from "./console-parts.js"
import { isOwner } from "./console-state.js"
import { request } from "./service.js"

const shownLocations = 500

export const locations = async () => {
  const list = h("div.part")
  const box = h("div")
  let later
  const search = searchField("Find a location", () => {
    clearTimeout(later)
    later = setTimeout(() => attempt(states, box, read), 300)
  })
  const states = h("div.group", { role: "group", "aria-label": "State" })
  let state
  const stateButton = (value, text, total) => {
    const choose = () => {
      state = value
      return attempt(states, box, read)
    }
    return button(`${text} ${number(total)}`, choose, { "aria-pressed": String(state === value) })
  }
  const read = async () => {
    const { counts, locations: every } = await request("/api/fleet", {})
    const wanted = search.value.trim().toLowerCase()
    const isLike = ({ location, name = "" }) => `${location} ${name}`.toLowerCase().includes(wanted)
    const found = every.filter((one) => isLike(one) && (state === undefined || one.state === state))
    const all = Object.values(counts).reduce((sum, one) => sum + one, 0)
    states.replaceChildren(
      stateButton(undefined, "all", all),
      ...Object.entries(counts).map(([name, total]) => stateButton(name, name, total))
    )
    list.replaceChildren(
      found.length === 0
        ? h("p.empty", all === 0 ? "The fleet has no locations yet." : "No location is like this.")
        : gridBox("Locations", tableOf(columnsOf(act), found.slice(0, shownLocations))),
      found.length > shownLocations
        ? h("p.muted", `The first ${shownLocations} of ${count(found.length, "location")}.`)
        : ""
    )
  }
  const act = (action, verb, location, name) => {
    const work = () => request("/api/fleet/act", { action, location }).then(read)
    const click = ({ currentTarget }) => attempt(currentTarget, box, work)
    return button(verb, click, { className: "small", "aria-label": `${verb}: ${name}` })
  }
  await read()
  return [h("h2", "Locations"), h("div.actions", search, states), box, list]
}

const columnsOf = (act) => [
  ["Location", ({ location, name }) => h("span", name ?? location, name && h("span.muted", ` ${location}`))],
  ["State", ({ paused, state }) => [badge(state), paused && badge("paused")].filter(Boolean)],
  ...(isOwner
    ? [
        [
          "Do",
          ({ location, name = location, paused, state }) => [
            act("enqueue", state === "failed" ? "Retry" : "Run now", location, name),
            paused ? act("resume", "Resume", location, name) : act("pause", "Pause", location, name)
          ]
        ]
      ]
    : []),
  ["Fresh", ({ freshAt }) => time(freshAt)],
  "attempts",
  "requestsLeft",
  ["Why", ({ message }) => message],
  ["Again", ({ notBefore }) => notBefore && time(notBefore)]
]
