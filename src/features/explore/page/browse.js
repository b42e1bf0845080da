/** One table: its description, its columns, and its rows with filters, order and pages. */
import { replaceAddress, tableAddress, viewOf } from "./address.js"
import { columnPicker, hiddenColumns, shownColumns } from "./columns.js"
import { firstOf, ownAddress } from "./data.js"
import { breakable, button, errorBox, h, number } from "./dom.js"
import { facetsOf } from "./facets.js"
import { filterList } from "./filters.js"
import { grid, rowsOf } from "./grid.js"
import { request } from "./service.js"
import { countOf, exactRows, factsOf, hasDeleted, operators, pageOf } from "./sql.js"
import { percent } from "./values.js"

const rowsPerPage = 100

/** `parameters`: of the address; `openSql`: opens the view as a query. */
export const browse = (table, data, parameters, openSql) => {
  const view = viewOf(parameters, table, operators)
  const hidden = hiddenColumns(table, data)
  const rows = h("div.rows")
  const pager = h("div.pager", { role: "status" })
  const factsFor = factsReader(table, view)
  let running

  const shownNames = () => new Set(shownColumns(table, hidden).map(({ name }) => name))
  /** A row has an address, and its ids lead to others, also when these columns are hidden. */
  const neededNames = () =>
    new Set([
      ...shownNames(),
      ...table.key,
      ...table.columns.map(({ name }) => name).filter((one) => one === "location_id")
    ])

  const show = async () => {
    running?.abort()
    const { signal } = (running = new AbortController())
    replaceAddress(tableAddress(table, view))
    rows.classList.add("busy")
    try {
      const [page, total] = await Promise.all([
        request("/api/query", { sql: pageOf(table, view, rowsPerPage, neededNames()) }, signal),
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
  const showFirst = () => {
    view.page = 0
    show()
  }

  const showPage = (page, total) => {
    const found = page.rows.length
    const first = view.page * rowsPerPage
    const focused = document.activeElement?.closest?.(".grid th")?.textContent
    const columns = shownColumns(table, hidden)
    const facts = factsFor(columns, total)
    facts?.then((found) => facets.show(found, total)).catch(() => {})
    rows.replaceChildren(
      found === 0
        ? h("p.empty", total === 0 && view.filters.length === 0 ? "This table has no rows." : "No rows match.")
        : grid({
            columns,
            rows: rowsOf(page),
            firstRow: first + 1,
            sort: view.sort,
            label: `Rows of ${table.name}`,
            hasFrozen: columns[0]?.name === firstOf(table),
            rowAddress: (valueOf) => ownAddress(table, valueOf),
            data,
            facts: facts?.then((found) => new Map(Array.from(found, ([name, { text }]) => [name, text]))),
            onSort: (column) => {
              view.sort = nextSort(view.sort, column)
              showFirst()
            }
          })
    )
    if (focused)
      for (const one of rows.querySelectorAll("thead button"))
        if (one.textContent.replace(/[↑↓]$/, "") === focused.replace(/[↑↓]$/, "")) one.focus()
    const turn = (step) => () => {
      view.page += step
      show()
    }
    pager.replaceChildren(
      h(
        "span",
        total === 0
          ? "No rows"
          : `Rows ${number(first + 1)} to ${number(first + found)} of ${number(total)}${page.cutCells > 0 ? "; long values are cut" : ""}`
      ),
      button("Previous", turn(-1), { disabled: view.page === 0 }),
      button("Next", turn(1), { disabled: first + found >= total })
    )
  }

  const asSql = () => openSql(pageOf(table, { ...view, page: 0 }, rowsPerPage, shownNames()))
  const filters = filterList(
    table,
    view,
    [button("Open as SQL", asSql), hasDeleted(table.columns) ? deletedBox(view, showFirst) : null],
    showFirst
  )
  const applyFilters = () => {
    filters.show()
    showFirst()
  }
  const facets = facetsOf(table, view, data, { columns: () => shownColumns(table, hidden), onChange: applyFilters })
  const profile = async (column) => {
    const { showProfile } = await import("./profile.js")
    showProfile(table, column, view, {
      openSql,
      onFilter: (value) => {
        view.filters.push({ column: column.name, operator: value === null ? "empty" : "equals", value: value ?? "" })
        applyFilters()
      }
    })
  }
  const element = h(
    "section.browse",
    h("header", h("h2", breakable(table.name)), h("p.muted", table.comment ?? "")),
    columnPicker(table, data, hidden, { onChange: show, onProfile: profile }),
    filters.element,
    facets.element,
    rows,
    pager
  )
  show()
  return element
}

/** By the name of each column, its distinct values, how many rows have one, and a text about both; read again when the filters or the columns change. */
const factsReader = (table, view) => {
  let facts = {}
  return (shown, total) => {
    const own = shown.filter(({ name }) => !table.wide || table.wide.columns.includes(name))
    const sql = factsOf(table, view, own, total)
    if (sql === undefined || sql === facts.sql) return sql && facts.found
    facts.stop?.abort()
    const stop = new AbortController()
    const found = request("/api/query", { sql }, stop.signal).then(
      ({ rows: [[n, ...all]] }) =>
        new Map(own.map(({ name }, at) => [name, factOf(Number(n), Number(all[2 * at]), Number(all[2 * at + 1]))])),
      () => new Map()
    )
    facts = { sql, stop, found }
    return found
  }
}

const factOf = (rows, filled, distinct) => ({
  distinct,
  /** The share of the rows that have a value. */
  share: rows === 0 ? 0 : filled / rows,
  text: [
    filled > 0 && `${rows > exactRows ? "about " : ""}${number(distinct)} distinct`,
    filled < rows && `${percent(1 - filled / rows)} NULL`
  ]
    .filter(Boolean)
    .join(", ")
})

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
  return h("label.check", box, "Show deleted rows")
}
