/** Rows as a table, and one row with all its values. */
import { h } from "./dom.js"

const isNumber = (type) => /^(DECIMAL|DOUBLE|FLOAT|U?(TINY|SMALL|BIG|HUGE)?INT|INTEGER|UINTEGER)/.test(type)
export const numeric = isNumber

/** `sort`: { column, descending } or nothing; `onSort`: called with the name of a column. */
export const grid = ({ columns, rows, label, firstRow = 1, sort, onSort, comments = new Map() }) => {
  const right = columns.map(({ type }) => isNumber(type))
  const head = columns.map(({ name, type }, index) => {
    const sorted = sort?.column === name
    const title = [type, comments.get(name)].filter(Boolean).join(". ")
    const content = onSort
      ? h(
          "button",
          { type: "button", title, onclick: () => onSort(name) },
          name,
          h("span", { className: "arrow", "aria-hidden": "true" }, sorted ? (sort.descending ? "↓" : "↑") : "")
        )
      : h("span", { title }, name)
    const properties = sorted ? { "aria-sort": sort.descending ? "descending" : "ascending" } : {}
    return h("th", { scope: "col", className: right[index] ? "number" : "", ...properties }, content)
  })
  const body = rows.map((row, index) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row", className: "row" },
        h(
          "button",
          {
            type: "button",
            "aria-label": `Show row ${firstRow + index}`,
            onclick: () => showRow(columns, row, comments)
          },
          String(firstRow + index)
        )
      ),
      row.map((value, column) => h("td", { className: right[column] ? "number" : "" }, cell(value)))
    )
  )
  return h(
    "div",
    { className: "grid", role: "region", tabIndex: 0, "aria-label": label },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, h("th", { scope: "col", className: "row" }, h("span", { className: "hidden" }, "Row")), head)
      ),
      h("tbody", {}, body)
    )
  )
}

const cell = (value) => (value === null ? h("span", { className: "null" }, "NULL") : value)

const showRow = (columns, row, comments) => {
  const close = () => dialog.close()
  const dialog = h(
    "dialog",
    { className: "record", "aria-label": "Row" },
    h("header", {}, h("h2", {}, "Row"), h("button", { type: "button", onclick: close }, "Close")),
    h(
      "dl",
      { tabIndex: 0, "aria-label": "Values" },
      columns.map(({ name }, index) =>
        h("div", {}, h("dt", { title: comments.get(name) ?? "" }, name), h("dd", {}, cell(row[index])))
      )
    )
  )
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
