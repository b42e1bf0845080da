/** The document around the two parts of the report. It loads nothing: a policy in the file forbids it. */
import { hash } from "node:crypto"
import { monthsUntil } from "./business/months.ts"
import { moment, month } from "../../values/moment.ts"
import { type Overview, stateLine } from "./operations/overview.ts"
import { Html, html } from "../../values/html.ts"
import { style } from "./style.ts"

export interface Page {
  readonly overview: Overview
  /** When the last run ended, and when the last one that read the service did; epoch milliseconds. */
  readonly asOf: number
  readonly readAt: number
  /** The names of its locations. */
  readonly account: string
  readonly headline: Html | undefined
  readonly operations: Html
  readonly business: Html
}

/** Adds how old the data are when the page is open. The file does not depend on when it is made. */
const script = (readAt: number): string => `
const age = document.getElementById("age")
const hours = (Date.now() - ${readAt}) / 3600000
if (hours >= 36) age.textContent = "That was " + Math.floor(hours / 24) + " days ago: no later run has written this report."
else if (hours >= 1) age.textContent = "That was " + Math.floor(hours) + (hours < 2 ? " hour ago." : " hours ago.")
age.hidden = hours < 1
`

/** The parts, with the id, the name and the links of each. */
const parts = [
  {
    id: "business",
    name: "Business",
    links: [
      ["pipeline", "Pipeline"],
      ["outcomes", "Won and lost"],
      ["revenue", "Revenue"],
      ["acquisition", "Contacts"],
      ["appointments", "Appointments"],
      ["replies", "Replies"]
    ]
  },
  {
    id: "operations",
    name: "Operations",
    links: [
      ["changes", "Changes"],
      ["freshness", "Freshness"],
      ["runs", "Runs"],
      ["requests", "Requests"],
      ["rejects", "Rejected"],
      ["drift", "Schema"],
      ["disk", "Disk"]
    ]
  }
] as const

export const page = ({ overview, asOf, readAt, account, headline, operations, business }: Page): string => {
  const code = script(readAt)
  const months = monthsUntil(asOf)
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${hash("sha256", code, "base64")}'; base-uri 'none'; form-action 'none'`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${account}: ${overview.state}, ${moment(readAt)} – sluice report</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <header>
          <p class="brand">sluice report</p>
          <h1>${account}</h1>
          <p class="period">As of ${moment(readAt)}; months from ${month(months[0]!)} to ${month(months.at(-1)!)}</p>
          ${stateLine(overview)} ${headline === undefined ? undefined : html`<p class="headline">${headline}</p>`}
        </header>
        <nav aria-label="Parts of the report">
          <ul>
            ${parts.map(
              ({ id, name, links }) =>
                html`<li class="part"><a href="#${id}">${name}</a></li>
                  ${links.map(([to, text]) => html`<li><a href="#${to}">${text}</a></li>`)}`
            )}
          </ul>
        </nav>
        <main>
          ${parts.map(
            ({ id, name }) =>
              html`<section id="${id}" aria-labelledby="${id}-title">
                <h2 id="${id}-title">${name}</h2>
                ${id === "business" ? business : operations}
              </section>`
          )}
        </main>
        <footer>
          <p>
            Months and the days of the first sentence are those of the time zone of the location; all other times are in
            UTC. The last 24 hours and 7 days end with the last run. The report is made from the tables of schema meta
            and bi; docs/report.md describes each figure.
          </p>
        </footer>
        ${new Html(`<script>${code}</script>`)}
      </body>
    </html> `.text
}
