/** Parts of the dictionary page: its style, its search, and an example query for each table. */
import { pageStyle } from "../../../pages/page-style.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import type { ContractColumn, ContractTable } from "./contract.ts"

export const style = `${pageStyle}
body { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 0 2rem; max-width: var(--frame); margin: 0 auto; padding: 0 1.5rem; }
body > header { grid-column: 1 / -1; width: 100%; padding: 1.5rem 0 1rem; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
body > main { width: 100%; padding: 0; }
h2 { margin-top: 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); } h3 { overflow-wrap: anywhere; } h3 a { text-decoration: none; }
.table { margin-top: 1.5rem; }
.tiles strong { font-size: 1.35rem; white-space: nowrap; }
label { display: block; margin-top: 1.2rem; } input { display: block; width: 100%; max-width: 26rem; }
tr:target { background: var(--selection); } section, tr { scroll-margin-top: 1rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding-bottom: 1rem; font-size: .9rem; }
nav summary { color: var(--text); font-weight: 600; }
nav > p:first-child { position: sticky; top: 0; margin: 0; padding: .5rem 0; background: var(--ground); }
nav [aria-current] { color: var(--text); font-weight: 600; }
nav ul { list-style: none; margin: 0 0 .5rem; padding: 0 0 0 1rem; overflow-wrap: anywhere; } nav a { text-decoration: none; }
tr[id] td:nth-child(3) { min-width: 13rem; } .group th { font-weight: 600; }
.facts { color: var(--muted); font-size: .85rem; margin: 0 0 .3rem; }
.source { color: var(--muted); white-space: pre-line; font-size: .9em; }
section { min-width: 0; }
/* One table at a time, that of the address; without one, a card for each. */
@media screen {
body:not(.searching) main:has(:target) :is(.family, .table):not(:target, :has(:target)) { display: none; }
body:not(.searching) .several:not(:has(:target)) {
.family { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1.2rem 2rem; } .family > :not(.table) { grid-column: 1 / -1; margin-bottom: 0; }
.table, .meaning { margin: 0; } .table > :not(h3, .meaning, .caption) { display: none; } h3 { font-size: 1rem; }
}
.searching .family > :not(h2, .table), .searching .table > :not(h3, .meaning, .scroll), nav details:not(:has(li:not([hidden]))) { display: none; }
}
@media (max-width: 50rem) { body { display: block; padding: 0 1rem; } nav { position: relative; max-height: 14rem; } }
@media print { nav, label, #found { display: none; } body { display: block; padding: 0; } }
`

/** The search, which an opened table ends, and the mark of that table in the list. */
export const script = `
const search = document.getElementById("search"), found = document.getElementById("found")
const sections = [...document.querySelectorAll("section.table")], shownMax = 25
const linkTo = ({ id }) => document.querySelector('nav a[href="#' + id + '"]')
const find = () => {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const isSearch = words.length > 0
  document.body.classList.toggle("searching", isSearch)
  let tables = 0
  for (const section of sections) {
    const text = section.textContent.toLowerCase()
    const isHit = words.every((word) => text.includes(word))
    if (isHit) tables++
    section.hidden = !isHit || (isSearch && tables > shownMax)
    linkTo(section).parentElement.hidden = !isHit
    for (const row of section.querySelectorAll("tbody tr")) {
      const isNamed = words.some((word) => row.textContent.toLowerCase().includes(word))
      row.hidden = isSearch && !isNamed && !words.some((word) => section.id.includes(word))
    }
  }
  for (const family of document.querySelectorAll("section.family"))
    family.hidden = ![...family.querySelectorAll("section.table")].some((one) => !one.hidden)
  found.textContent = (!isSearch ? "" : tables === 1 ? "1 table or model found." : tables + " tables and models found.") +
    (isSearch && tables > shownMax ? " The first " + shownMax + " are shown; the list has all." : "")
}
const mark = () => {
  const opened = document.getElementById(location.hash.slice(1))?.closest("section.table")
  for (const section of sections) linkTo(section).ariaCurrent = section === opened ? "page" : null
  const nav = document.querySelector("nav")
  if (opened) nav.scrollTop = linkTo(opened).offsetTop - nav.clientHeight / 2
}
search.addEventListener("input", find)
document.addEventListener("click", ({ target }) => {
  if (search.value === "" || !target.closest("main a, nav a")) return
  search.value = ""
  find()
})
addEventListener("hashchange", mark)
mark()
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
