/**
 * Decimals for money, quantities and shares: DECIMAL(38,7), converted from the text that was sent and never from a float.
 * The product of two such columns has 14 decimals and 24 digits before them, so that sums of products do not overflow. Seven
 * decimals hold unit prices of fractions of a cent, and coordinates, without rounding.
 */

export const wholeDigits = 31
export const scale = 7
export const decimalType = `DECIMAL(${wholeDigits + scale},${scale})`

/** The notation of a number. Blanks around it and a plus sign may be sent. */
const blanks = "[\\t\\n\\f\\r ]*"
const number = "[+-]?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
const pattern = `^${blanks}(${number})${blanks}$`

/** A number in the shortest form of its column value. Most numbers are sent so, and need no conversion. */
const canonical = new RegExp(`^-?(?:0|[1-9]\\d{0,${wholeDigits - 1}})(?:\\.\\d{0,${scale - 1}}[1-9])?$`)
const anyNumber = new RegExp(pattern)
const parts = /^([+-]?)0*(\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

export interface Decimal {
  /** The number in its shortest form; absent if it is too large for the column. */
  readonly text?: string
  /** Whether digits were lost that a floating-point number can hold: 0.30000000000000004 is 0.3. */
  readonly rounded: boolean
}

/** Parses a number in any notation, and rounds it half-even to the decimals of the column; undefined for anything else. */
export const decimalOf = (sent: string): Decimal | undefined => {
  if (sent !== "-0" && canonical.test(sent)) return { text: sent, rounded: false }
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts.exec(anyNumber.exec(sent)?.[1] ?? "x") ?? []
  if (sign === undefined) return undefined
  const digits = `${whole}${fraction}`
  const significant = digits.replace(/^0+/, "")
  if (significant === "") return { text: "0", rounded: false }
  // The position of the decimal point, counted from the first significant digit.
  const point = whole.length + Number(exponent) - (digits.length - significant.length)
  if (point > wholeDigits) return { rounded: false }
  // The position of the first dropped digit. If it is negative, the number is so small that zeros are dropped too.
  const end = point + scale
  const kept = BigInt(significant.slice(0, Math.max(end, 0)).padEnd(Math.max(end, 0), "0") || "0")
  const dropped = end < 0 ? `0${significant}` : significant.slice(end)
  const isTie = /^50*$/.test(dropped)
  const isRoundedUp = isTie ? kept % 2n === 1n : /^[5-9]/.test(dropped)
  const units = kept + (isRoundedUp ? 1n : 0n)
  if (units >= 10n ** BigInt(wholeDigits + scale)) return { rounded: false }
  const rounded = /[1-9]/.test(dropped) && !isFloatNoise(significant, dropped, isRoundedUp)
  return { text: textOf(sign === "-" ? -units : units, scale), rounded }
}

/**
 * Whether a number differs from its rounded value by no more than a calculation with floating-point numbers does: at least 16
 * digits were sent, more than such a number always holds, and the difference is below 2^-45 of the number, some hundred times
 * the distance to the next floating-point number.
 */
const isFloatNoise = (significant: string, dropped: string, isRoundedUp: boolean): boolean => {
  const digits = significant.replace(/0+$/, "")
  if (digits.length < 16 || dropped.length > significant.length) return false
  const lost = isRoundedUp ? 10n ** BigInt(dropped.length) - BigInt(dropped) : BigInt(dropped)
  return lost << 45n <= BigInt(significant)
}

/** The product of two numbers in any notation, in its shortest form; undefined if one is not a number or too large. */
export const productOf = (one: string, other: string): string | undefined => {
  const [first, second] = [decimalOf(one)?.text, decimalOf(other)?.text]
  if (first === undefined || second === undefined) return undefined
  return decimalOf(textOf(unitsOf(first) * unitsOf(second), 2 * scale))?.text
}

/** The number in units of the last decimal. */
const unitsOf = (text: string): bigint => {
  const [whole, fraction = ""] = text.split(".")
  return BigInt(`${whole}${fraction.padEnd(scale, "0")}`)
}

/** A number of units of the last decimal, as text in its shortest form. */
const textOf = (units: bigint, scale: number): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0")
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`.replace(/\.?0+$/, "")
  return units < 0n ? `-${text}` : text
}

/**
 * SQL for a number in the form of a column, from its text. DuckDB takes 5 µs to read a text as a type of more than 18 digits, and
 * 0.03 µs as one of 18, which hold nearly all numbers.
 */
export const decimalFrom = (text: string): string =>
  `coalesce(try_cast(${text} AS DECIMAL(18,${scale}))::${decimalType}, ${text}::${decimalType})`

/** The SQL of `decimalOf` for a text that has only digits, and no more of them than the column; NULL for any other text. */
export const decimalSql = (text: string): string =>
  `try_cast(regexp_extract(${text}, '^-?[0-9]{1,${wholeDigits}}(?:\\.[0-9]{1,${scale}})?$') AS ${decimalType})`
