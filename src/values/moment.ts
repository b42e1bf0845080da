/** Times as people read them: the same in every locale, in UTC. */
import { type Html, html } from "./html.ts"

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
