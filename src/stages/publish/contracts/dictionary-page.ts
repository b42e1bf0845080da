/** The data dictionary as one HTML page that needs no network: a search, a diagram of each family, and example queries. */
import { type DescribedTable, sourceText } from "../../../catalog/dictionary.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { personalDataClasses, personalDataMeanings } from "../../../catalog/personal-data.ts"
import { pageStyle } from "../../../values/page-style.ts"
import { type ContractColumn, type ContractTable, contractOf } from "./contract.ts"
import { makeDiagrams } from "./diagram.ts"
import { exampleQuery } from "./example-query.ts"

export const dictionaryPage = async (
  catalogue: Catalogue,
  described: ReadonlyArray<DescribedTable>
): Promise<string> => {
  const diagramOf = await makeDiagrams()
  const all = contractOf(catalogue)
  const tables = described.map((one) => ({ one, table: all.find(({ name }) => name === one.table.name)! }))
  const families = [...new Set(tables.map(({ table }) => table.family))]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Data dictionary</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Data dictionary</h1>
<p>${tables.length} tables. Classes of personal data: ${personalDataClasses.map((name) => `<b>${name}</b> ${personalDataMeanings[name]}`).join("; ")}.</p>
<label>Search tables and columns <input type="search" id="search" autocomplete="off" spellcheck="false"></label>
<p id="found" role="status"></p>
</header>
<nav aria-label="Tables">
${families
  .map(
    (family) =>
      `<details open><summary>${family}</summary><ul>${tables
        .filter(({ table }) => table.family === family)
        .map(({ table }) => `<li><a href="#${table.name}">${table.name}</a></li>`)
        .join("")}</ul></details>`
  )
  .join("\n")}
</nav>
<main>
${families
  .map((family) => {
    const own = tables.filter(({ table }) => table.family === family)
    const drawn = diagramOf(
      family,
      own.map(({ table }) => table)
    )
    return `<section class="family"><h2>${family}</h2>
<figure>${drawn}<figcaption>Solid: tables of this family. Dashed: tables of others. The fork is at the side of many rows.</figcaption></figure>
${own.map(({ one, table }) => tableSection(catalogue, one, table, all)).join("\n")}
</section>`
  })
  .join("\n")}
</main>
<script>${script}</script>
</body>
</html>
`
}

const tableSection = (
  catalogue: Catalogue,
  described: DescribedTable,
  table: ContractTable,
  all: ReadonlyArray<ContractTable>
): string => `<section class="table" id="${table.name}">
<h3>${table.name}</h3>
<p>${prose(table.description)}</p>
<p class="source">${prose(sourceText(catalogue, described).replaceAll(/^- /gm, ""))}</p>
<div class="scroll" role="region" aria-label="Columns of ${table.name}" tabindex="0"><table>
<thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">Meaning</th><th scope="col">Personal data</th><th scope="col">Refers to</th></tr></thead>
<tbody>
${table.columns.map((column) => columnRow(column, table)).join("\n")}
</tbody></table></div>
<details><summary>Example query</summary><pre><code>${escape(exampleQuery(table, all))}</code></pre></details>
</section>`

const columnRow = (
  { name, type, description, personal, refersTo, documentedValues }: ContractColumn,
  { key }: ContractTable
) =>
  `<tr><th scope="row"><code>${name}</code>${key.includes(name) ? " <small>key</small>" : ""}</th><td><code>${type}</code></td>` +
  `<td>${prose(description)}${valuesText(description, documentedValues)}</td>` +
  `<td>${personal === "none" ? "" : personal}</td><td>${refersTo ? `<a href="#${refersTo.table}">${refersTo.table}</a>` : ""}</td></tr>`

/** Most descriptions already name the values. */
const valuesText = (description: string, values: ReadonlyArray<string> = []): string =>
  values.every((value) => description.includes(`\`${value}\``))
    ? ""
    : ` <small>${values.map(escape).join(" · ")}</small>`

const prose = (text: string): string => escape(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>")

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const style = `${pageStyle}
body { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 0 2rem; max-width: var(--frame); margin: 0 auto; padding: 0 1.5rem; }
body > header { grid-column: 1 / -1; width: 100%; padding: 1.5rem 0 1rem; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
body > main { width: 100%; padding: 0; }
h2 { margin-top: 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); } h3 { margin-top: 2rem; overflow-wrap: anywhere; }
input { display: block; width: 100%; max-width: 26rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding-bottom: 1rem; font-size: .9rem; }
nav summary { color: var(--text); font-weight: 600; }
nav ul { list-style: none; margin: 0 0 .5rem; padding: 0 0 0 1rem; overflow-wrap: anywhere; } nav a { text-decoration: none; }
.source { color: var(--muted); white-space: pre-line; font-size: .9em; }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { width: 100%; height: auto; }
section { min-width: 0; }
@media (max-width: 50rem) { body { display: block; padding: 0 1rem; } nav { position: static; max-height: 14rem; } }
@media print { nav, label, #found { display: none; } body { display: block; padding: 0; } }
`

/** Without it, the page shows everything. */
const script = `
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
  found.textContent = words.length === 0 ? "" : tables + " tables found."
})
`
