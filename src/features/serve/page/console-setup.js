/** Set-up: where the account is, which locations are read, and what they become; tested before anything is written. */
import { button, h, number, present } from "./dom.js"
import { actions, badge, duration, nameOf, primary, problemBox, rangeText, start } from "./console-parts.js"
import { fieldsOf, formOf, markIn } from "./console-form.js"
import { current, isOwner, readState } from "./console-state.js"
import { request } from "./service.js"

export const setup = () => {
  const { needsPassword, needsSetup } = current()
  if (needsPassword) return passwordForm()
  return needsSetup ? accountForm() : locationForm()
}

const idText = "It is in the address of the account's pages, after /location/, for example ve9EPM428h8vShlRW1KT."
const tokenText =
  "A private integration token with read scopes. It goes into a file that only you can read, and is never shown again. Or where it is kept: env:SLUICE_TOKEN, file:/run/secrets/crm."
const appText = "Of the app that the location has authorised, or where it is kept: file:/run/secrets/app."

const field = (name, title, kind, description) => ({ name, title, kind, description, required: true })
const place = field("id", "Location id", "text", idText)
const ownToken = [field("token", "Token", "secret", tokenText)]
const oauthApp = [
  field("clientId", "Client id", "text", "Of the app."),
  field("clientSecret", "Client secret", "secret", appText),
  field("refreshToken", "Refresh token", "secret", "The first one; its successors are kept in the output folder.")
]
const kinds = ["a private token", "an OAuth app"]
const kind = { name: "kind", title: "Signs in with", kind: "choice", choices: kinds, value: kinds[0], required: true }

/** The fields of a location, and below them what its test found. An app is that of the first location. */
const locationFields = (/** @type {any} */ { isFirst = false, more = undefined } = {}) => {
  const [id, choice, token, app] = [[place], isFirst ? [kind] : [], ownToken, oauthApp].map((one) => fieldsOf(one))
  const own = h("div.form", token.elements)
  const isApp = () => choice.values().kind === kinds[1]
  choice.elements[0]?.addEventListener("change", () => own.replaceChildren(...(isApp() ? app : token).elements))
  const found = h("div", { role: "status" })
  const element = h("fieldset", h("legend", "Location"), id.elements, choice.elements, own, found, more)
  const show = (...content) => {
    element.querySelector("legend").textContent = ["Location", id.values().id].filter(Boolean).join(" ")
    found.replaceChildren(...present(content))
  }
  return {
    element,
    value: () => ({ ...id.values(), ...(isApp() ? { app: app.values() } : token.values()) }),
    /** Says what the service answers to this location, as soon as it does; returns whether it can be read. */
    test: async (given) => {
      show(h("p.muted", "Testing: this takes some seconds."))
      markIn(element, [])
      try {
        const [one] = (await request("/api/setup/check", given)).locations
        show(foundParts(one))
        return !one.problem
      } catch (error) {
        show(markIn(element, [error]).map((one) => problemBox(one)))
        return false
      }
    },
    show
  }
}

const foundParts = ({ findings = [], id, name, plan, problem }) => {
  if (problem) return problemBox(problem)
  const item = ({ check, state, todo, what }) =>
    h("li", badge(state === "problem" ? "error" : state, check), what, todo && ` ${todo}`)
  const [wrong, right] = [false, true].map((is) => findings.filter(({ state }) => (state === "ok") === is).map(item))
  return [
    h("p", badge("ok", `Reached ${name ?? id}.`)),
    h("ul", wrong),
    h("details", { hidden: right.length === 0 }, h("summary", "What else was tested"), h("ul", right)),
    plan && h("p", planText(plan)),
    plan?.omitted.length > 0 && h("details", h("summary", "What is off, and what it would take"), offersIn(plan))
  ]
}
const offersIn = ({ omitted }) =>
  h(
    "ul",
    omitted.map(({ resource, setting, what }) => h("li", `${resource}: ${what}; to read it, set ${setting}`))
  )
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

const account = field(
  "baseUrl",
  "Address of the API",
  "url",
  "Where the API of the Account Platform is, for example https://services.example.com"
)
const formats = {
  name: "formats",
  kind: "several",
  choices: ["duckdb", "parquet", "csv"],
  value: ["duckdb"],
  description:
    "duckdb is one file for SQL, from which this page shows the tables; the others are a file for each table."
}

const accountForm = () => {
  const [address, chosen] = [fieldsOf([account]), fieldsOf([formats])]
  const list = h("div.form")
  const places = new Set()
  const changed = () => form.dispatchEvent(new Event("input"))
  const addPlace = () => {
    const remove = () => {
      places.delete(one)
      one.element.remove()
      changed()
    }
    const more = places.size > 0 && h("div.actions", button("Remove", remove))
    const one = locationFields({ isFirst: places.size === 0, more })
    places.add(one)
    list.append(one.element)
    return one
  }
  addPlace()
  const addAnother = () => {
    addPlace().element.querySelector("input").focus()
    changed()
  }
  const value = () => ({
    ...address.values(),
    ...chosen.values(),
    locations: Array.from(places, (one) => one.value())
  })
  const test = async ({ locations, ...given }) => {
    const results = []
    for (const one of places) one.show(h("p.muted", "Waiting for the test before it."))
    // One after the other: each works in the output folder.
    for (const [index, one] of [...places].entries())
      results.push(await one.test({ ...given, locations: [locations[index]] }))
    return results.every(Boolean)
  }
  const write = async (given) => {
    const { file } = await request("/api/setup", given)
    await readState()
    form.closest("section").replaceChildren(...writtenParts(file))
  }
  const content = [
    address.elements,
    list,
    h("div.actions", button("Add another location", addAnother)),
    chosen.elements
  ]
  const form = testedForm("Write the settings", content, { test, value, write })
  return [h("h2", "Set up sluice"), h("p", setupText), form]
}

const setupText =
  "sluice copies an account into tables on this machine, and never writes to the account. What you enter is tested before anything is written."

const writtenParts = (file) => [
  h("h2", "The settings are written"),
  h("p", "They are in ", h("code", file), ", and each token is in a file beside it that only you can read."),
  h("p", "The first sync reads everything. It can be stopped at any moment, and resumes where it stopped."),
  actions(
    ["Read everything now", () => start("sync"), primary],
    ["Set a schedule", () => (location.hash = "#/settings/when")]
  )
]

const locationForm = () => {
  const one = locationFields()
  const test = (given) => one.test({ baseUrl: current().baseUrl, locations: [given], formats: ["duckdb"] })
  const write = async (given) => {
    await request("/api/locations", given)
    location.hash = "#/"
  }
  const form = testedForm("Add the location", [one.element], { test, value: one.value, write })
  return [h("h2", "Add a location"), form]
}

const newPassword = (name, title, description) => ({
  ...field(name, title, "secret", description),
  autocomplete: "new-password"
})

const passwordForm = () => {
  const text = "12 characters or more. It is needed at each later visit; a hash of it is stored beside the settings."
  const { elements, values } = fieldsOf([
    newPassword("password", "Password", text),
    newPassword("again", "The same again", "")
  ])
  const set = async () => {
    const { again, password } = values()
    if (password !== again) throw Object.assign(new Error("The two passwords differ."), { field: "again" })
    await request("/api/password", { password })
    document.location.reload()
  }
  return [
    h("h2", "Choose a password"),
    h("p", "Others can reach this console, so it needs a password first."),
    formOf("Set the password", elements, set)
  ]
}

/** Set-up has put the token into a file of its own; only such a one is replaced here. */
export const tokenForm = (id) => {
  if (!isOwner) return undefined
  const text = "It is tested before it is written, and never shown again."
  const { elements, values } = fieldsOf([field("token", "Token", "secret", text)])
  const replace = async () => {
    await request("/api/token", { location: id, ...values() })
    await start("sync")
  }
  return h("details", h("summary", `Set a new token of ${nameOf(id)}`), formOf("Set it, and sync", elements, replace))
}
