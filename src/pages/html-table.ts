/** Tables of a page. A wide one scrolls inside its own box, never the page. */
import { type Content, type Html, html } from "./html.ts"
import { number as count } from "../values/text.ts"

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => Content
  /** Numbers are aligned to the right; a column of charts takes the width that is left. */
  readonly kind?: "number" | "chart" | "wide"
  /** SQL: which of the rows behind a line it is about, if not all. */
  readonly of?: string | undefined
}

export const text = <Row>(head: string, cell: (row: Row) => Content): Column<Row> => ({ head, cell })
export const wide = <Row>(head: string, cell: (row: Row) => Content): Column<Row> => ({ head, cell, kind: "wide" })
export const chart = <Row>(head: string, cell: (row: Row) => Content): Column<Row> => ({ head, cell, kind: "chart" })

/** A cell is a number, or says one in words. `of`: SQL, as in `Column`. */
export const number = <Row>(head: string, cell: (row: Row) => Content, of?: string): Column<Row> => {
  const shown = (content: Content) => (typeof content === "number" ? count(content) : content)
  return { head, cell: (row) => shown(cell(row)), kind: "number", of }
}

/** Numbers as bars, which are shares of the highest; the numbers themselves are in another column. */
export const bars = <Row>(head: string, rows: ReadonlyArray<Row>, of: (row: Row) => number): Column<Row> => {
  const highest = highestOf(rows, of)
  return chart(head, (row) =>
    of(row) > 0
      ? html`<span class="meter" aria-hidden="true"
          ><span style="width:${Math.round((1000 * of(row)) / highest) / 10}%"></span
        ></span>`
      : undefined
  )
}

export interface Table<Row> {
  /** For links, and for programs that read the page. */
  readonly id: string
  readonly caption: string
  /** The first one identifies the row. */
  readonly columns: ReadonlyArray<Column<Row>>
  /** Further rows are shown on request. */
  readonly folded?: number
  /** Rows of one text stand together, below it. */
  readonly group?: ((row: Row) => string) | undefined
  /**
   * SQL: the rows that a line is about, to which its numbers lead. A statement with a condition, or a condition for the
   * statement around the table. The script of the page makes links of the numbers.
   */
  readonly behind?: (row: Row) => string | undefined
}

export const tableOf = <Row>(
  rows: ReadonlyArray<Row>,
  { behind, id, caption, columns, folded, group }: Table<Row>
): Html => {
  const rowHtml = (row: Row) =>
    html`<tr${behindHtml(behind?.(row))}>
      ${columns.map((column, index) => cellOf(column, row, index))}
    </tr>`
  const groupHtml = (name: string, own: ReadonlyArray<Row>) =>
    html`<tbody>
      <tr class="group">
        <th scope="rowgroup" colspan="${columns.length}">${name}</th>
      </tr>
      ${own.map(rowHtml)}
    </tbody>`

  const part = (shown: ReadonlyArray<Row>, partId: string, name: string) =>
    html`<p class="caption" id="${partId}-caption">${name}</p>
      <div class="scroll" role="region" tabindex="0" aria-labelledby="${partId}-caption">
        <table id="${partId}" aria-labelledby="${partId}-caption">
          <thead>
            <tr>
              ${columns.map(({ head, kind, of }) => html`<th scope="col" class="${kind}" ${behindHtml(of)}>${head}</th>`)}
            </tr>
          </thead>
          ${
            group === undefined
              ? html`<tbody>
                  ${shown.map(rowHtml)}
                </tbody>`
              : Array.from(Map.groupBy(shown, group), ([name, own]) => groupHtml(name, own))
          }
        </table>
      </div>`
  if (folded === undefined || rows.length <= folded + 3) return part(rows, id, caption)
  return html`${part(rows.slice(0, folded), id, caption)}
    <details>
      <summary>${count(rows.length - folded)} more</summary>
      ${part(rows.slice(folded), `${id}-more`, `${caption}, continued`)}
    </details>`
}

const behindHtml = (sql: string | undefined): Html | undefined =>
  sql === undefined ? undefined : sql.startsWith("FROM ") ? html` data-base="${sql}"` : html` data-and="${sql}"`

const cellOf = <Row>({ cell, kind }: Column<Row>, row: Row, index: number): Html =>
  index === 0 ? html`<th scope="row" class="${kind}">${cell(row)}</th>` : html`<td class="${kind}">${cell(row)}</td>`

/** The numbers of a chart, closed on screens and open in print. */
export const numbersOf = <Row>(rows: ReadonlyArray<Row>, table: Table<Row>): Html =>
  html`<details>
    <summary>Numbers</summary>
    ${tableOf(rows, table)}
  </details>`

export const sumOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** 0 if there are no rows. */
export const highestOf = <Row>(rows: ReadonlyArray<Row>, of: (row: Row) => number): number =>
  Math.max(0, ...rows.map(of))
