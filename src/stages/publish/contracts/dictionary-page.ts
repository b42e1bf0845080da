/**
 * The data dictionary as one HTML page that needs no network: tables and models, from which API operation and which columns each
 * value comes, a search, example queries; and what is known of an account.
 */
import { type Described, originText } from "../../../catalog/dictionary.ts"
import type { Catalogue } from "../../../catalog/discover.ts"
import { personalDataClasses, personalDataMeanings } from "../../../catalog/personal-data.ts"
import { counted } from "../../../values/finding.ts"
import { Html, documentOf, escaped, html } from "../../../pages/html.ts"
import { tableOf, text } from "../../../pages/html-table.ts"
import { number } from "../../../values/text.ts"
import { modelFamily } from "../models/dictionary.ts"
import { type ContractTable, contractOf } from "./contract.ts"
import { exampleQuery, script, style } from "./dictionary-parts.ts"

/** What an output folder says beside the definitions. */
export interface AccountFacts {
  /** ISO 8601. */
  readonly releasedAt: string | undefined
  /** By table, and by model with its schema. Deleted rows count. */
  readonly rows: ReadonlyMap<string, number>
  /** When each resource was last read completely, in UTC. */
  readonly completeAt: ReadonlyMap<string, string>
  readonly customFields: ReadonlyArray<{
    readonly name: string
    readonly key: string
    readonly kind: string
    readonly location: string
    /** The columns of wide views: `contacts_wide.shoe_size`. */
    readonly columns: ReadonlyArray<string>
  }>
}

export const dictionaryPage = (
  catalogue: Catalogue,
  described: ReadonlyArray<Described>,
  facts: AccountFacts | undefined
): string => {
  const all = contractOf(catalogue)
  const models = described.filter(({ family }) => family === modelFamily)
  const tables = described.filter(({ family }) => family !== modelFamily)
  const shown = new Set(described.map(({ name }) => name))
  const columns = new Set(described.flatMap((one) => one.columns.map(({ name }) => `${one.name}.${name}`)))
  const link: Link = (target) =>
    shown.has(target) || columns.has(target) ? `<a href="#${target}">${escaped(target)}</a>` : escaped(target)
  const usedBy = (table: string) => models.filter(({ reads }) => reads.includes(table)).map(({ name }) => name)
  const context = { all, facts, link, usedBy }
  const fields = facts?.customFields ?? []
  const lead = `<p class="lead">Ready-made tables in the schema ${modelFamily} of each release. The last column says from which columns of tables a value is made, as far as the SQL of the model says it.</p>`
  const families = Array.from(
    Map.groupBy([...models, ...tables], ({ family }) => family),
    ([family, own]) => {
      const names = own.map(({ name }) => name)
      const sections = own.map((one) => tableSection(one, context))
      return family === modelFamily
        ? { title: "Models", names, sections: [lead, ...sections] }
        : { title: family, names, sections }
    }
  )
  const body = `<header id="top">
<h1>Data dictionary</h1>
<p class="lead">Which tables and models there are, what each column means, and where it comes from.</p>
${tiles(tables, models, facts)}
<label>Search names, sentences and origins <input type="search" id="search" autocomplete="off" spellcheck="false"></label>
<p id="found" class="note" role="status"></p>
<p class="note">Classes of personal data: ${personalDataClasses.map((name) => `<b>${name}</b> ${personalDataMeanings[name]}`).join("; ")}.</p>
</header>
<nav aria-label="Tables and models">
<p><a href="#top">All tables and models</a></p>
${families.map(({ names, title }) => navigation(title, names)).join("\n")}
${fields.length === 0 ? "" : '<p><a href="#custom-fields">Custom fields</a></p>'}
</nav>
<main${shown.size > 1 ? ' class="several"' : ""}>
${families
  .map(
    ({ sections, title }) => `<section class="family"><h2>${title}</h2>
${sections.join("\n")}
</section>`
  )
  .join("\n")}
${fields.length === 0 ? "" : customFieldsPart(fields)}
</main>
<script>${script}</script>`
  return documentOf("Data dictionary", style, new Html(body))
}

/** A link to a table, a model or one of its columns, if it is on the page. */
type Link = (target: string) => string

interface Context {
  readonly all: ReadonlyArray<ContractTable>
  readonly facts: AccountFacts | undefined
  readonly link: Link
  /** The models that read a table or model. */
  readonly usedBy: (name: string) => ReadonlyArray<string>
}

const tiles = (tables: ReadonlyArray<Described>, models: ReadonlyArray<Described>, facts: AccountFacts | undefined) => {
  const rows = tables.reduce((sum, { name }) => sum + (facts?.rows.get(name) ?? 0), 0)
  const shown = [
    [`${tables.length}`, "tables"],
    ...(models.length === 0 ? [] : [[`${models.length}`, "models"]]),
    ...(facts
      ? [
          [number(rows), "rows in the tables"],
          [`${facts.customFields.length}`, "custom fields"],
          [facts.releasedAt?.slice(0, 10) ?? "unknown", "day of the release, UTC"]
        ]
      : [])
  ]
  return `<dl class="tiles">${shown.map(([value, what]) => `<div><dt>${what}</dt><dd><strong>${value}</strong></dd></div>`).join("")}</dl>`
}

const navigation = (title: string, names: ReadonlyArray<string>): string =>
  `<details open><summary>${title}</summary><ul>${names
    .map((name) => `<li><a href="#${name}">${name.replace(`${modelFamily}.`, "")}</a></li>`)
    .join("")}</ul></details>`

const linked = (text: string, names: ReadonlyArray<string>, link: Link): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${text} ${names.map(link).join(", ")}.`]

const tableSection = (described: Described, { all, facts, link, usedBy }: Context): string => {
  const { columns, description, family, key, name, reads, resource, source } = described
  const table = all.find((one) => one.name === name)
  const n = facts?.rows.get(name)
  const at = resource && facts?.completeAt.get(resource)
  const known = [n === undefined ? [] : counted(n, "row"), at ? `last read completely ${escaped(at)} UTC` : []].flat()
  const origins = [
    ...(source === "" ? [] : [prose(source.replaceAll(/^- /gm, ""))]),
    ...linked("Made of", reads, link),
    ...linked("Read by", usedBy(name), link)
  ]
  const last = family === modelFamily ? "Made of" : "Refers to"
  const rows = columns.map(
    (column) =>
      // To which the origins of models refer.
      `<tr id="${name}.${column.name}"><th scope="row"><code>${column.name}</code>${key.includes(column.name) ? " <small>key</small>" : ""}</th>` +
      `<td><code>${escaped(column.type)}</code></td><td>${prose(column.description)}${valuesText(column.description, column.documentedValues)}</td>` +
      `<td>${column.personal === "none" ? "" : column.personal}</td><td>${originText(column, link)}</td></tr>`
  )
  return sectionOf(
    name,
    `${known.length === 0 ? "" : `<p class="facts">${known.join(" · ")}</p>`}<p class="meaning">${prose(description)}</p>
<p class="source">${origins.join("\n")}</p>
<div class="scroll" role="region" aria-label="Columns of ${name}" tabindex="0"><table>
<thead><tr>${["Column", "Type", "Meaning", "Personal data", last].map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table></div>
${table === undefined ? "" : `<details><summary>Example query</summary><pre tabindex="0"><code>${escaped(exampleQuery(table, all))}</code></pre></details>`}`
  )
}

const sectionOf = (id: string, content: string, title = id): string =>
  `<section class="table" id="${id}">\n<h3><a href="#${id}">${title}</a></h3>\n${content}\n</section>`

const customFieldsPart = (fields: AccountFacts["customFields"]): string => {
  const code = (name: string) => html`<code>${name}</code> `
  const table = tableOf(fields, {
    id: "fields",
    caption: "The custom fields of the account, and the columns that they have in wide views",
    group: new Set(fields.map(({ location }) => location)).size > 1 ? ({ location }) => location : undefined,
    columns: [
      text("Name", ({ name }) => name),
      text("Key", ({ key }) => code(key)),
      text("Kind", ({ kind }) => kind),
      text("Columns", ({ columns }) => columns.map(code))
    ]
  })
  return `<section class="family"><h2>Custom fields</h2>\n${sectionOf("custom-fields", table.text, "All custom fields")}</section>`
}

/** Most descriptions already name the values. */
const valuesText = (description: string, values: ReadonlyArray<string> = []): string =>
  values.every((value) => description.includes(`\`${value}\``))
    ? ""
    : ` <small>${values.map(escaped).join(" · ")}</small>`

const prose = (text: string): string => escaped(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>")
