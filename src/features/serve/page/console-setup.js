/** Set-up: where the account is, which locations are read, and what they become; tested before anything is written. */
import { button, h, number, present, selectOf } from "./dom.js"
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

const secret = () => input({ required: true, type: "password" })
const ownToken = () => {
  const token = secret()
  return [[field("Token", tokenText, token)], () => ({ token: token.value.trim() })]
}
const appText =
  "Of the app that the location has authorised, or where it is kept: env:CRM_SECRET, file:/run/secrets/app."
const oauthApp = () => {
  const [clientId, clientSecret, refreshToken] = [input({ required: true }), secret(), secret()]
  const fields = [
    field("Client id", "Of the app.", clientId),
    field("Client secret", appText, clientSecret),
    field("Refresh token", "The first one; its successors are kept in the output folder.", refreshToken)
  ]
  const values = Object.entries({ clientId, clientSecret, refreshToken })
  return [fields, () => ({ app: Object.fromEntries(values.map(([name, control]) => [name, control.value.trim()])) })]
}

/** The fields of a location, and below them what its test found. An app is that of the first location. */
const locationFields = ({ isFirst = false, more } = {}) => {
  const id = input({ required: true })
  const found = h("div", { role: "status" })
  const own = h("div.form")
  let credentials
  const choose = (of) => {
    const [fields, read] = of()
    credentials = read
    own.replaceChildren(...fields)
  }
  choose(ownToken)
  const kinds = { token: ownToken, app: oauthApp }
  const kind = selectOf(
    [
      ["token", "a private token"],
      ["app", "an OAuth app"]
    ],
    "token",
    (one) => choose(kinds[one])
  )
  return {
    element: h(
      "fieldset",
      h("legend", "Location"),
      field("Location id", idText, id),
      isFirst && field("Signs in with", "", kind),
      own,
      found,
      more
    ),
    value: () => ({ id: id.value.trim(), ...credentials() }),
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
  const boxes = Object.keys(formats).map((name) =>
    h("input", { type: "checkbox", checked: name === "duckdb", value: name })
  )
  const list = h("div.form")
  const places = new Set()
  const changed = () => form.dispatchEvent(new Event("input"))
  const addPlace = () => {
    const remove = () => {
      places.delete(place)
      place.element.remove()
      changed()
    }
    const place = locationFields({
      isFirst: places.size === 0,
      more: places.size > 0 && h("div.actions", button("Remove", remove))
    })
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
