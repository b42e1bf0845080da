/** Timestamps as the service and people write them: ISO 8601, the documented formats of a date, or a count since 1970. */

/** A time range in epoch milliseconds, without its end. */
export type Window = readonly [from: number, to: number]

export const dayMs = 86_400_000

/** A timestamp that is stored as sent. Nearly all are. */
const canonical =
  /^(?!0000)(?:\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|\d\d(?:0[48]|[2468][048]|[13579][26])-02-29)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/

/** Year first with any of the separators or none, or year last; then perhaps a time, and after it perhaps an offset. */
const written = new RegExp(
  String.raw`^(?:(?<year>\d{4})(?<sign>[-/._])(?<month>\d\d?)\k<sign>(?<day>\d\d?)|(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)|(?<month>\d\d?)(?<sign>[-/._])(?<day>\d\d?)\k<sign>(?<year>\d{4}))` +
    String.raw`(?:[T ](?<hour>\d\d)(?<colon>:?)(?<minute>[0-5]\d)(?:\k<colon>(?<second>[0-5]\d|60)(?:[.,](?<fraction>\d+))?)?` +
    String.raw` ?(?:Z|UTC|(?<zoneHour>[+-](?:0\d|1[0-8]))(?::?(?<zoneMinute>[0-5]\d))?)?)?$`,
  "i"
)

/**
 * The timestamp as ISO 8601 text with at most microseconds, which DuckDB casts without an error: further decimals are cut. It
 * is in UTC if it has no offset, and a date alone, which means its start, stays one. `undefined` if the value is not a
 * timestamp of the years 1 to 9999 in UTC.
 */
export const instantText = (sent: unknown): string | undefined => textOf(sent, fromNumber)

/** The day of a value as it was written; that of a number in UTC. A birthday may be in 1970, which the time of an event is not. */
export const dayText = (sent: unknown): string | undefined => textOf(sent, fromDayNumber)?.slice(0, 10)

const textOf = (sent: unknown, fromNumber: (count: number) => string | undefined): string | undefined => {
  const value = JSON.isRawJSON(sent) ? sent.rawJSON : sent
  if (typeof value === "number") return fromNumber(value)
  if (typeof value !== "string") return undefined
  if (canonical.test(value)) return value
  return fromText(value.trim())
}

/** The timestamp in epoch milliseconds; `undefined` if the value is not a timestamp. */
export const instantMs = (value: unknown): number | undefined => {
  const text = instantText(value)
  return text === undefined ? undefined : Date.parse(text)
}

/** 24:00 is the start of the next day, and second 60 that of the next minute. */
const fromText = (text: string): string | undefined => {
  // A text of fewer digits is no time: it may be a phone number.
  if (/^-?\d{11,16}(?:\.\d+)?$/.test(text)) return fromEpoch(text)
  const {
    year,
    month,
    day,
    hour,
    minute,
    second = "00",
    fraction = "",
    zoneHour,
    zoneMinute = "00"
  } = written.exec(text)?.groups ?? {}
  if (!isDay(Number(year), Number(month), Number(day))) return undefined
  if (hour === undefined) return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
  if (Number(hour) > 24 || (Number(hour) === 24 && Number(`${minute}${second}${fraction}`) > 0)) return undefined
  const clock = new Date(0)
  clock.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  clock.setUTCHours(Number(hour), Number(minute), Number(second))
  const zone = zoneHour === undefined ? "Z" : `${zoneHour}:${zoneMinute}`
  const read = `${clock.toISOString().slice(0, 19)}.${fraction.padEnd(6, "0").slice(0, 6)}${zone}`
  return isInYears(Date.parse(read)) ? read : undefined
}

/** In a column of events, a number below 1e10 counts seconds, of 1973 or later: no event of the service was in 1970. */
const fromNumber = (count: number): string | undefined =>
  count >= 1e8 && count < 1e10 ? fromSeconds(count) : fromDayNumber(count)

/**
 * A number counts milliseconds. One of less than eleven digits, in 1969 or 1970, does so only if it is a quarter of an hour, in
 * which a day begins somewhere, and else counts seconds, if these are of 2001 or later: no unit makes any other a time.
 */
const fromDayNumber = (count: number): string | undefined => {
  if (Math.abs(count) >= 1e10 || count % (dayMs / 96) === 0) return fromEpoch(String(count))
  return count >= 1e9 ? fromSeconds(count) : undefined
}

const fromSeconds = (count: number) => fromEpoch(String(Math.round(count * 1e6) / 1e3))

/** `text`: epoch milliseconds. */
const fromEpoch = (text: string): string | undefined => {
  const [, whole, fraction = ""] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const micros = Number(`${text.startsWith("-") ? "-" : ""}${fraction.padEnd(3, "0").slice(0, 3)}`)
  const ms = Number(whole) + (micros < 0 ? -1 : 0)
  if (!isInYears(ms)) return undefined
  const read = new Date(ms).toISOString()
  return micros === 0 ? read : read.replace("Z", `${String((micros + 1000) % 1000).padStart(3, "0")}Z`)
}

/** Whether a time is in the years 1 to 9999. */
const isInYears = (ms: number): boolean => ms >= -62_135_596_800_000 && ms < 253_402_300_800_000

const isDay = (year: number, month: number, day: number): boolean =>
  year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
