/** The settings: each with its value, where it comes from, and its sentence; some can be changed here. */
import { button, h } from "./dom.js"
import { attempt, field, formOf, input, primary } from "./console-parts.js"
import { controlFor, proposeChange } from "./console-change.js"
import { isOwner } from "./console-state.js"
import { request } from "./service.js"

export const settings = async () => {
  const element = h("div.part")
  const read = async () => element.replaceChildren(...page(await request("/api/settings"), read))
  await read()
  return [h("h2", "Settings"), element]
}

const page = ({ exists, file, lists, settings: all }, read) => {
  const search = input({ type: "search", placeholder: "Find a setting", "aria-label": "Find a setting" })
  const sections = Map.groupBy(all, ({ section }) => section)
  const parts = Array.from(sections, ([section, own]) => {
    const rows = own.map((one) => [one, settingRow(one, read)])
    const isOpen = own.some(({ edit }) => edit)
    return [
      h(
        "details.settings",
        { open: isOpen },
        h("summary", section),
        rows.map(([, row]) => row)
      ),
      rows
    ]
  })
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase()
    for (const [details, rows] of parts) {
      for (const [{ description, path, shown }, row] of rows)
        row.hidden = !`${path} ${description} ${shown}`.toLowerCase().includes(wanted)
      details.hidden = rows.every(([, row]) => row.hidden)
      if (wanted !== "") details.open = true
    }
  })
  return [
    h(
      "p.muted",
      `${exists ? `They are in ${file}.` : `A change writes ${file}.`} A change is shown before it is written, and comments stay.`
    ),
    h(
      "div.actions",
      search,
      h("a", { href: "#/schedule" }, "Schedule"),
      isOwner && h("a", { href: "#/setup" }, "Add a location")
    ),
    ...parts.map(([details]) => details),
    ...lists.map((list) => listPart(list, read))
  ]
}

const sources = { default: "the default", environment: "from the environment: ", file: "", flag: "from a flag: " }

const settingRow = ({ description, edit, from, name, path, shown }, read) => {
  const box = h("div")
  const change = h("div")
  const propose = (control, value) => attempt(control, box, () => proposeChange({ changes: { [path]: value } }, read))
  const open = () => {
    const [element, value] = controlFor(edit, path)
    const show = button("Show the change", () => propose(show, value()), primary)
    const reset = from === "file" && button("Use the default", () => propose(reset, null))
    change.replaceChildren(h("div.actions", element, show, reset, button("Cancel", close)))
    change.querySelector("input, select").focus()
  }
  const opener = button("Change", open, { "aria-label": `Change ${path}`, className: "small" })
  const close = () => change.replaceChildren(opener)
  if (edit && isOwner) close()
  const value = h("p", shown === "" ? h("span.muted", "empty") : shown)
  const source = h("p.muted", sources[from], from === "default" ? "" : name)
  return h("div.setting", h("div", h("code", path), h("p.muted", description)), h("div", value, source, change, box))
}

/** The places of a list as the file has them, and a form that adds one. */
const listPart = ({ add = [], items, list }, read) => {
  const item = ({ name, place, shown }) =>
    h("div.setting", h("code", place), h("div", h("p", shown), h("p.muted", name)))
  const controls = add.map(({ description, key, required, secret }) => {
    const control = input({ type: secret ? "password" : "text", required })
    return { key, control, element: field(key, description, control) }
  })
  const propose = () => {
    const given = controls.map(({ control, key }) => [key, control.value.trim()]).filter(([, value]) => value !== "")
    return proposeChange({ add: { list, values: Object.fromEntries(given) } }, read)
  }
  const fields = controls.map(({ element }) => element)
  const form = h("details", h("summary", "Add one"), formOf("Show the change", fields, propose))
  const places = items.length === 0 ? h("p.muted", "None.") : items.map(item)
  const isOpen = items.length > 0
  return h("details.settings", { open: isOpen }, h("summary", `[[${list}]]`), places, add.length > 0 && isOwner && form)
}
