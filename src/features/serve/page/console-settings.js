/** The settings by what they are about, each a form; below them all others, with their places. */
import { h, searchField } from "./dom.js"
import { actions, nextRuns } from "./console-parts.js"
import { fieldsOf, formOf, tablesOf } from "./console-form.js"
import { addForm, proposeChange } from "./console-change.js"
import { tokenForm } from "./console-setup.js"
import { current, isOwner, live, readState } from "./console-state.js"
import { request } from "./service.js"

export const settings = async ([name = ""]) => {
  const element = h("div.part")
  const things = () => Array.from(/** @type {NodeListOf<HTMLDetailsElement>} */ (element.querySelectorAll(".settings")))
  let shown = [`thing-${name}`]
  const read = async () => {
    const [found, tables] = await Promise.all([request("/api/settings"), tablesOf(), readState()])
    element.replaceChildren(...page(found, tables, read))
    for (const one of things()) one.open = shown.includes(one.id)
  }
  await read()
  const remember = () => (shown = things().flatMap(({ id, open }) => (open ? [id] : [])))
  element.addEventListener("toggle", remember, { capture: true })
  return [h("h2", "Settings"), element]
}

const idOf = (title) => `thing-${title.toLowerCase().replaceAll(" ", "-")}`
const thing = (title, ...content) => h("details.settings", { id: idOf(title) }, h("summary", title), content)

const page = ({ exists, file, settings: all, things }, tables, read) => [
  h(
    "p.muted",
    `${exists ? `They are in ${file}.` : `A change writes ${file}.`} A change is shown before it is written, and comments stay.`
  ),
  thing(
    "Tokens",
    current().locations.map(({ id }) => tokenForm(id)),
    isOwner && h("p", h("a", { href: "#/setup" }, "Add a location"))
  ),
  ...things.map(({ fields, lists, title }) =>
    thing(
      title,
      title === "When" && live(h("div.part"), ({ schedule }) => schedule, nextRuns),
      changeForm(fields, tables, read),
      lists.map((list) => listPart(list, tables, read))
    )
  ),
  thing("Every setting", everySetting(all))
]

const changeForm = (fields, tables, read) => {
  const { elements, values } = fieldsOf(fields, tables)
  const before = values()
  const isOther = ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])
  // What is emptied has its default again.
  const written = ([name, value]) => [name, value === "" ? null : value]
  const propose = () => {
    const changes = Object.entries(values()).filter(isOther).map(written)
    if (changes.length === 0) throw new Error("Nothing is changed.")
    return proposeChange({ changes: Object.fromEntries(changes) }, read)
  }
  return formOf("Show the change", elements, propose)
}

const sources = { default: "the default", environment: "from the environment: ", file: "", flag: "from a flag: " }
const rowOf = ({ description, from, name, path, shown }) =>
  h(
    "div.setting",
    h("div", h("code", path), description && h("p.muted", description)),
    h(
      "div",
      h("p", shown === "" ? h("span.muted", "empty") : shown),
      h("p.muted", sources[from], from === "default" ? "" : name)
    )
  )

const everySetting = (all) => {
  const rows = all.map((one) => [one, rowOf(one)])
  const search = searchField("Find a setting", (wanted) => {
    for (const [{ description = "", path, shown }, row] of rows)
      row.hidden = !`${path} ${description} ${shown}`.toLowerCase().includes(wanted)
  })
  return [search, rows.map(([, row]) => row)]
}

/** The places of a list as the file has them, and a form that adds one. */
const listPart = ({ description, fields, items, list }, tables, read) => [
  h("h3", { publish: "Targets", silence: "Silenced alarms", tables: "Tables" }[list]),
  h("p.muted", description),
  items.map(({ item, settings: rows }) => [
    rows.map(rowOf),
    actions([
      "Remove",
      () => proposeChange({ remove: { list, item } }, read),
      { "aria-label": `Remove ${list} ${item}` }
    ])
  ]),
  isOwner && h("details", h("summary", "Add one"), addForm(list, fields, tables, read))
]
