/** The filters of a table. */
import { h, selectOf } from "./dom.js"
import { operators } from "./sql.js"

/** `more`: controls beside the button that adds a filter; `apply`: called when a filter has changed. */
export const filterList = ({ columns }, view, more, apply) => {
  const element = h("div", { className: "filters" })
  const names = columns.map(({ name }) => [name, name])
  const row = (filter, index) => {
    const value = h("input", { type: "text", value: filter.value })
    const remove = h("button", { type: "button" }, "Remove")
    const label = () => {
      value.ariaLabel = `Value for ${filter.column}`
      remove.ariaLabel = `Remove the filter on ${filter.column}`
    }
    label()
    remove.addEventListener("click", () => {
      view.filters.splice(index, 1)
      show()
      apply()
    })
    value.addEventListener("change", () => {
      filter.value = value.value
      apply()
    })
    const column = selectOf(names, filter.column, (chosen) => {
      filter.column = chosen
      label()
      apply()
    })
    const operator = selectOf(
      Object.entries(operators).map(([name, { text }]) => [name, text]),
      filter.operator,
      (chosen) => {
        filter.operator = chosen
        show()
        apply()
      }
    )
    return h(
      "div",
      { className: "filter" },
      Object.assign(column, { ariaLabel: "Column" }),
      Object.assign(operator, { ariaLabel: "Condition" }),
      operators[filter.operator].value ? value : null,
      remove
    )
  }
  const add = () => {
    view.filters.push({ column: columns[0].name, operator: "contains", value: "" })
    show()
    element.querySelector(".filter:last-of-type select")?.focus()
  }
  const show = () =>
    element.replaceChildren(
      ...view.filters.map(row),
      h("div", { className: "actions" }, h("button", { type: "button", onclick: add }, "Add a filter"), more)
    )
  show()
  return { element, show }
}
