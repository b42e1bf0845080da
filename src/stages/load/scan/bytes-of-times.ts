/** Timestamps and days in bytes that a column stores as sent; see `catalog/timestamps.ts`. All others need the converter. */
import { isDigit } from "../../../catalog/json-bytes.ts"

const [dash, colon, point, letterT, letterZ] = [..."-:.TZ"].map((character) => character.charCodeAt(0))

const two = (bytes: Uint8Array, at: number): number => (bytes[at]! - 48) * 10 + bytes[at + 1]! - 48

/** `2026-11-25`, in the years 1 to 9999. */
export const isDay = (bytes: Uint8Array, from: number, to: number): boolean =>
  to - from === 10 && beginsWithDay(bytes, from)

const daysOf = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const beginsWithDay = (bytes: Uint8Array, from: number): boolean => {
  for (let n = 0; n < 10; n++) {
    const byte = bytes[from + n]!
    if (n === 4 || n === 7 ? byte !== dash : !isDigit(byte)) return false
  }
  const [month, day] = [two(bytes, from + 5), two(bytes, from + 8)]
  const isYear = two(bytes, from) > 0 || two(bytes, from + 2) > 0
  // 29 February is left to the converter.
  return isYear && month >= 1 && month <= 12 && day >= 1 && day <= daysOf[month]!
}

/** `2026-11-25T10:00:00Z`, with at most six decimals. */
export const isInstant = (bytes: Uint8Array, from: number, to: number): boolean => {
  const length = to - from
  if (length < 20 || length === 21 || length > 27 || bytes[to - 1] !== letterZ || !beginsWithDay(bytes, from))
    return false
  if (bytes[from + 10] !== letterT || bytes[from + 13] !== colon || bytes[from + 16] !== colon) return false
  for (let n = 11; n < 19; n++) if (n !== 13 && n !== 16 && !isDigit(bytes[from + n]!)) return false
  if (two(bytes, from + 11) > 23 || two(bytes, from + 14) > 59 || two(bytes, from + 17) > 59) return false
  if (length === 20) return true
  if (bytes[from + 19] !== point) return false
  for (let at = from + 20; at < to - 1; at++) if (!isDigit(bytes[at]!)) return false
  return true
}
