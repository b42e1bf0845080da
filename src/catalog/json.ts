/** JSON as the service wrote it, with no digit lost. */

declare global {
  /** ES2026 source text access, which TypeScript's library does not know yet. */
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
 * Parses a body. Numbers that a double would change (17 digits and more, 1e999) become raw JSON values, which print as they
 * came and which `convert.ts` reads by their text. Looking for long digit runs first keeps the common page fast.
 */
export const parseExact = (body: string, long = holdsLongNumbers(body)): unknown =>
  long
    ? JSON.parse(body, (_key, value, context) =>
        typeof value === "number" && context.source !== undefined && differs(value, context.source)
          ? JSON.rawJSON(context.source)
          : value
      )
    : JSON.parse(body)

const run = 16

/** Whether 16 digits and points stand in a row somewhere, which then covers one of every 16 places; or a large exponent. */
export const holdsLongNumbers = (body: string): boolean => {
  for (let place = run - 1; place < body.length; place += run) {
    let [from, to] = [place, place]
    while (from >= 0 && isOfNumber(body.charCodeAt(from))) from--
    if (from === place) continue
    while (isOfNumber(body.charCodeAt(to))) to++
    if (to - from > run) return true
  }
  return /[:,[\s]-?\d[\d.]*[eE][+-]?\d{3}/.test(body)
}
const isOfNumber = (code: number): boolean => (code >= 48 && code <= 57) || code === 46

const differs = (value: number, source: string) =>
  !Number.isFinite(value) ||
  (value === 0 && /^-?[0.]*[1-9]/.test(source)) ||
  (String(value) !== source && source.replace(/[^\d]/g, "").length > 15)

/** Any value as text, whatever it is: one that calls a field of its own `toString` has no other. */
export const written = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return String(value)
  try {
    return JSON.stringify(value)
  } catch {
    return unprintable
  }
}
export const unprintable = "nested too deeply to print"

/** The value at a dotted path; the empty path is the body itself. */
export const at = (body: unknown, path: string): unknown =>
  path === ""
    ? body
    : path
        .split(".")
        .reduce<unknown>(
          (inside, name) =>
            typeof inside === "object" && inside !== null ? (inside as Record<string, unknown>)[name] : undefined,
          body
        )
