/** Timestamps as the service sends them: ISO 8601 with or without offset and fraction, or epoch milliseconds. */

/** A time range in epoch milliseconds, without its end. */
export type Window = readonly [from: number, to: number]

export const dayMs = 86_400_000

const iso = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-8]):?[0-5]\d)?$/

/** A timestamp that is stored as sent, and whose day is in every month. Nearly all are. */
const canonical =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/

/**
 * The timestamp as ISO 8601 text with at most microseconds, which DuckDB casts without an error; UTC if it has no offset.
 * `undefined` if the value is not a timestamp.
 */
export const instantText = (sent: unknown): string | undefined => {
  const value = JSON.isRawJSON(sent) ? sent.rawJSON : sent
  if (typeof value === "number") return fromEpoch(value)
  if (typeof value !== "string") return undefined
  if (canonical.test(value)) return value
  const parts = iso.exec(value)
  if (!parts) return /^-?\d{11,16}$/.test(value) ? fromEpoch(Number(value)) : undefined
  const [, year, month, day, hour, minute, second, fraction, zone] = parts
  if (!isDay(Number(year), Number(month), Number(day))) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined
  if (zone === "Z" && second !== undefined && (fraction?.length ?? 0) <= 6) return value
  return `${year}-${month}-${day}T${hour}:${minute}:${second ?? "00"}.${(fraction ?? "").padEnd(6, "0").slice(0, 6)}${offset(zone)}`
}

/** The timestamp in epoch milliseconds; `undefined` if the value is not a timestamp. */
export const instantMs = (value: unknown): number | undefined => {
  const text = instantText(value)
  return text === undefined ? undefined : Date.parse(text)
}

export const isDay = (year: number, month: number, day: number): boolean =>
  year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)

const offset = (zone: string | undefined) =>
  zone === undefined || zone === "Z" ? "Z" : zone.includes(":") ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`

const fromEpoch = (milliseconds: number): string | undefined => {
  if (!Number.isInteger(milliseconds) || Math.abs(milliseconds) > 8.64e15) return undefined
  const text = new Date(milliseconds).toISOString()
  return text.length === 24 ? text : undefined
}

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
