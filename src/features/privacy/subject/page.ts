/** `index.html` of an export about a person: readable in any browser, without a network, and on paper. */
import { kinds } from "../../../catalog/kinds.ts"
import type { Column } from "../../../catalog/tables.ts"
import { counted } from "../../../values/finding.ts"
import { type Html, documentOf, html, timeHtml } from "../../../pages/html.ts"
import { number, tableOf, text } from "../../../pages/html-table.ts"
import { pageStyle } from "../../../pages/page-style.ts"
import type { CoveredResource } from "./coverage.ts"
import type { FoundContact } from "./find.ts"

export interface PageTable {
  readonly name: string
  readonly description: string
  readonly rows: number
  /** By name. */
  readonly columns: ReadonlyMap<string, Pick<Column, "description" | "sql">>
  /** The first rows: texts by column. */
  readonly shown: ReadonlyArray<Readonly<Record<string, string | null>>>
}

export interface Page {
  readonly title: string
  /** When the newest of the data were read. */
  readonly asOf: string
  readonly contacts: ReadonlyArray<FoundContact>
  /** The name of a location, or its id. */
  readonly placeOf: (location: string) => string
  readonly addresses: ReadonlyArray<string>
  readonly coverage: ReadonlyArray<CoveredResource>
  readonly tables: ReadonlyArray<PageTable>
  /** Counts, in words. */
  readonly held: string
  readonly links: ReadonlyArray<{ readonly table: string; readonly url: string }>
  readonly files: ReadonlyArray<string>
  /** Paths of the pages of conversations. */
  readonly conversations: ReadonlyArray<string>
  readonly candidates:
    | ReadonlyArray<{ readonly table: string; readonly key: string; readonly column: string }>
    | undefined
  readonly limits: ReadonlyArray<string>
}

export const pageOf = (page: Page): string =>
  documentOf(
    page.title,
    style,
    html` <header>
        <h1>${page.title}</h1>
        <p>The data that this account holds about this person, as of ${timeHtml(page.asOf)}. Times are in UTC.</p>
      </header>
      <main>
        <section>
          <h2>Person</h2>
          ${page.contacts.map((contact) => contactHtml(contact, page.placeOf))}
          ${page.contacts.length === 0 ? html`<p>No contact; known by an address.</p>` : undefined}
          <p>Searched for: ${page.addresses.join(", ") || "the contact's id"}.</p>
        </section>
        ${contentsHtml(page)} ${coverageHtml(page)} ${page.tables.map(tableHtml)} ${linksHtml(page)}
        <section>
          <h2>What this cannot contain</h2>
          <ul>
            ${page.limits.map((limit) => html`<li>${limit}</li>`)}
          </ul>
        </section>
      </main>`
  )

const contactHtml = ({ deletedAt, emails, id, location, name, phones }: FoundContact, placeOf: Page["placeOf"]): Html =>
  html`<p>
    <b>${name ?? "Without a name"}</b>, contact <code>${id}</code> of
    ${placeOf(location)}${deletedAt === null ? "" : html`, deleted on ${timeHtml(deletedAt)}`}.
    ${emails.length > 0 ? `Email: ${emails.join(", ")}.` : ""}
    ${phones.length > 0 ? `Phone: ${phones.join(", ")}.` : ""}
  </p>`

const coverageHtml = ({ candidates, coverage }: Page): Html =>
  html`<section>
    <h2>Where was looked</h2>
    ${tableOf(coverage, {
      id: "looked",
      caption: "Sources, and until when each was read",
      columns: [
        text("Source", ({ resource }) => resource),
        text(
          "Found",
          ({ finding, mentions }) =>
            `${finding}${mentions > 0 ? `; ${mentions} more of other contacts contain an address of the person` : ""}`
        ),
        text("Complete as of", ({ completeAt }) => (completeAt === undefined ? "never" : timeHtml(completeAt)))
      ]
    })}
    ${
      candidates === undefined
        ? undefined
        : html`<p>
            Texts of other records that may be about the person: ${candidates.length}. candidates.json lists them by
            table, key and column.
          </p>`
    }
  </section>`

/** What is held, before the rows themselves. */
const contentsHtml = ({ conversations, files, held, links, tables }: Page): Html => {
  const others = [
    conversations.length > 0 ? counted(conversations.length, "conversation") : [],
    files.length > 0 ? counted(files.length, "file") : [],
    links.length > 0 ? counted(links.length, "link to a file", "links to files") : []
  ].flat()
  return html`<section>
    <h2>What is held</h2>
    <p>
      ${held}${others.length === 0 ? "" : html`; ${others.join(", ")}, under <a href="#files">Conversations and files</a>`}.
    </p>
    ${
      tables.length === 0
        ? undefined
        : tableOf(tables, {
            id: "held",
            caption: "Tables, and how many rows of each",
            columns: [
              text("Table", ({ name }) => html`<a href="#${name}">${name}</a>`),
              number("Rows", ({ rows }) => rows),
              text("What it is", ({ description }) => description)
            ]
          })
    }
  </section>`
}

const tableHtml = ({ columns, description, name, rows, shown }: PageTable): Html =>
  html`<section id="${name}">
    <h2>${name}</h2>
    <p>
      ${description} ${rows > shown.length ? `The first ${shown.length} of ${rows}; the files have all.` : ""}
      <a href="data/${name}.json">JSON</a>, <a href="data/${name}.csv">CSV</a>
    </p>
    <details ${shown.length > 5 ? undefined : "open"}>
      <summary>${counted(shown.length, "row")}</summary>
      ${shown.map(
        (row) =>
          html`<dl>
            ${Object.entries(row).map(
              ([column, value]) =>
                html`<dt title="${columns.get(column)?.description}">${column}</dt>
                  <dd>${columns.get(column)?.sql === kinds.instant.sql ? timeHtml(value ?? "") : (value ?? "")}</dd>`
            )}
          </dl>`
      )}
    </details>
  </section>`

const linksHtml = ({ conversations, files, links }: Page): Html | undefined =>
  conversations.length + links.length + files.length === 0
    ? undefined
    : html`<section id="files">
        <h2>Conversations and files</h2>
        <ul>
          ${conversations.map((file) => html`<li><a href="${file}">${file}</a></li>`)}
          ${files.map((file) => html`<li><a href="${file}">${file}</a></li>`)}
          ${links.map(({ table, url }) => html`<li>${table}: ${url}</li>`)}
        </ul>
      </section>`

const style = `${pageStyle}
:root{--frame:64rem}
body>footer,body>main{padding-bottom:3rem}
h2{font-size:1.15rem;margin:2rem 0 .4rem;border-top:1px solid var(--line);padding-top:1rem}
header p,section>p{color:var(--muted)}
tbody th,td:last-child time{white-space:nowrap}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1rem 1rem;margin:0 0 1rem;padding:.6rem 0;border-bottom:1px solid var(--line);break-inside:avoid}
dt{color:var(--muted)}dd{margin:0;white-space:pre-wrap;min-width:0}
@media (max-width:36rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.4rem}}
@media print{a{color:inherit;text-decoration:none}}
`
