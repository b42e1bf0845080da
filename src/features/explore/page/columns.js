/** Which columns of a table are shown: the choice is kept in the browser. */
import { breakable, button, count, h } from "./dom.js"
import { firstOf, mainKeyOf } from "./data.js"

const keyOf = ({ schema, name }) => `sluice.hidden.${schema}.${name}`
const isSystem = (name) => name.startsWith("_")

/** System columns, and the only location, say the same in every row. */
const usuallyHidden = (table, { hasOneLocation }) => [
  ...(hasOneLocation && table.name !== "locations" && mainKeyOf(table) !== "location_id" ? ["location_id"] : []),
  ...table.columns.map(({ name }) => name).filter(isSystem)
]

export const hiddenColumns = (table, data) => {
  let chosen
  try {
    chosen = JSON.parse(localStorage.getItem(keyOf(table)) ?? "null")
  } catch {
    // The browser keeps nothing.
  }
  const names = new Set(table.columns.map(({ name }) => name))
  return new Set((Array.isArray(chosen) ? chosen : usuallyHidden(table, data)).filter((name) => names.has(name)))
}

const keep = (table, data, hidden) => {
  const isUsual = hidden.symmetricDifference(new Set(usuallyHidden(table, data))).size === 0
  try {
    if (isUsual) localStorage.removeItem(keyOf(table))
    else localStorage.setItem(keyOf(table), JSON.stringify([...hidden]))
  } catch {
    // The browser keeps nothing.
  }
}

/** Names first, so that they can stay while the others are scrolled, then the ids; the system columns last. */
export const shownColumns = (table, hidden) => {
  const first = firstOf(table)
  const key = mainKeyOf(table)
  const rank = ({ name }) =>
    name === first ? 0 : name === key ? 1 : name === "location_id" ? 2 : isSystem(name) ? 4 : 3
  return table.columns.filter(({ name }) => !hidden.has(name)).toSorted((one, other) => rank(one) - rank(other))
}

/** The columns with their sentences, to choose from. `onProfile`: called with a column; `onChange`: the choice is another. */
export const columnPicker = (table, data, hidden, { onChange, onProfile }) => {
  const summary = h("summary")
  const boxes = new Map()
  const changed = () => {
    keep(table, data, hidden)
    showCount()
    onChange()
  }
  const showCount = () => {
    const text = count(table.columns.length, "column")
    summary.textContent = hidden.size === 0 ? text : `${text}, ${hidden.size} hidden`
    for (const [name, box] of boxes) box.checked = !hidden.has(name)
  }
  const showOnly = (names) => () => {
    hidden.clear()
    for (const { name } of table.columns) if (!names.has(name)) hidden.add(name)
    changed()
  }
  const all = new Set(table.columns.map(({ name }) => name))
  const rows = table.columns.map((column) => {
    const { name, type, comment } = column
    const box = h("input", { type: "checkbox", id: `shows-${name}` })
    box.addEventListener("change", () => {
      if (box.checked) hidden.delete(name)
      else hidden.add(name)
      changed()
    })
    boxes.set(name, box)
    return h(
      "div",
      h("dt", h("label.check", box, h("span", breakable(name), " ", typeNode(type)))),
      h(
        "dd",
        comment ?? "",
        " ",
        button("Profile", () => onProfile(column), { className: "small", "aria-label": `Profile of ${name}` })
      )
    )
  })
  showCount()
  return h(
    "details.columns",
    summary,
    h(
      "div.actions",
      button("Show all columns", showOnly(all)),
      button("Show the usual ones", () => showOnly(all.difference(new Set(usuallyHidden(table, data))))())
    ),
    h("dl", { tabIndex: 0, "aria-label": "Columns" }, rows)
  )
}

const typeNode = (type) => h("span.type", type)
