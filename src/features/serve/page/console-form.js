/** Forms: fields, which are data, become controls with a name and a sentence; a mistake stands at its field. */
import { h, number, searchField, selectOf } from "./dom.js"
import { attempt, nameOf, problemBox, words } from "./console-parts.js"
import { current, isOwner } from "./console-state.js"
import { request } from "./service.js"

const input = (properties) => h("input", { type: "text", spellcheck: false, autocomplete: "off", ...properties })

/** `03:30, 13:00` as its parts. */
const listOf = (text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

/** A box for each choice; of many, those that are like a word. */
const boxesOf = (choices, value) => {
  const boxes = choices.map(([one, text]) => [
    h("input", { type: "checkbox", checked: value.includes(one), value: one }),
    text
  ])
  const labels = boxes.map(([box, text]) => h("label.check", box, text))
  const search = searchField("Find", (wanted) => {
    for (const label of labels) label.hidden = !label.textContent.toLowerCase().includes(wanted)
  })
  const list = h("span.boxes", labels)
  const chosen = h("summary", "Choose")
  const say = () => {
    const { length } = boxes.filter(([box]) => box.checked)
    chosen.textContent = length === 0 ? `Choose of ${number(boxes.length)}` : `${number(length)} chosen`
  }
  list.addEventListener("change", say)
  say()
  const element = h("span.group", choices.length > manyChoices ? h("details", chosen, search, list) : list)
  return [element, () => boxes.filter(([box]) => box.checked).map(([box]) => box.value)]
}
const manyChoices = 12

const zones = () => Intl.supportedValuesOf("timeZone")
const pairs = (values) => values.map((value) => [value, value])
const withOptions = (control, values) => {
  const id = `choices-${control.dataset.field}`
  control.setAttribute("list", id)
  const options = values.map((value) => h("option", { value }))
  return [h("span.group", control, h("datalist", { id }, options)), () => control.value.trim()]
}

/** The element of a field's control, and what reads its value. */
const controlOf = (field, tables) => {
  const { choices = [], kind, name, required, value } = field
  const text = (type, more = {}) =>
    input({ type, required, value: Array.isArray(value) ? value.join(", ") : (value ?? ""), ...more })
  const places = current().locations.map(({ id }) => [id, nameOf(id)])
  const named = kind === "tables" ? tables : kind === "location" ? places : undefined
  if (named?.length > 0) {
    const [element, read] = boxesOf(kind === "tables" ? pairs([...choices, ...named]) : named, [])
    return [element, () => read().join(",")]
  }
  if (kind === "several") return boxesOf(pairs(choices), value ?? [])
  if (kind === "flag") {
    const box = h("input", { type: "checkbox", checked: value === true })
    return [box, () => box.checked]
  }
  if (kind === "choice") {
    const select = selectOf([...(required ? [] : [["", "not given"]]), ...pairs(choices)], value ?? "", () => {})
    return [select, () => select.value]
  }
  if (kind === "list") {
    const control = text("text")
    return [control, () => listOf(control.value)]
  }
  const control = text({ date: "date", secret: "password", url: "url", search: "search" }[kind] ?? "text", {
    ...(kind === "number" && { inputMode: "decimal" }),
    ...(field.autocomplete && { autocomplete: field.autocomplete })
  })
  control.dataset.field = name
  if (kind === "table" && tables.length > 0) return withOptions(control, tables)
  if (name.endsWith("time_zone")) return withOptions(control, zones())
  return [control, () => (kind === "number" && control.value !== "" ? Number(control.value) : control.value.trim())]
}

/** The tables that the service has, as the release knows them; none before the first. */
export const tablesOf = () =>
  request("/api/tables").then(
    ({ tables }) => tables.filter(isRead).map(({ name }) => name),
    () => []
  )
const isRead = ({ kind, name, schema }) => schema === "main" && kind === "table" && !/_(changes|wide)$/.test(name)

const titleOf = ({ name, title = words(name) }) => title

let hints = 0
/** The elements of fields, and what they say: `values` of all, `given` of those that say something. */
export const fieldsOf = (/** @type {ReadonlyArray<any>} */ fields, tables = /** @type {any[]} */ ([])) => {
  // Of one location there is nothing to choose.
  const shown = fields.filter(({ kind }) => kind !== "location" || current().locations.length > 1)
  const parts = shown.map((field) => {
    const [control, read] = controlOf(field, tables)
    const [name, id] = [titleOf(field), `hint-${hints++}`]
    const title = h("span.name", name, field.required && h("span.muted", " (required)"))
    const hint = field.description && h("span", { id }, field.description)
    hint?.classList.toggle("muted", field.kind !== "flag")
    const isGroup = control.matches("span.group") && !control.querySelector("datalist")
    const content = field.kind === "flag" ? [title, h("span.check", control, hint)] : [title, control, hint]
    const properties = { "data-field": field.name }
    if (isGroup) return [h("div.entry", { ...properties, role: "group", "aria-label": name }, content), field, read]
    const own = control.matches("input, select") ? control : control.querySelector("input")
    own.setAttribute("aria-label", name)
    if (hint) own.setAttribute("aria-describedby", id)
    return [h("label.entry", properties, content), field, read]
  })
  const values = () => Object.fromEntries(parts.map(([, { name }, read]) => [name, read()]))
  const isSaid = ([, value]) => value !== "" && value !== false && value.length !== 0
  return {
    elements: parts.map(([element]) => element),
    values,
    given: () => Object.fromEntries(Object.entries(values()).filter(isSaid))
  }
}

/** Whether one of the fields is that of the mistake, which then says it. */
const marked = (form, { field, message }) => {
  const place = field && form.querySelector(`[data-field="${CSS.escape(field)}"]`)
  if (!place) return false
  place.append(h("span.problem", { role: "alert" }, message))
  place.querySelector("input, select")?.setAttribute("aria-invalid", "true")
  return true
}

/** Says each mistake at its field; returns the others. */
export const markIn = (form, problems) => {
  for (const one of form.querySelectorAll(".problem")) one.remove()
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid")
  const others = problems.filter((problem) => !marked(form, problem))
  form.querySelector("[aria-invalid]")?.focus()
  return others
}

/** A form with one button. A reader sees that there is something, and has no button. */
export const formOf = (text, content, work) => {
  const box = h("div")
  const button = h("button.primary", { type: "submit" }, text)
  const submit = isOwner ? button : h("p.muted", "Your password shows the console, and starts nothing.")
  const form = h("form.form", content, h("div.actions", submit), box)
  const tried = () => {
    markIn(form, [])
    return work()
  }
  const failed = (error) => markIn(form, error.problems ?? [error]).map((one) => problemBox(one))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (isOwner) attempt(submit, box, tried, failed)
  })
  return form
}
