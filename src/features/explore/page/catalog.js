/** The list of tables and views. */
import { h } from "./dom.js"

const groups = [
  { title: "Models", holds: ({ schema }) => schema === "bi", isOpen: true },
  { title: "Tables", holds: ({ schema, kind }) => schema === "main" && kind === "table", isOpen: true },
  { title: "Wide views", holds: ({ schema, name }) => schema === "main" && name.endsWith("_wide"), isOpen: true },
  { title: "Changes", holds: ({ schema }) => schema === "main" },
  { title: "History", holds: ({ schema }) => schema === "crm_history" },
  { title: "Syncs", holds: ({ schema }) => schema === "meta" },
  { title: "Others", holds: () => true }
]

/** Tables by group, in the order of the page. */
export const grouped = (tables) => {
  const left = new Set(tables)
  return groups
    .map((group) => {
      const held = [...left].filter(group.holds)
      for (const table of held) left.delete(table)
      return { ...group, tables: held }
    })
    .filter((group) => group.tables.length > 0)
}

export const addressOf = ({ schema, name }) => `#/table/${encodeURIComponent(schema)}/${encodeURIComponent(name)}`

/** `current`: the table that is shown. */
export const catalogList = (tables, current) => {
  const search = h("input", {
    type: "search",
    placeholder: "Find a table or column",
    "aria-label": "Find a table or column"
  })
  const list = h("div", {})
  const show = () => {
    const text = search.value.trim().toLowerCase()
    const found = tables.filter(
      ({ name, columns }) =>
        name.includes(text) || (text.length > 2 && columns.some((column) => column.name.includes(text)))
    )
    list.replaceChildren(
      ...grouped(found).map(({ title, tables: shown, isOpen }) =>
        h(
          "details",
          { open: Boolean(isOpen) || text !== "" || shown.includes(current) },
          h("summary", {}, title, h("span", { className: "count" }, String(shown.length))),
          h(
            "ul",
            {},
            shown.map((table) =>
              h(
                "li",
                {},
                h(
                  "a",
                  {
                    href: addressOf(table),
                    title: table.comment ?? "",
                    ...(table === current && { "aria-current": "page" })
                  },
                  h("span", {}, table.name),
                  table.rows === undefined
                    ? null
                    : h("span", { className: "count" }, table.rows.toLocaleString("en-US"))
                )
              )
            )
          )
        )
      ),
      ...(found.length === 0 ? [h("p", { className: "muted" }, "No table or column has this name.")] : [])
    )
  }
  search.addEventListener("input", show)
  show()
  return [search, list]
}
