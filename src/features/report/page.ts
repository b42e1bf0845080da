/** The document around the two parts of the report. It loads nothing: a policy in the file forbids it. */
import { hash } from "node:crypto"
import { moment } from "./format.ts"
import { Html, html } from "../../values/html.ts"
import { style } from "./style.ts"

export interface Page {
  readonly state: string
  /** Epoch milliseconds. */
  readonly asOf: number
  readonly account: string
  readonly operations: Html
  readonly business: Html
}

/** Adds how old the data are when the page is open. The file does not depend on when it is made. */
const script = (asOf: number): string => `
const age = document.getElementById("age")
const hours = (Date.now() - ${asOf}) / 3600000
if (hours >= 36) age.textContent = "That was " + Math.floor(hours / 24) + " days ago: no later run has written this report."
else if (hours >= 1) age.textContent = "That was " + Math.floor(hours) + (hours < 2 ? " hour ago." : " hours ago.")
age.hidden = hours < 1
`

export const page = ({ state, asOf, account, operations, business }: Page): string => {
  const code = script(asOf)
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${hash("sha256", code, "base64")}'; base-uri 'none'; form-action 'none'`
  const links = [
    ["changes", "Changes"],
    ["freshness", "Freshness"],
    ["runs", "Runs"],
    ["requests", "Requests"],
    ["rejects", "Rejected"],
    ["drift", "Schema"],
    ["disk", "Disk"]
  ] as const
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${state} – sluice report, ${moment(asOf)}</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <header>
          <h1>sluice report</h1>
          <p>${account} · as of ${moment(asOf)}</p>
        </header>
        <nav aria-label="Parts of the report">
          <ul>
            <li class="part"><a href="#operations">Operations</a></li>
            ${links.map(([id, text]) => html`<li><a href="#${id}">${text}</a></li>`)}
            <li class="part"><a href="#business">Business</a></li>
          </ul>
        </nav>
        <main>
          <section id="operations" aria-labelledby="operations-title">
            <h2 class="part" id="operations-title">Operations</h2>
            ${operations}
          </section>
          <section id="business" aria-labelledby="business-title">
            <h2 class="part" id="business-title">Business</h2>
            ${business}
          </section>
        </main>
        <footer>
          <p>
            Days and hours are in UTC. The last 24 hours and 7 days end with the last run. The report is made from the
            tables of schema meta and bi; docs/report.md describes each figure.
          </p>
        </footer>
        ${new Html(`<script>${code}</script>`)}
      </body>
    </html> `.text
}
