/** Local times in named time zones, for slots and their offsets. */

/** The offset of a time zone from UTC at a time, in minutes. */
export const offsetMinutes = (zone: string, instant: number): number => {
  const shown = formatter(zone).formatToParts(instant)
  const text = shown.find((part) => part.type === "timeZoneName")!.value
  const [, sign, hours, minutes] = /^GMT([+-])(\d{2}):(\d{2})$/.exec(text) ?? []
  return sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

export const isZone = (zone: string): boolean => {
  try {
    formatter(zone)
    return true
  } catch {
    return false
  }
}

/** The local time in ISO 8601, with seconds and the offset of the time zone. */
export const zonedIso = (zone: string, instant: number): string => {
  const offset = offsetMinutes(zone, instant)
  const local = new Date(instant + offset * 60_000).toISOString().slice(0, 19)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${local}${offset < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`
}

/** The time, in epoch milliseconds, at which it is `minutes` after midnight of a day in a time zone. */
export const instantOf = (zone: string, day: string, minutes: number): number => {
  const asUtc = Date.parse(`${day}T00:00:00Z`) + minutes * 60_000
  const first = asUtc - offsetMinutes(zone, asUtc) * 60_000
  return asUtc - offsetMinutes(zone, first) * 60_000
}

const formatters = new Map<string, Intl.DateTimeFormat>()

const formatter = (zone: string): Intl.DateTimeFormat => {
  const known = formatters.get(zone) ?? new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" })
  formatters.set(zone, known)
  return known
}
