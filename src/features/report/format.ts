/** Numbers, times and sizes as the report shows them: the same in every locale and time zone. */
import { type Html, html } from "../../pages/html.ts"

export const count = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 0 })

/** A number of things: `1 row`, `1,200 rows`. */
export const counted = (value: number, thing: string, things = `${thing}s`): string =>
  `${count(value)} ${value === 1 ? thing : things}`

/** With a space at which no line breaks. */
const withUnit = (value: string | number, unit: string): string => `${value}\u00a0${unit}`

const rounded = (value: number): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) < 10 ? 1 : 0 })

/** Powers of a thousand, and their names for numbers and for bytes. */
const powers = [
  [1e12, "T", "TB"],
  [1e9, "B", "GB"],
  [1e6, "M", "MB"],
  [1e3, "K", "kB"]
] as const
const powerOf = (value: number) => powers.find(([power]) => Math.abs(value) >= power)

/** For axes and tiles: 950, 1.2K, 35K, 1.2M, 2.6B. */
export const brief = (value: number): string => {
  const [power, name] = powerOf(value) ?? [1, ""]
  return `${rounded(value / power)}${name}`.replace("-", "−")
}

export const bytes = (value: number): string => {
  const [power, , name] = powerOf(value) ?? [1, "", "B"]
  return withUnit(rounded(value / power), name)
}

/** A signed difference; a true minus sign aligns with the plus. */
export const signed = (value: number): string =>
  value > 0 ? `+${count(value)}` : value < 0 ? `−${count(-value)}` : "0"

export const share = (part: number, whole: number): string => {
  const percent = whole === 0 ? 0 : (100 * part) / whole
  if (percent === 0) return withUnit(0, "%")
  return percent < 0.1 ? `less than ${withUnit(0.1, "%")}` : withUnit(percent.toFixed(percent < 9.95 ? 1 : 0), "%")
}

export const duration = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 120) return withUnit(seconds, "s")
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return withUnit(minutes, "min")
  return minutes < 2880 ? withUnit(rounded(minutes / 60), "h") : withUnit(rounded(minutes / 1440), "days")
}

/** An amount with its currency, if that is stated; amounts of different currencies are never added. */
export const money = (value: number, currency: string | undefined, written = count): string =>
  currency === undefined ? written(value).replace("-", "−") : withUnit(currency, written(value).replace("-", "−"))

/** For tiles: `USD 8.1M`, with the exact amount for who points at it. */
export const moneyBrief = (value: number, currency: string | undefined): Html =>
  html`<span title="${money(value, currency, exactly)}">${money(value, currency, brief)}</span>`
const exactly = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 2 })

/** `A`, `A and B`, `A, B and 38 others`. */
export const listed = (names: ReadonlyArray<string>, shown = 3): string => {
  const parts =
    names.length > shown ? [...names.slice(0, shown - 1), `${count(names.length - shown + 1)} others`] : names
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}
