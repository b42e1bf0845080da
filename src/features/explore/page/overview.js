/** The start: the tables that people know, then those that are made for questions. */
import { tableAddress } from "./address.js"
import { grouped, itemsOf, rowsIn } from "./catalog.js"
import { breakable, h, number } from "./dom.js"

export const overview = ({ tables, find, locations }) => {
  const names = Object.values(locations)
  return h(
    "section.overview",
    h("h2", "Choose a table"),
    h(
      "p.muted",
      `${names.length === 1 ? `${names[0]}. ` : names.length > 1 ? `${number(names.length)} locations. ` : ""}Everything here is read-only. Rows stay on this machine.`
    ),
    grouped(tables)
      .filter(({ isFolded, title }) => !isFolded && title !== "Tables")
      .map((group, index) =>
        h(
          "div",
          h("h3", group.title),
          h("ul", { className: index === 0 ? "cards" : "lines" }, itemsOf(group, card(find)))
        )
      )
  )
}

const card = (find) => (table) => {
  const rows = rowsIn(table, find)
  return h(
    "li",
    h("a", { href: tableAddress(table) }, breakable(table.name)),
    rows === undefined ? null : h("span.count", `${number(rows)} ${rows === 1 ? "row" : "rows"}`),
    h("p.muted", table.comment ?? "")
  )
}
