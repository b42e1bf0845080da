/** The document around the two parts of the report. It loads nothing: a policy in the file forbids it. */
import { hash } from "node:crypto"
import { type Business, placesMax } from "./business/business.ts"
import { monthsUntil } from "./business/months.ts"
import { Html, documentOf, html, moment, month } from "../../pages/html.ts"
import { type overviewOf, stateLine } from "./operations/overview.ts"
import { pageStyle } from "../../pages/page-style.ts"

export interface Page {
  readonly overview: ReturnType<typeof overviewOf>
  /** When the last run ended, and when the last one that read the service did; epoch milliseconds. */
  readonly asOf: number
  readonly readAt: number
  /** The names of its locations. */
  readonly account: string
  readonly operations: Html
  readonly business: Business
}

/**
 * Adds how old the data are when the page is open, and makes numbers lead to their rows: to the explorer, if it shows the page,
 * or else to the SQL. The arrow keys move along a chart. The file does not depend on when it is made.
 */
const script = (readAt: number): string => `
const age = document.getElementById("age")
const hours = (Date.now() - ${readAt}) / 3600000
if (hours >= 36) age.textContent = "That was " + Math.floor(hours / 24) + " days ago: no later run has written this report."
else if (hours >= 1) age.textContent = "That was " + Math.floor(hours) + (hours < 2 ? " hour ago." : " hours ago.")
age.hidden = hours < 1
const isServed = location.pathname === "/report"
const dialog = document.getElementById("sql")
const show = (event, sql) => {
  event.preventDefault()
  dialog.querySelector("pre").textContent = sql
  dialog.showModal()
}
const leadTo = (one, sql) => {
  if (/^(0|0\u00a0%|\u2013)?$/.test(one.textContent.trim())) return
  const lead = document.createElement("a")
  lead.className = "rows"
  lead.append(...one.childNodes)
  lead.href = isServed ? "/#/sql?" + new URLSearchParams({ query: sql }) : "#sql"
  if (!isServed) lead.addEventListener("click", (event) => show(event, sql))
  one.append(lead)
}
for (const one of document.querySelectorAll("[data-rows]")) leadTo(one, one.dataset.rows)
for (const row of document.querySelectorAll("tr[data-and],tr[data-base]")) {
  const { base } = row.closest("[data-base]").dataset
  for (const cell of row.querySelectorAll("td.number:not(:has(a))")) {
    const { and } = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].dataset
    leadTo(cell, [base, row.dataset.and, and].filter(Boolean).join("\\n  AND "))
  }
}
dialog.querySelector("button").addEventListener("click", () => dialog.close())
const steps = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling", Home: "firstElementChild", End: "lastElementChild" }
document.addEventListener("keydown", (event) => {
  const hit = event.target.closest(".hits span")
  const step = steps[event.key]
  if (!hit || !step) return
  event.preventDefault()
  const next = (step.endsWith("Child") ? hit.parentElement : hit)[step]
  if (!next) return
  hit.tabIndex = -1
  next.tabIndex = 0
  next.focus()
})
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
      ["replies", "Replies"],
      ["calls", "Calls"],
      ["tasks", "Tasks"]
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

export const page = ({ overview, asOf, readAt, account, operations, business }: Page): string => {
  const code = script(readAt)
  const { months = monthsUntil(asOf) } = business
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${hash("sha256", code, "base64")}'; base-uri 'none'; form-action 'none'`
  const title = `${account}: ${overview.state}, ${moment(readAt)} – sluice report`
  const head = html`<meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="referrer" content="no-referrer" />
    <link rel="icon" href="data:," />`
  const body = html`<header>
      <p class="brand">sluice report</p>
      <h1>${account}</h1>
      <p class="period">As of ${moment(readAt)}; months from ${month(months[0]!)} to ${month(months.at(-1)!)}</p>
      ${stateLine(overview)} ${selector(business.places)} ${business.headline}
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
            ${id === "business" ? business.content : operations}
          </section>`
      )}
    </main>
    <footer>
      <p>
        Months and the days of the first sentence are those of the time zone of the location; all other times are in
        UTC. The last 24 hours and 7 days end with the last run. The report is made from the tables of schema meta and
        bi; docs/models.md describes each figure.
      </p>
    </footer>
    <dialog id="sql" aria-labelledby="sql-title">
      <h2 id="sql-title">The rows of this number</h2>
      <p class="note">
        In crm.duckdb of the release. A report that ./sluice explore or ./sluice serve shows opens them at once.
      </p>
      <pre tabindex="0"></pre>
      <button type="button">Close</button>
    </dialog>
    ${new Html(`<script>${code}</script>`)}`
  return documentOf(title, style, body, head)
}

/** Works without a script. */
const selector = (places: ReadonlyArray<string>): Html | undefined =>
  places.length === 0
    ? undefined
    : html`<label class="places"
        >Business of
        <select autocomplete="off">
          ${["all locations", ...places].map((name, index) => html`<option value="${index}">${name}</option>`)}
        </select>
      </label>`

/** What the report adds to the style of all pages: its charts, marks and navigation. */
const style = `${pageStyle}
header p{margin:0}
.brand,.period{color:var(--muted);font-size:.9rem}
h1{font-size:1.9rem}
header .notice{margin:1rem 0 0;max-width:none;padding:.55rem 1rem}
.headline{font-size:1.15rem;line-height:1.6;max-width:72rem;margin:1rem 0 0!important;font-variant-numeric:tabular-nums}
.places{display:inline-block;margin:1rem 0 0;color:var(--muted)}.places select{max-width:20rem;margin-left:.4rem}
@supports selector(:has(a)){.place{display:none}}
${Array.from({ length: placesMax + 1 }, (_, index) => `body:has(.places option[value="${index}"]:checked) .place-${index}`).join()}{display:block}
#status{margin-right:.35rem}
nav{position:sticky;top:0;z-index:2;background:var(--ground);border-bottom:1px solid var(--line);margin-top:1rem}
nav ul{max-width:var(--frame);margin:0 auto;padding:0 1.5rem;list-style:none;display:flex;flex-wrap:wrap;gap:0 1.05rem;white-space:nowrap}
nav a{display:block;padding:.4rem 0;color:var(--muted);text-decoration:none;font-size:.9rem}
nav a:hover{color:var(--text)}
nav .part a{color:var(--text);font-weight:600}
main>section{padding-top:1rem;scroll-margin-top:2rem}
section section{margin-top:2.6rem;scroll-margin-top:3.2rem}
section section h3{padding-top:1rem;border-top:1px solid var(--line)}
.two-columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:0 3rem}
.two-columns>*{min-width:0}.two-columns th{white-space:normal}
@media (min-width:74rem){.two-columns>:first-child{grid-column:1/-1}}
#age{font-weight:600}
.reasons{padding-left:1.2rem;margin:.9rem 0;max-width:52rem}
.reasons li{margin:.25rem 0}
thead th{white-space:nowrap}
tbody th{white-space:nowrap;max-width:18rem;overflow:hidden;text-overflow:ellipsis}
.group th{font-weight:600;padding-top:.8rem;max-width:none}
.chart{min-width:6rem}
td.wide{min-width:15rem;color:var(--muted)}
.zero{color:var(--muted)}
.state{white-space:nowrap}
.state::before{content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:50%;margin-right:.4rem;background:var(--good)}
.state.complete_with_warnings::before,.state.paused::before{background:var(--warn);border-radius:0;transform:rotate(45deg) scale(.85)}
.state.incomplete::before,.state.interrupted::before{background:var(--bad);border-radius:0}
.strip{display:block;width:100%;min-width:7rem;height:1.05rem;margin-top:.1rem}
.spark{display:block;width:100%;height:1.05rem;min-width:5rem;margin-top:.1rem}
.strip .complete,.key.complete{fill:var(--good);background:var(--good)}
.strip .warning,.key.warning{fill:var(--warn);background:var(--warn)}
.strip .problem,.key.problem{fill:var(--bad);background:var(--bad)}
.strip .none,.key.none{fill:var(--none);background:var(--none)}
.key{display:inline-block;width:.6rem;height:.8rem;margin:0 .35rem 0 .9rem;vertical-align:-.05rem}
.key:first-child{margin-left:0}.key.warning{height:.56rem}.key.problem{height:.34rem}.key.none{height:.12rem}
.meter{display:block;height:.6rem;margin-top:.35rem;min-width:6rem}
.meter span{display:block;height:100%;background:var(--accent);border-radius:0 2px 2px 0;min-width:1px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:0 2.5rem}
.pair>*{min-width:0}
div.chart{display:grid;grid-template-columns:auto minmax(0,1fr);grid-template-rows:auto 11rem 1.4rem;column-gap:.5rem;margin:.3rem 0 .4rem;min-width:0}
.tiles strong{white-space:nowrap}
.levels{grid-area:2/1}div.chart svg{grid-area:2/2}.unit{grid-area:1/1/auto/-1;color:var(--muted);font-size:.8rem;margin-bottom:.5rem}
.levels{position:relative;min-width:2.2rem;font-size:.75rem;color:var(--muted);font-variant-numeric:tabular-nums}
.levels span{position:absolute;right:0;transform:translateY(50%);line-height:1;white-space:nowrap}
div.chart svg{width:100%;height:100%;display:block;overflow:visible}
rect.partial{fill:var(--grid)}
.hits{grid-area:2/2;position:relative}
.hits span{position:absolute;top:0;bottom:0}.hits span:is(:hover,:focus){background:var(--fill);outline:0}
.hits span:is(:hover,:focus)::after{content:attr(aria-label);position:absolute;z-index:1;bottom:calc(100% - 1rem);left:50%;transform:translateX(-50%);padding:.15rem .5rem;background:var(--text);color:var(--ground);border-radius:4px;font-size:.8rem;white-space:nowrap;pointer-events:none}
.hits .early:is(:hover,:focus)::after{left:0;transform:none}.hits .late:is(:hover,:focus)::after{left:auto;right:0;transform:none}
.rows{color:inherit;text-decoration:underline dotted var(--edge);text-underline-offset:.2em}.rows:hover{color:var(--accent);text-decoration-style:solid}
dialog{max-width:min(44rem,calc(100vw - 2rem));background:var(--surface);color:var(--text);border:1px solid var(--line);border-radius:8px}dialog h2{font-size:1.15rem;margin:0}dialog::backdrop{background:#0007}dialog pre{font:.8rem/1.4 var(--mono);white-space:pre-wrap;overflow-wrap:anywhere}
.ticks{grid-area:3/2;position:relative;font-size:.75rem;color:var(--muted);white-space:nowrap}
.ticks span{position:absolute;top:.3rem;transform:translateX(-50%)}
.ticks .first{transform:none}.ticks .last{transform:translateX(-100%)}
path{fill:none;vector-effect:non-scaling-stroke}
rect.bar{fill:var(--accent)}rect.warning{fill:var(--warn)}rect.problem{fill:var(--bad)}
.grid{stroke:var(--grid)}.base{stroke:var(--none)}
path.line,path.second,path.third{stroke:var(--accent);stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round}
path.second{stroke:var(--second);stroke-dasharray:6 3}path.third{stroke:var(--third);stroke-dasharray:2 3}
path.dot{stroke-width:6;stroke-dasharray:none}
path.area{fill:var(--fill)}
path.limit{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:5 4}
path.mark{stroke:var(--text);stroke-width:1.5}
.strip path,.spark path{vector-effect:non-scaling-stroke}
.strip path{stroke:none}
.series{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.8rem;color:var(--muted);margin:0;padding:0;list-style:none}
.series svg{width:1.6rem;height:.5rem;margin-right:.35rem}
@media (max-width:60rem){nav{position:static}section section{scroll-margin-top:0}}
@media (max-width:40rem){nav ul{padding-left:1rem;padding-right:1rem}.ticks span:nth-child(even):not(.last){display:none}td.wide{min-width:12rem}
.scroll tr:has(>.chart .meter,>th.chart){position:relative}.scroll tr:has(>td.chart .meter)>*{padding-bottom:.85rem}
.scroll :is(th,td):has(+.chart:last-child){padding-right:0}
thead th.chart{position:absolute;left:0;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}td.chart:has(.meter){position:absolute;left:0;right:0;bottom:.3rem;padding:0!important;border:0}td.chart .meter{height:.35rem;margin:0}tbody th{white-space:normal}}
@media print{nav,#age,.hits{display:none}.rows{text-decoration:none}header{padding-top:0}.two-columns,.pair{display:block}section section{margin-top:1.4rem}
.chart,.tiles,.strip,.notice{break-inside:avoid}#operations{break-before:page}th,td{padding-right:.5rem}thead th,tbody th{white-space:normal;overflow-wrap:anywhere}.scroll table{font-size:8.5pt}.chart,.strip,.spark,.meter{min-width:3rem}td.wide{min-width:8rem}}
`
