/** Sections of the report: a sentence, and what shows it; and the tiles above the first section of a part. */
import { type Content, type Html, html } from "../../pages/html.ts"
import { type Table, tableOf } from "../../pages/html-table.ts"

export interface Section {
  readonly id: string
  readonly title: string
  /** What the reader should take away, in a sentence. */
  readonly lead?: Content
  readonly content?: Content
}

export const leadOf = (lead: Content): Html => html`<p class="lead">${lead}</p>`

export const section = ({ id, title, lead, content }: Section): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h3 id="${id}-title">${title}</h3>
    ${lead === undefined ? undefined : leadOf(lead)} ${content}
  </section> `

export interface TableSection<Row> extends Omit<Section, "content"> {
  /** The sentence if there are no rows; without it, there is no section then. */
  readonly empty?: string
  readonly table: Table<Row>
}

export const tableSection = <Row>(rows: ReadonlyArray<Row>, { id, title, lead, empty, table }: TableSection<Row>) => {
  if (rows.length > 0) return section({ id, title, lead, content: tableOf(rows, table) })
  return empty === undefined ? undefined : section({ id, title, lead: empty })
}

export interface Tile {
  /** What programs that read the report find it by. */
  readonly id?: string
  readonly title: string
  readonly value: Content
  readonly note: string
  /** SQL of the rows that it counts. */
  readonly rows?: string
}

/** The figures that a reader looks for first. */
export const tiles = (shown: ReadonlyArray<Tile>): Html =>
  html`<dl class="tiles">
    ${shown.map(
      ({ id, title, value, note, rows }) =>
        html`<div>
          <dt>${title}</dt>
          <dd><strong${rows === undefined ? undefined : html` data-rows="${rows}"`}${id === undefined ? undefined : html` id="tile-${id}"`}>${value}</strong><span>${note}</span></dd>
        </div>`
    )}
  </dl>`
