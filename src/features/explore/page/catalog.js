/** The list of tables and views. */
import { tableAddress } from "./address.js"
import { breakable, h, number, searchField } from "./dom.js"
import { request } from "./service.js"
import { qualified } from "./sql.js"
import { firstNames } from "./things.js"

const isKnown = ({ schema, name, kind }) => schema === "main" && kind === "table" && firstNames.includes(name)
const isWide = ({ name }) => /_wide(_.+)?$/.test(name)

const isModel = (prefix) => (table) => table.schema === "bi" && !table.isStaging && table.name.startsWith(prefix)

/** `isFolded`: shown below all others, when somebody asks for it; `hasSubjects`: by what the rows are about. */
const groups = [
  { title: "Start here", holds: isKnown },
  { title: "Facts", holds: isModel("fct_"), hasSubjects: true },
  { title: "Dimensions", holds: isModel("dim_") },
  { title: "Models", holds: isModel("") },
  { title: "Tables", holds: (table) => table.schema === "main" && table.kind === "table" && !isWide(table) },
  { title: "Wide tables", holds: (table) => table.schema === "main" && isWide(table) },
  { title: "Changes", holds: ({ schema }) => schema === "main", isFolded: true },
  { title: "History", holds: ({ schema }) => schema === "crm_history", isFolded: true },
  { title: "Syncs", holds: ({ schema }) => schema === "meta", isFolded: true },
  { title: "Staging views", holds: (table) => table.isStaging === true, isFolded: true },
  { title: "Others", holds: () => true, isFolded: true }
]

const placeOf = (table) => {
  const group = groups.findIndex(({ holds }) => holds(table))
  return [
    group,
    isKnown(table) ? firstNames.indexOf(table.name) : 0,
    (groups[group].hasSubjects && table.subject) || ""
  ]
}

/** The order in which people look for tables. */
export const byKnown = (one, other) => {
  const [[a, b, about], [c, d, aboutOther]] = [placeOf(one), placeOf(other)]
  return a - c || b - d || (`${about} ${one.name}` < `${aboutOther} ${other.name}` ? -1 : 1)
}

/** Tables by group, in the order of the page. */
export const grouped = (tables) => {
  const held = Map.groupBy(tables.toSorted(byKnown), (table) => groups[placeOf(table)[0]])
  return groups.flatMap((group) => (held.has(group) ? [{ ...group, tables: held.get(group) ?? [] }] : []))
}

/** An item for each table of a group, those of a subject below its name. */
/** @param {{ tables: ReadonlyArray<any>, hasSubjects?: boolean }} group */
export const itemsOf = ({ tables, hasSubjects }, item) =>
  Array.from(
    Map.groupBy(tables, ({ subject = "" }) => (hasSubjects ? subject : "")),
    ([subject, held]) => [subject === "" ? [] : h("li.subject", subject), held.map(item)]
  ).flat(2)

export const catalogList = ({ tables, find }) => {
  const list = h("div")
  let current
  let links
  let text = ""
  const show = (wanted = text) => {
    text = wanted
    const found = tables.filter(
      ({ name, columns }) =>
        name.includes(text) || (text.length > 2 && columns.some((column) => column.name.includes(text)))
    )
    links = new Map()
    const isOpen = (shown) => text !== "" || shown.includes(current)
    const groupOf = (group) => tableGroup(group, find, !group.isFolded || isOpen(group.tables), links)
    const all = grouped(found)
    const folded = all.filter(({ isFolded }) => isFolded)
    const held = folded.flatMap((group) => group.tables)
    list.replaceChildren(
      ...all.filter(({ isFolded }) => !isFolded).map(groupOf),
      held.length === 0 ? "" : detailsOf("Behind them", held.length, isOpen(held), ...folded.map(groupOf)),
      found.length === 0 ? h("p.muted", "No table or column has this name.") : ""
    )
    links.get(current)?.setAttribute("aria-current", "page")
  }
  show()
  return {
    elements: [
      searchField("Find a table or column", show),
      h("p.muted", "Rows that exist, without those of deleted records."),
      list
    ],
    /** When more is known of the tables. */
    update: () => show(),
    /** `table`: the one that is shown, if any. */
    setCurrent: (table) => {
      links.get(current)?.removeAttribute("aria-current")
      current = table
      // A group that is closed has no links yet.
      if (table && !links.has(table)) show()
      links.get(table)?.setAttribute("aria-current", "page")
    }
  }
}

const detailsOf = (title, n, isOpen, ...content) =>
  h("details.tables", { open: isOpen }, h("summary", title, h("span.count", number(n))), ...content)

/** Its links are made when it is open; `links`: gets them by table. */
const tableGroup = (group, find, isOpen, links) => {
  const { title, tables } = group
  const counts = new Map()
  const item = (table) => {
    const rows = rowsIn(table, find)
    const count = h("span.count", { title: rowsTitle(table, find) }, rows === undefined ? "" : number(rows))
    const link = h(
      "a",
      { href: tableAddress(table), title: table.comment ?? "" },
      h("span", breakable(table.name)),
      count
    )
    counts.set(table, count)
    links.set(table, link)
    return h("li", link)
  }
  const list = h("ul")
  const fill = () => list.childElementCount === 0 && list.append(...itemsOf(group, item))
  const details = detailsOf(title, tables.length, isOpen, list)
  if (isOpen) fill()
  // A group that is open from the start is toggled, too.
  details.addEventListener("toggle", () => {
    if (!details.open) return
    fill()
    countViews(tables, find, counts)
  })
  return details
}

const counted = (table, find) => (table.rows === undefined && table.wide ? find(table.schema, table.wide.table) : table)

/** Rows that exist, as the page shows them: known without a query of a table, and for a wide view of its table. */
export const rowsIn = (table, find) => {
  const { deleted = 0, rows } = counted(table, find) ?? {}
  return rows === undefined ? undefined : rows - deleted
}

const rowsTitle = (table, find) => {
  const { deleted } = counted(table, find) ?? {}
  return deleted ? `Rows that exist; ${number(deleted)} more are of deleted records` : "Rows"
}

/** Views are counted when their group is opened, once for a release. */
const countViews = async (tables, find, counts) => {
  const left = tables.filter((table) => rowsIn(table, find) === undefined)
  if (left.length === 0) return
  const sql = left.map((table, index) => `SELECT ${index} AS i, count(*) AS n FROM ${qualified(table)}`)
  const { rows } = await request("/api/query", { sql: sql.join("\nUNION ALL ") }).catch(() => ({ rows: [] }))
  for (const [index, n] of rows) {
    const table = left[Number(index)]
    table.rows = Number(n)
    counts.get(table).textContent = number(table.rows)
  }
}
