/**
 * HTML as a value. Every text that is inserted is escaped, because names in an account may contain tags. Times are as people
 * read them: the same in every locale, in UTC.
 */

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | undefined | ReadonlyArray<Content>

/** The tag of a template: escapes each text in it. Html stays as it is, and `undefined` inserts nothing. */
export const html = (parts: TemplateStringsArray, ...contents: ReadonlyArray<Content>): Html =>
  new Html(parts.map((part, index) => part.replaceAll(indentation, "\n") + rendered(contents[index])).join(""))

/** Removes the indentation of the source, which would be a third of the file. */
const indentation = /\n\s+/g

const rendered = (content: Content): string => {
  if (content === undefined) return ""
  if (content instanceof Html) return content.text
  return typeof content === "object" ? content.map(rendered).join("") : escaped(String(content))
}

export const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?/g, "\n")
    // Control characters are not allowed in HTML; those that change the direction of text could hide or reorder it.
    .replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** A page that needs no network. `head`: what it has besides. */
export const documentOf = (title: string, style: string, body: Html, head?: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        ${head}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const two = (value: number): string => String(value).padStart(2, "0")

/** `23 Nov`, of epoch milliseconds. */
export const day = (time: number): string => {
  const date = new Date(time)
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]}`
}

/** `23 Nov 2026, 07:12 UTC`. */
export const moment = (time: number): string => {
  const date = new Date(time)
  return `${day(time)} ${date.getUTCFullYear()}, ${two(date.getUTCHours())}:${two(date.getUTCMinutes())} UTC`
}

/** `23 Nov 07:12`, for tables whose head names the time zone. */
export const dayAndTime = (time: number): string => {
  const date = new Date(time)
  return `${day(time)} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`
}

/** `Nov 2026`, of a date such as 2026-11-01. */
export const month = (date: string): string => `${months[Number(date.slice(5, 7)) - 1]} ${date.slice(0, 4)}`

/** An instant as ISO 8601 or DuckDB writes it; programs and who points at it get the exact one. Other texts stay as they are. */
export const timeHtml = (text: string): Html => {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return html`${text}`
  const exact = new Date(time).toISOString()
  return html`<time datetime="${exact}" title="${exact}">${moment(time)}</time>`
}
