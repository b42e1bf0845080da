/** One table: its description, its columns, and its rows with filters, order and pages. */
import { count, errorBox, h, selectOf } from "./dom.js"
import { grid } from "./grid.js"
import { request } from "./service.js"
import { countOf, hasDeleted, operators, pageOf } from "./sql.js"

const rowsPerPage = 100

/** `openSql`: opens the view as a query.  */
export const browse = (table, openSql) => {
  const view = { filters: [], sort: undefined, page: 0, showsDeleted: false }
  const comments = new Map(table.columns.map(({ name, comment }) => [name, comment]))
  const filters = h("div", { className: "filters" })
  const rows = h("div", { className: "rows" })
  const pager = h("div", { className: "pager", role: "status" })
  let running

  const show = async () => {
    running?.abort()
    const { signal } = (running = new AbortController())
    rows.classList.add("busy")
    try {
      const [page, total] = await Promise.all([
        request("/api/query", { sql: pageOf(table, view, rowsPerPage) }, signal),
        request("/api/query", { sql: countOf(table, view) }, signal)
      ])
      showPage(page, Number(total.rows[0][0]))
    } catch (error) {
      if (signal.aborted) return
      rows.replaceChildren(errorBox(error.message))
      pager.replaceChildren()
    }
    rows.classList.remove("busy")
  }

  const showPage = ({ columns, rows: found, cutCells }, total) => {
    const first = view.page * rowsPerPage
    const focused = document.activeElement?.closest?.(".grid th")?.textContent
    rows.replaceChildren(
      found.length === 0
        ? h(
            "p",
            { className: "empty" },
            total === 0 && view.filters.length === 0 ? "This table has no rows." : "No rows match."
          )
        : grid({
            columns,
            rows: found,
            comments,
            firstRow: first + 1,
            sort: view.sort,
            label: `Rows of ${table.name}`,
            onSort: (column) => {
              view.sort = nextSort(view.sort, column)
              view.page = 0
              show()
            }
          })
    )
    if (focused)
      for (const button of rows.querySelectorAll("thead button"))
        if (button.textContent.replace(/[↑↓]$/, "") === focused.replace(/[↑↓]$/, "")) button.focus()
    const turn = (step) => () => {
      view.page += step
      show()
    }
    pager.replaceChildren(
      h(
        "span",
        {},
        total === 0
          ? "No rows"
          : `Rows ${(first + 1).toLocaleString("en-US")} to ${(first + found.length).toLocaleString("en-US")} of ${total.toLocaleString("en-US")}${cutCells > 0 ? "; long values are cut" : ""}`
      ),
      h("button", { type: "button", disabled: view.page === 0, onclick: turn(-1) }, "Previous"),
      h("button", { type: "button", disabled: first + found.length >= total, onclick: turn(1) }, "Next")
    )
  }

  const showFilters = () => {
    const apply = () => {
      view.page = 0
      show()
    }
    const names = table.columns.map(({ name }) => [name, name])
    filters.replaceChildren(
      ...view.filters.map((filter, index) => {
        const value = h("input", { type: "text", value: filter.value })
        const remove = h("button", { type: "button" }, "Remove")
        const label = () => {
          value.ariaLabel = `Value for ${filter.column}`
          remove.ariaLabel = `Remove the filter on ${filter.column}`
        }
        label()
        remove.addEventListener("click", () => {
          view.filters.splice(index, 1)
          showFilters()
          apply()
        })
        value.addEventListener("change", () => {
          filter.value = value.value
          apply()
        })
        return h(
          "div",
          { className: "filter" },
          Object.assign(
            selectOf(names, filter.column, (column) => {
              filter.column = column
              label()
              apply()
            }),
            { ariaLabel: "Column" }
          ),
          Object.assign(
            selectOf(
              Object.entries(operators).map(([name, { text }]) => [name, text]),
              filter.operator,
              (operator) => {
                filter.operator = operator
                showFilters()
                apply()
              }
            ),
            { ariaLabel: "Condition" }
          ),
          operators[filter.operator].value ? value : null,
          remove
        )
      }),
      h(
        "div",
        { className: "actions" },
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              view.filters.push({ column: table.columns[0].name, operator: "contains", value: "" })
              showFilters()
              filters.querySelector(".filter:last-of-type select")?.focus()
            }
          },
          "Add a filter"
        ),
        h(
          "button",
          { type: "button", onclick: () => openSql(pageOf(table, { ...view, page: 0 }, rowsPerPage)) },
          "Open as SQL"
        ),
        hasDeleted(table.columns) ? deletedBox(view, apply) : null
      )
    )
  }

  showFilters()
  const element = h(
    "section",
    { className: "browse" },
    h("header", {}, h("h2", {}, table.name), h("p", { className: "muted" }, table.comment ?? "")),
    columnList(table),
    filters,
    rows,
    pager
  )
  show()
  return element
}

const nextSort = (sort, column) => {
  if (sort?.column !== column) return { column, descending: false }
  return sort.descending ? undefined : { column, descending: true }
}

const deletedBox = (view, apply) => {
  const box = h("input", { type: "checkbox", checked: view.showsDeleted })
  box.addEventListener("change", () => {
    view.showsDeleted = box.checked
    apply()
  })
  return h("label", { className: "check" }, box, "Show deleted rows")
}

const columnList = ({ columns }) =>
  h(
    "details",
    { className: "columns" },
    h("summary", {}, count(columns.length, "column")),
    h(
      "dl",
      { tabIndex: 0, "aria-label": "Columns" },
      columns.map(({ name, type, comment }) =>
        h("div", {}, h("dt", {}, name, " ", h("span", { className: "type" }, type)), h("dd", {}, comment ?? ""))
      )
    )
  )
