/** Tables of the report. A wide one scrolls inside its own box, never the page. */
import { type Content, type Html, html } from "../../values/html.ts"
import { count } from "./format.ts"

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => Content
  /** Numbers are aligned to the right; a column of charts takes the width that is left. */
  readonly kind?: "number" | "chart" | "wide"
}

export interface TableOptions<Row> {
  /** For links, and for programs that read the report. */
  readonly id: string
  readonly caption: string
  /** The first one identifies the row. */
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  /** Further rows are shown on request. */
  readonly folded?: number
}

export const tableOf = <Row>({ id, caption, columns, rows, folded }: TableOptions<Row>): Html => {
  const part = (shown: ReadonlyArray<Row>, partId: string, name: string) =>
    html`<p class="caption" id="${partId}-caption">${name}</p>
      <div class="scroll" role="region" tabindex="0" aria-labelledby="${partId}-caption">
        <table id="${partId}" aria-labelledby="${partId}-caption">
          <thead>
            <tr>
              ${columns.map(({ head, kind }) => html`<th scope="col" class="${kind}">${head}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${shown.map(
              (row) =>
                html`<tr>
                  ${columns.map((column, index) => cellOf(column, row, index))}
                </tr>`
            )}
          </tbody>
        </table>
      </div>`
  if (folded === undefined || rows.length <= folded + 3) return part(rows, id, caption)
  return html`${part(rows.slice(0, folded), id, caption)}
    <details>
      <summary>${count(rows.length - folded)} more</summary>
      ${part(rows.slice(folded), `${id}-more`, `${caption}, continued`)}
    </details>`
}

const cellOf = <Row>({ cell, kind }: Column<Row>, row: Row, index: number): Html =>
  index === 0 ? html`<th scope="row" class="${kind}">${cell(row)}</th>` : html`<td class="${kind}">${cell(row)}</td>`

/** The numbers of a chart, closed on screens and open in print. */
export const numbersOf = <Row>(options: TableOptions<Row>): Html =>
  html`<details>
    <summary>Numbers</summary>
    ${tableOf(options)}
  </details>`

/** A number as a bar; the number itself is in another cell. */
export const bar = (value: number, highest: number): Html =>
  html`<span class="meter" aria-hidden="true"
    ><span style="width:${highest > 0 ? Math.round((1000 * value) / highest) / 10 : 0}%"></span
  ></span>`

export interface SectionOptions {
  readonly id: string
  readonly title: string
  /** What the reader should take away, in a sentence. */
  readonly lead: Content
  readonly content: Content
}

export const section = ({ id, title, lead, content }: SectionOptions): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h3 id="${id}-title">${title}</h3>
    <p class="lead">${lead}</p>
    ${content}
  </section> `

export interface Tile {
  /** For programs that read the report. */
  readonly id?: string
  readonly title: string
  readonly value: Content
  readonly note: string
}

/** The figures that a reader looks for first. */
export const tiles = (shown: ReadonlyArray<Tile>): Html =>
  html`<dl class="tiles">
    ${shown.map(
      ({ id, title, value, note }) =>
        html`<div>
          <dt>${title}</dt>
          <dd><strong${id === undefined ? undefined : html` id="tile-${id}"`}>${value}</strong><span>${note}</span></dd>
        </div>`
    )}
  </dl>`
