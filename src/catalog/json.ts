/** Parses and prints JSON without changing a digit of a number. */

declare global {
  /** ES2026 source text access, which TypeScript's library does not declare yet. */
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string }
    isRawJSON(value: unknown): value is { readonly rawJSON: string }
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown
    ): unknown
  }
}

/**
 * Parses a body. A number that a double would change (17 digits and more, 1e999) becomes a raw JSON value, which is printed
 * as sent and whose text `convert.ts` reads. The reviver is slow, so it is used only for a body with long numbers. Throws a
 * SyntaxError, like `JSON.parse`.
 */
export const parseExact = (body: string, hasLongNumbers = holdsLongNumbers(body)): unknown =>
  hasLongNumbers
    ? JSON.parse(body, (_key, value, context) =>
        typeof value === "number" && context.source !== undefined && isChangedByDouble(value, context.source)
          ? JSON.rawJSON(context.source)
          : value
      )
    : JSON.parse(body)

const suspiciousLength = 16

/**
 * Whether the body contains 16 or more consecutive digits and points, or an exponent of three or more digits. Only every
 * 16th character is tested, because each such sequence includes one of them.
 */
export const holdsLongNumbers = (body: string): boolean => {
  for (let place = suspiciousLength - 1; place < body.length; place += suspiciousLength) {
    let [from, to] = [place, place]
    while (from >= 0 && isDigitOrPoint(body.charCodeAt(from))) from--
    if (from === place) continue
    while (isDigitOrPoint(body.charCodeAt(to))) to++
    if (to - from > suspiciousLength) return true
  }
  return /[:,[\s]-?\d[\d.]*[eE][+-]?\d{3}/.test(body)
}
const isDigitOrPoint = (code: number): boolean => (code >= 48 && code <= 57) || code === 46

const isChangedByDouble = (value: number, source: string) =>
  !Number.isFinite(value) ||
  (value === 0 && /^-?[0.]*[1-9]/.test(source)) ||
  (String(value) !== source && source.replace(/[^\d]/g, "").length > 15)

/** Any JSON value as text. An object is printed as JSON, because one with a field `toString` cannot be converted by String. */
export const written = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return String(value)
  try {
    return JSON.stringify(value)
  } catch {
    return unprintable
  }
}
export const unprintable = "nested too deeply to print"

/** The members of a value of JSON, whatever it is; none of a text or a number. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {} // Any member may be there.

/** The value at a dotted path; undefined if the path does not exist. The empty path is the body itself. */
export const at = (body: unknown, path: string): unknown =>
  path === "" ? body : path.split(".").reduce<unknown>((inside, name) => membersOf(inside)[name], body)

/** Whether a value of JSON has members or items. A number that is kept as text has none. */
export const isNested = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !JSON.isRawJSON(value)

export const isObject = (value: unknown): value is object => isNested(value) && !Array.isArray(value)
