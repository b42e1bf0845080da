/** Figures, names and lists as messages show them, for the width of a terminal. */

export const number = (value: number): string => Math.round(value).toLocaleString("en-US")
export const percent = (share: number): string => `${Number((100 * share).toFixed(2))} %`
export const megabytes = (bytes: number): string => `${number(bytes / 1_000_000)} MB`
/** `aheadMs`: negative if it is behind. */
export const clockText = (aheadMs: number): string =>
  `the clock of this machine was ${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} the service's`
export const duration = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Number((minutes / 60).toFixed(1))} h`
}

/** The first five on one line, of which each is shortened to `longest` letters, and how many more there are. */
export const some = (texts: ReadonlyArray<string>, longest = 80): string =>
  `${texts
    .slice(0, 5)
    .map((text) => text.replaceAll(/\s+/g, " ").slice(0, longest))
    .join(", ")}${texts.length > 5 ? `, and ${texts.length - 5} more` : ""}`

interface Named {
  readonly id: string
  readonly name: string
}

/** A name for each thing of the account. To those of the same name, the end of their id is added. */
export const distinctNames = (things: ReadonlyArray<Named>): ReadonlyMap<string, string> => {
  const alike = Map.groupBy(things, ({ name }) => name)
  const isShared = (name: string) => (alike.get(name) ?? []).length > 1
  return new Map(things.map(({ id, name }) => [id, isShared(name) ? `${name} (…${id.slice(-6)})` : name]))
}

/** As people count: 2 is before 10. */
export const byName = new Intl.Collator("en", { numeric: true }).compare

/** The columns of a stream that is a terminal. */
export const terminalWidth = (stream: { readonly isTTY?: boolean; readonly columns?: number }): number | undefined =>
  stream.isTTY ? Math.max(stream.columns ?? 80, 40) : undefined

interface Layout {
  readonly width: number
  /** The beginning of the first line. */
  readonly first?: string
  /** The number of blanks before every other line. */
  readonly indent?: number
}

/** The lines of a text, broken between words. A word that is too long has a line of its own. */
export const wrapped = (text: string, { width, first = "", indent = 0 }: Layout): ReadonlyArray<string> => {
  if (text === "") return first.trim() === "" ? [] : [first.trimEnd()]
  const lines: Array<string> = []
  let line = first
  let isEmpty = true
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = " ".repeat(indent)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

/** Durations as flags and settings have them. */
const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as 30s, 10m, 26h or 7d; `undefined` for any other text. */
export const durationMs = (text: string): number | undefined => {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = unitMs[unit]
  return ms && Number(count) * ms
}

/** A part of an address, decoded if it can be. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
