/** The filters of a table. */
import { button, h, selectOf } from "./dom.js"
import { operators } from "./sql.js"
import { isTime } from "./values.js"

/** `more`: controls beside the button that adds a filter; `apply`: called when a filter has changed. */
export const filterList = ({ columns }, view, more, apply) => {
  const element = h("div.filters")
  const names = columns.map(({ name }) => [name, name])
  const row = (filter, index) => {
    const { type } = columns.find(({ name }) => name === filter.column)
    const isOfDays = isTime(type) && filter.operator !== "contains" && /^(\d{4}-\d\d-\d\d)?$/.test(filter.value)
    const kind = isOfDays ? "date" : "text"
    const value = h("input", { type: kind, value: filter.value, "aria-label": `Value for ${filter.column}` })
    const remove = () => {
      view.filters.splice(index, 1)
      show()
      apply()
    }
    value.addEventListener("change", () => {
      filter.value = value.value
      apply()
    })
    /** `at`: which of the choices was made; all are new elements then. */
    const choose = (at, change) => {
      Object.assign(filter, change)
      show()
      element.querySelectorAll(".filter")[index].querySelectorAll("select")[at].focus()
      apply()
    }
    const column = selectOf(names, filter.column, (chosen) => {
      const isDated = isTime(columns.find(({ name }) => name === chosen).type)
      // A day is chosen, not searched for.
      choose(0, { column: chosen, ...(isDated && !isTime(type) && { operator: "atLeast", value: "" }) })
    })
    const operator = selectOf(
      Object.entries(operators).map(([name, { text }]) => [name, text]),
      filter.operator,
      (chosen) => choose(1, { operator: chosen })
    )
    return h(
      "div.filter",
      Object.assign(column, { ariaLabel: "Column" }),
      Object.assign(operator, { ariaLabel: "Condition" }),
      operators[filter.operator].value ? value : null,
      button("Remove", remove, { "aria-label": `Remove the filter on ${filter.column}` })
    )
  }
  const add = () => {
    view.filters.push({ column: columns[0].name, operator: "contains", value: "" })
    show()
    element.querySelector(".filter:last-of-type select")?.focus()
  }
  const show = () =>
    element.replaceChildren(...view.filters.map(row), h("div.actions", button("Add a filter", add), more))
  show()
  return { element, show }
}
