/**
 * Numbers of money, quantities and shares: DECIMAL(38,7), made of their own text and never of a float. Products of two such
 * columns have 14 decimals and 24 digits before them, so their sums do not overflow; unit prices of fractions of a cent and
 * coordinates are held as they were sent.
 */

export const wholeDigits = 31
export const scale = 7
export const decimalType = `DECIMAL(${wholeDigits + scale},${scale})`

/** What is read as a number, also by the SQL of the wide views; blanks around it and a leading plus are ignored. */
const blanks = "[\\t\\n\\f\\r ]*"
const number = "[+-]?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
const pattern = `^${blanks}(${number})${blanks}$`

/** Exactly what the column holds, in its shortest form: most numbers are sent like this. */
const canonical = new RegExp(`^-?(?:0|[1-9]\\d{0,${wholeDigits - 1}})(?:\\.\\d{0,${scale - 1}}[1-9])?$`)
const anyNumber = new RegExp(pattern)
const parts = /^([+-]?)0*(\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

export interface Decimal {
  /** In its shortest form; absent where the number is too large for the column. */
  readonly text?: string
  readonly rounded: boolean
}

/** A number in any notation, rounded half-even where it has more decimals than the column; undefined for anything else. */
export const decimalOf = (sent: string): Decimal | undefined => {
  if (sent !== "-0" && canonical.test(sent)) return { text: sent, rounded: false }
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts.exec(anyNumber.exec(sent)?.[1] ?? "x") ?? []
  if (sign === undefined) return undefined
  const digits = `${whole}${fraction}`
  const significant = digits.replace(/^0+/, "")
  if (significant === "") return { text: "0", rounded: false }
  // Where the decimal point stands among the significant digits.
  const point = whole.length + Number(exponent) - (digits.length - significant.length)
  if (point > wholeDigits) return { rounded: false }
  // The first decimal that is dropped stands at `end`: a number far below one drops all its digits and a zero besides.
  const end = point + scale
  const kept = BigInt(significant.slice(0, Math.max(end, 0)).padEnd(Math.max(end, 0), "0") || "0")
  const dropped = end < 0 ? `0${significant}` : significant.slice(end)
  const isTie = /^50*$/.test(dropped)
  const up = isTie ? kept % 2n === 1n : /^[5-9]/.test(dropped)
  const units = kept + (up ? 1n : 0n)
  if (units >= 10n ** BigInt(wholeDigits + scale)) return { rounded: false }
  return { text: textOf(sign === "-" ? -units : units, scale), rounded: /[1-9]/.test(dropped) }
}

/** The product of two numbers as they were sent, rounded once; undefined where one of them is none. */
export const productOf = (one: string, other: string): string | undefined => {
  const [first, second] = [decimalOf(one)?.text, decimalOf(other)?.text]
  if (first === undefined || second === undefined) return undefined
  return decimalOf(textOf(unitsOf(first) * unitsOf(second), 2 * scale))?.text
}

/** In units of the last decimal. */
const unitsOf = (text: string): bigint => {
  const [whole, fraction = ""] = text.split(".")
  return BigInt(`${whole}${fraction.padEnd(scale, "0")}`)
}

/** In its shortest form. */
const textOf = (units: bigint, scale: number): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0")
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`.replace(/\.?0+$/, "")
  return units < 0n ? `-${text}` : text
}

/**
 * The same in SQL, NULL for what is no such number. DuckDB rounds ties away from zero: what follows an even last digit is
 * taken off first. A tie written with an exponent stays as DuckDB rounds it.
 */
export const decimalSql = (text: string): string =>
  `try_cast(regexp_replace(regexp_extract(${text}, '${pattern}', 1), '(\\.[0-9]{${scale - 1}}[02468])50*$', '\\1') AS ${decimalType})`
