/** Parts of the dictionary page: its style, its search, and an example query for each table. */
import { pageStyle } from "../../../values/page-style.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import type { ContractColumn, ContractTable } from "./contract.ts"

export const style = `${pageStyle}
body { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 0 2rem; max-width: var(--frame); margin: 0 auto; padding: 0 1.5rem; }
body > header { grid-column: 1 / -1; width: 100%; padding: 1.5rem 0 1rem; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
body > main { width: 100%; padding: 0; }
h2 { margin-top: 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); } h3 { margin-top: 2rem; overflow-wrap: anywhere; }
.tiles strong { font-size: 1.35rem; white-space: nowrap; }
label { display: block; margin-top: 1.2rem; } input { display: block; width: 100%; max-width: 26rem; }
tr:target { background: var(--selection); } section, tr { scroll-margin-top: 1rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding-bottom: 1rem; font-size: .9rem; }
nav summary { color: var(--text); font-weight: 600; }
nav ul { list-style: none; margin: 0 0 .5rem; padding: 0 0 0 1rem; overflow-wrap: anywhere; } nav a { text-decoration: none; }
.facts { color: var(--muted); font-size: .85rem; margin: 0 0 .3rem; }
.source { color: var(--muted); white-space: pre-line; font-size: .9em; }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { width: 100%; height: auto; }
section { min-width: 0; }
@media (max-width: 50rem) { body { display: block; padding: 0 1rem; } nav { position: static; max-height: 14rem; } }
@media print { nav, label, #found { display: none; } body { display: block; padding: 0; } }
`

/** Without it, the page shows everything. */
export const script = `
const search = document.getElementById("search"), found = document.getElementById("found")
const sections = [...document.querySelectorAll("section.table")]
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let tables = 0
  for (const section of sections) {
    const text = section.textContent.toLowerCase()
    const isHit = words.every((word) => text.includes(word))
    section.hidden = !isHit
    if (isHit) tables++
    document.querySelector('nav a[href="#' + section.id + '"]').parentElement.hidden = !isHit
    for (const row of section.querySelectorAll("tbody tr")) {
      const isNamed = words.some((word) => row.textContent.toLowerCase().includes(word))
      row.hidden = words.length > 0 && !isNamed && !words.some((word) => section.id.includes(word))
    }
  }
  for (const family of document.querySelectorAll("section.family"))
    family.hidden = ![...family.querySelectorAll("section.table")].some((one) => !one.hidden)
  found.textContent = words.length === 0 ? "" : tables === 1 ? "1 table or model found." : tables + " tables and models found."
})
`

/** An example query for each table: the rows that exist, newest first, with the name of what they refer to. */
export const exampleQuery = (table: ContractTable, tables: ReadonlyArray<ContractTable>): string => {
  const plain = table.columns.filter(
    (column) => !column.name.startsWith("_") && column.name !== "location_id" && column.type !== "JSON"
  )
  const joined = plain.map((column) => joinOf(column, tables)).find((join) => join !== undefined)
  const shown = plain.filter((column) => column !== joined?.column).slice(0, columnsMax)
  const newest = plain.find(({ type }) => type === "TIMESTAMPTZ")
  const columns = [
    ...shown.map((column) => `t.${name(column.name)}`),
    ...(joined ? [`r.${name(joined.label)} AS ${name(`${joined.table}_${joined.label}`)}`] : [])
  ]
  return [
    `SELECT ${columns.join(", ")}`,
    `FROM ${name(table.name)} AS t`,
    ...(joined
      ? [
          `LEFT JOIN ${name(joined.table)} AS r`,
          `  ON r.location_id = t.location_id AND r.${name(joined.key)} = t.${name(joined.column.name)}`
        ]
      : []),
    "WHERE t._deleted_at IS NULL",
    ...(newest ? [`ORDER BY t.${name(newest.name)} DESC NULLS LAST`] : []),
    "LIMIT 20;"
  ].join("\n")
}

const columnsMax = 5

/** Names by which people know a record. */
const labels = ["name", "title", "subject", "email", "contact_name"]

const joinOf = (column: ContractColumn, tables: ReadonlyArray<ContractTable>) => {
  const { refersTo } = column
  const target = tables.find((table) => table.name === refersTo?.table)
  const label = labels.find((wanted) => target?.columns.some((one) => one.name === wanted))
  return refersTo && label ? { column, table: refersTo.table, key: refersTo.column, label } : undefined
}
