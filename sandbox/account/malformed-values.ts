import { iso } from "./clock.ts"
import type { Data } from "./collection.ts"
import type { Random } from "./random.ts"

/** The timestamp in one of the observed forms: three of ISO 8601, and epoch milliseconds as number and as text. */
export const spellInstant = (random: Random, instant: number): unknown => {
  const text = iso(instant)
  const choice = random.int(8)
  if (choice === 0) return instant
  if (choice === 1) return String(instant)
  if (choice === 2) return `${iso(instant + 7_200_000).slice(0, -1)}+02:00`
  if (choice === 3 && instant % 1000 === 0) return `${text.slice(0, 19)}Z`
  return text
}

/** A date in one of the eight forms of A 2.2, and sometimes one that does not exist. */
export const spellBirthday = (random: Random): string => {
  const year = String(random.between(1938, 2006))
  const month = String(random.between(1, 12)).padStart(2, "0")
  const day = String(random.between(1, 28)).padStart(2, "0")
  if (random.chance(0.02)) return random.pick(["", "0000-00-00", "1990-02-31", "unknown", "31/12/1985"])
  const separator = random.pick(["/", "-", ".", "_"])
  return (random.chance(0.5) ? [year, month, day] : [month, day, year]).join(separator)
}

/** Money as text, with more digits than a double holds, with rounding errors, with an exponent, negative, or correct. */
export const spellMoney = (random: Random, amount: unknown): unknown => {
  if (typeof amount !== "number") return amount
  const choice = random.int(12)
  if (choice === 0) return amount.toFixed(2)
  if (choice === 1) return rawNumber(`${random.between(10_000_000, 99_999_999)}${random.between(1000, 9999)}.12345678`)
  if (choice === 2) return `${random.between(100_000, 999_999)}${random.between(100_000, 999_999)}.005`
  if (choice === 3) return rawNumber(`${Math.max(1, Math.floor(amount / 1000))}.5e3`)
  if (choice === 4) return rawNumber(`${amount.toFixed(2)}0000`)
  if (choice === 5) return -amount
  // The rounding error of a sum in floating point.
  if (choice === 7) return rawNumber(`${amount.toFixed(2)}000000000001`)
  if (choice === 8 && random.chance(0.3)) return rawNumber("33.333333333333336")
  if (choice === 6 && random.chance(0.1)) return random.pick(["n/a", "", "1,234.50", "$12"])
  return amount
}

export const spellFlag = (random: Random, flag: unknown): unknown =>
  typeof flag === "boolean" && random.chance(0.3) ? random.pick([String(flag), String(flag), flag ? 1 : 0]) : flag

/** Text that breaks naive programs: NUL, a lone surrogate, 64 kB, an empty text. */
export const malformedText = (random: Random): string => {
  const choice = random.int(8)
  if (choice === 0) return `nul \u0000 inside`
  if (choice === 1) return "half a pair \ud83d and the other \ude00 half"
  if (choice === 2) return "é".repeat(random.chance(0.3) ? 32_768 : 10)
  if (choice === 3) return `${"0123456789abcdef".repeat(4096)}`.slice(0, random.chance(0.3) ? 65_536 : 64)
  if (choice === 4) return "\u2028line\u2029separators \ufeff and a mark"
  if (choice === 5) return '{"looks":"like JSON"}'
  if (choice === 6) return "\r\n\t\u0007\u001b[31m"
  return ""
}

/** Very deeply nested JSON. */
export const deepValue = (random: Random): Data => {
  let value: Data = { bottom: random.int(10) }
  for (let depth = random.between(20, 90); depth > 0; depth--)
    value = depth % 2 === 0 ? { down: value } : { list: [value] }
  return value
}

/** A number with exactly this text in JSON. */
const rawNumber = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text)
