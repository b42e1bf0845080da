/** Rows as a table, and one row with all its values. */
import { breakable, button, gridBox, h } from "./dom.js"
import { showNames } from "./names.js"
import { isNumber, longNode, valueNode } from "./values.js"

/**
 * `columns`: as in the table, in the order in which they are shown. `rowAddress`: where a row is shown; without it, a dialog
 * shows it. `hasFrozen`: the first column stays while the others are scrolled, and leads to the row. `sort`: { column, descending } or nothing;
 * `onSort`: called with the name of a column. `facts`: a promise of texts by column, which stand below its name.
 */
export const grid = (
  /** @type {any} */ { columns, rows, label, firstRow = 1, sort, onSort, rowAddress, hasFrozen, data, facts }
) => {
  const classOf = ({ type }, index) =>
    [isNumber(type) ? "number" : "", hasFrozen && index === 0 ? "frozen" : ""].filter(Boolean).join(" ")
  const classes = columns.map(classOf)
  const head = columns.map(({ name, type, comment }, index) => {
    const sorted = sort?.column === name
    const title = [type, comment].filter(Boolean).join(". ")
    const arrow = h("span.arrow", { "aria-hidden": "true" }, sorted ? (sort.descending ? "↓" : "↑") : "")
    const content = onSort ? button([name, arrow], () => onSort(name), { title }) : h("span", { title }, name)
    const properties = sorted ? { "aria-sort": sort.descending ? "descending" : "ascending" } : {}
    return h("th", { scope: "col", className: classes[index], ...properties }, content)
  })
  const below = facts && columns.map((_, index) => h("td", { className: classes[index] }))
  facts?.then((texts) => columns.forEach(({ name }, index) => (below[index].textContent = texts.get(name) ?? "")))
  const cells = []
  const body = rows.map((valueOf, index) => {
    const number = String(firstRow + index)
    const name = `Show row ${number}`
    const href = rowAddress?.(valueOf)
    const opener = href
      ? h("a", { href, "aria-label": name }, number)
      : button(number, () => showRow(columns, valueOf, data), { "aria-label": name })
    return h(
      "tr",
      h("th.row", { scope: "row" }, opener),
      columns.map((column, at) => {
        const node = valueNode(valueOf(column.name, at), column, valueOf, data)
        if (data && column.refersTo) cells.push({ column, node, valueOf })
        const isOwn = hasFrozen && at === 0 && href && !column.refersTo
        return h("td", { className: classes[at] }, isOwn ? h("a", { href }, node) : node)
      })
    )
  })
  showNames(cells, data)
  const names = h("tr", h("th.row", { scope: "col" }, h("span.hidden", "Row")), head)
  const table = h("table", h("thead", names, below && h("tr.facts", h("td.row"), below)), h("tbody", body))
  return gridBox(label, table)
}

/** The rows of an answer as functions from the name, or the place, of a column to its value. */
export const rowsOf = ({ columns, rows }) => {
  const places = new Map(columns.map(({ name }, index) => [name, index]))
  return rows.map((row) => (name) => row[places.get(name)])
}

/** The same for columns of which several may have one name. */
export const rowsInPlace = ({ rows }) => rows.map((row) => (_, at) => row[at])

/** `values`: pairs of a column and the node of its value. */
export const valueList = (values) =>
  h(
    "dl.values",
    { tabIndex: 0, "aria-label": "Values" },
    values.map(([{ name, comment }, node]) =>
      h("div", h("dt", { title: comment ?? "" }, breakable(name)), h("dd", node))
    )
  )

const showRow = (columns, valueOf, data) => {
  const values = columns.map((column, at) => [column, longNode(valueOf(column.name, at), column, valueOf, data)])
  showDialog("Row", valueList(values))
}

/** A dialog that is closed by a button or a key. */
export const showDialog = (title, ...content) => {
  const dialog = h(
    "dialog",
    { "aria-label": title },
    h(
      "header",
      h("h2", title),
      button("Close", () => dialog.close())
    ),
    ...content
  )
  dialog.addEventListener("close", () => dialog.remove())
  // A link in it leads away from it.
  dialog.addEventListener("click", ({ target }) => target.closest("a") && dialog.close())
  addEventListener("hashchange", () => dialog.close(), { once: true })
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}
