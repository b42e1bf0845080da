/** Set-up: where the account is, which locations are read, and what they become; tested before anything is written. */
import { button, h, number, present } from "./dom.js"
import {
  actions,
  badge,
  duration,
  field,
  formOf,
  input,
  primary,
  problemBox,
  rangeText,
  start
} from "./console-parts.js"
import { current, readState } from "./console-state.js"
import { request } from "./service.js"

export const setup = () => {
  const { needsPassword, needsSetup } = current()
  if (needsPassword) return passwordForm()
  return needsSetup ? accountForm() : locationForm()
}

const idText = "It is in the address of the account's pages, after /location/, for example ve9EPM428h8vShlRW1KT."
const tokenText =
  "A private integration token with read scopes. It goes into a file that only you can read, and is never shown again. Or where it is kept: env:CRM_TOKEN, file:/run/secrets/crm."

/** The fields of a location, and below them what its test found. */
const locationFields = (...more) => {
  const id = input({ required: true })
  const token = input({ required: true, type: "password" })
  const found = h("div", { role: "status" })
  return {
    element: h(
      "fieldset",
      h("legend", "Location"),
      field("Location id", idText, id),
      field("Token", tokenText, token),
      found,
      more
    ),
    value: () => ({ id: id.value.trim(), token: token.value.trim() }),
    show: (one) => found.replaceChildren(...present(one ? foundParts(one) : []))
  }
}

const foundParts = ({ findings = [], id, name, plan, problem }) => {
  if (problem) return [problemBox(problem)]
  const item = ({ check, state, todo, what }) =>
    h("li", badge(state === "problem" ? "error" : state, check), what, todo && ` ${todo}`)
  const [wrong, right] = [false, true].map((is) => findings.filter(({ state }) => (state === "ok") === is).map(item))
  return [
    h("p", badge("ok", `Reached ${name ?? id}.`)),
    h("ul", wrong),
    h("details", { hidden: right.length === 0 }, h("summary", "What else was tested"), h("ul", right)),
    plan && h("p", planText(plan))
  ]
}
const planText = ({ elapsedMs, likely, requests }) =>
  likely
    ? `The first sync takes about ${number(likely.requests)} requests and ${duration(likely.elapsedMs)}.`
    : `The first sync takes ${rangeText(requests)} requests${elapsedMs ? ` and ${rangeText(elapsedMs, duration)}` : ""}.`

/** A form whose button tests what was entered, and once that is well, writes it. */
const testedForm = (text, content, { test, value, write }) => {
  let tested
  const say = (words) => (form.querySelector(".primary").textContent = words)
  const sayNext = () => say(tested === JSON.stringify(value()) ? text : "Test")
  const work = async () => {
    const given = value()
    if (tested === JSON.stringify(given)) return write(given)
    say("Testing…")
    if (await test(given).finally(sayNext)) tested = JSON.stringify(given)
    return sayNext()
  }
  const form = formOf("Test", content, work)
  form.addEventListener("input", sayNext)
  return form
}

const formats = {
  duckdb: "DuckDB: one file for SQL, from which this page shows the tables",
  parquet: "Parquet: a file for each table",
  csv: "CSV: a file for each table"
}

const accountForm = () => {
  const address = input({ required: true, type: "url" })
  const boxes = Object.keys(formats).map((name) => h("input", { type: "checkbox", checked: true, value: name }))
  const list = h("div.form")
  const places = new Set()
  const changed = () => form.dispatchEvent(new Event("input"))
  const addPlace = () => {
    const remove = () => {
      places.delete(place)
      place.element.remove()
      changed()
    }
    const place = locationFields(places.size > 0 && h("div.actions", button("Remove", remove)))
    places.add(place)
    list.append(place.element)
    return place
  }
  addPlace()
  const addAnother = () => {
    addPlace().element.querySelector("input").focus()
    changed()
  }
  const value = () => ({
    baseUrl: address.value.trim(),
    locations: Array.from(places, (place) => place.value()),
    formats: boxes.filter(({ checked }) => checked).map((box) => box.value)
  })
  const test = async (given) => {
    const { locations } = await request("/api/setup/check", given)
    for (const [index, place] of [...places].entries()) place.show(locations[index])
    return locations.every(({ problem }) => !problem)
  }
  const write = async (given) => {
    const { file } = await request("/api/setup", given)
    await readState()
    form.closest("section").replaceChildren(...writtenParts(file))
  }
  const content = [
    field("Address of the API", addressText, address),
    list,
    h("div.actions", button("Add another location", addAnother)),
    h("fieldset", h("legend", "Formats"), ...boxes.map((box) => h("label.check", box, formats[box.value])))
  ]
  const form = testedForm("Write the settings", content, { test, value, write })
  return [h("h2", "Set up sluice"), h("p", setupText), form]
}

const addressText = "Where the API of the Account Platform is, for example https://services.example.com"
const setupText =
  "sluice copies an account into tables on this machine, and never writes to the account. What you enter is tested before anything is written."

const writtenParts = (file) => [
  h("h2", "The settings are written"),
  h("p", "They are in ", h("code", file), ", and each token is in a file beside it that only you can read."),
  h("p", "The first sync reads everything. It can be stopped at any moment, and resumes where it stopped."),
  actions(
    ["Read everything now", () => start("sync"), primary],
    ["Set a schedule", () => (location.hash = "#/schedule")]
  )
]

const locationForm = () => {
  const place = locationFields()
  const test = async (given) => {
    const { settings } = await request("/api/settings")
    const baseUrl = settings.find(({ path }) => path === "account.base_url").shown
    const [found] = (await request("/api/setup/check", { baseUrl, locations: [given], formats: ["duckdb"] })).locations
    place.show(found)
    return !found.problem
  }
  const write = async (given) => {
    await request("/api/locations", given)
    location.hash = "#/"
  }
  const form = testedForm("Add the location", [place.element], { test, value: place.value, write })
  return [h("h2", "Add a location"), form]
}

const passwordForm = () => {
  const [password, again] = [1, 2].map(() => input({ type: "password", required: true, autocomplete: "new-password" }))
  const content = [
    field(
      "Password",
      "12 characters or more. It is needed at each later visit; a hash of it is stored beside the settings.",
      password
    ),
    field("The same again", "", again)
  ]
  const set = async () => {
    if (password.value !== again.value) throw new Error("The two passwords differ.")
    await request("/api/password", { password: password.value })
    document.location.reload()
  }
  return [
    h("h2", "Choose a password"),
    h("p", "Others can reach this console, so it needs a password first."),
    formOf("Set the password", content, set)
  ]
}
