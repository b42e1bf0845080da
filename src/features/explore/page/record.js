/** One row: its values, and the rows of other tables that refer to it. */
import { tableAddress } from "./address.js"
import { byKnown } from "./catalog.js"
import { hiddenColumns, shownColumns } from "./columns.js"
import { labelOf, mainKeyOf, ownAddress, referrersOf } from "./data.js"
import { breakable, button, errorBox, fill, h, number } from "./dom.js"
import { grid, rowsOf, valueList } from "./grid.js"
import { showNames } from "./names.js"
import { request } from "./service.js"
import { countsOf, pageOf, rowsWith } from "./sql.js"
import { longNode } from "./values.js"

/** Lists that are open at once. */
const openLists = 3
const rowsPerList = 10

/** `key`: the values of the columns of the table's key. */
export const record = (table, key, data) => {
  const element = h("section.record.busy", h("h2", table.name))
  const show = async () => {
    const page = await request("/api/query", {
      sql: `${rowsWith(
        table,
        table.key.map((name, at) => [name, key[at]])
      )}\nLIMIT 1`
    })
    const [valueOf] = rowsOf(page)
    element.classList.remove("busy")
    if (!valueOf)
      return element.replaceChildren(heading(table, "not found"), h("p.empty", "This release has no such row."))
    const label = labelOf(table)
    const lists = h("div.lists")
    element.replaceChildren(
      heading(table, (label && valueOf(label.name)) || valueOf(mainKeyOf(table))),
      valueOf("_deleted_at")
        ? h("p.deleted", `This record was deleted; it was missed on ${valueOf("_deleted_at").slice(0, 16)} UTC.`)
        : "",
      h("div.parts", values(table, valueOf, data), lists)
    )
    await showLists(table, valueOf, data, lists)
  }
  show().catch((error) => element.replaceChildren(heading(table, ""), errorBox(error.message)))
  return element
}

const heading = (table, title) =>
  h("header", h("p", h("a", { href: tableAddress(table) }, breakable(table.name))), h("h2", title))

/** The values that are there; one button shows the others. */
const values = (table, valueOf, data) => {
  const box = h("div")
  const columns = shownColumns(table, new Set())
  const show = (isAll) => {
    const shown = isAll ? columns : columns.filter(({ name }) => valueOf(name) !== null && !name.startsWith("_"))
    const left = columns.length - shown.length
    const list = shown.map((column) => [column, longNode(valueOf(column.name), column, valueOf, data)])
    box.replaceChildren(
      valueList(list),
      left === 0 ? "" : button(`Show ${number(left)} empty and system columns`, () => show(true))
    )
    showNames(
      list.map(([column, node]) => ({ column, node, valueOf })),
      data
    )
  }
  show(false)
  return box
}

const showLists = async (table, valueOf, data, lists) => {
  // What belonged to a deleted record was deleted with it.
  const isDeleted = Boolean(valueOf("_deleted_at"))
  const found = referrersOf(data, table)
    .map(({ table: of, column, target }) => ({
      of,
      column,
      values: conditionOf(of, column, target, valueOf),
      showsDeleted: isDeleted || of.schema === "crm_history"
    }))
    .filter(({ values: all }) => all.every(([, value]) => typeof value === "string"))
  if (found.length === 0) return
  const { rows } = await request("/api/query", { sql: countsOf(found) })
  const counts = new Map(rows.map(([index, n]) => [Number(index), Number(n)]))
  const filled = found
    .map((one, index) => ({ ...one, n: counts.get(index) ?? 0 }))
    .filter(({ n }) => n > 0)
    .toSorted((one, other) => byKnown(one.of, other.of))
  const names = filled.map(({ of }) => of)
  lists.replaceChildren(
    h("h3", filled.length === 0 ? "No other table refers to it" : "Belongs to it"),
    ...filled.map((one, index) => listOf(one, data, index < openLists, names.filter((of) => of === one.of).length > 1))
  )
}

/** Ids are unique within their location. */
const conditionOf = (of, column, target, valueOf) => [
  ...(column !== "location_id" && of.columns.some(({ name }) => name === "location_id")
    ? [["location_id", valueOf("location_id")]]
    : []),
  [column, valueOf(target)]
]

const listOf = ({ of, column, values: all, showsDeleted, n }, data, isOpen, needsColumn) => {
  const filters = all.map(([name, value]) => ({ column: name, operator: "equals", value }))
  const box = h("div")
  const title =
    of.schema === "crm_history" ? "Earlier versions of it" : `${of.name}${needsColumn ? ` by ${column}` : ""}`
  const read = async () => {
    const hidden = hiddenColumns(of, data).add(column)
    const sql = pageOf(of, { filters, page: 0, showsDeleted }, rowsPerList)
    const columns = shownColumns(of, hidden)
    const rows = rowsOf(await request("/api/query", { sql }))
    return [
      grid({ columns, rows, label: title, rowAddress: (valueOf) => ownAddress(of, valueOf), data }),
      h(
        "a",
        { href: tableAddress(of, { filters, showsDeleted }) },
        n > rowsPerList ? `All ${number(n)} in ${of.name}` : `Open in ${of.name}`
      )
    ]
  }
  const list = h("details", { open: isOpen }, h("summary", title, h("span.count", number(n))), box)
  list.addEventListener("toggle", () => {
    if (!list.open || box.childElementCount > 0) return
    box.append(h("p.muted", "Reading…"))
    fill(box, read)
  })
  return list
}
