/** Data on stdout, talk on stderr, secrets on neither. */

const secrets = new Set<string>()

/** From now on this text is printed as `<redacted>`. */
export const keepSecret = (text: string): void => {
  if (text.length >= 6) secrets.add(text)
}

export const redacted = (text: string): string =>
  [...secrets].reduce((clean, secret) => clean.replaceAll(secret, "<redacted>"), text)

/** What others wrote must not move the cursor, or colour what comes after it. */
const harmless = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]/gu, "\ufffd")

/** Talk: one line for people. */
export const say = (line: string): void => void process.stderr.write(`${harmless(redacted(line))}\n`)

/** Data: a line of a result. */
export const print = (line: string): void => void process.stdout.write(`${redacted(line)}\n`)

/** Columns aligned; numbers to the right. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number>>
): ReadonlyArray<string> => {
  const cells = [head, ...rows.map((row) => row.map(shown))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const right = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number" || row[column] === "")
  )
  return cells.map((row) =>
    row
      .map((cell, column) => (right[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd()
  )
}

const shown = (cell: string | number): string => (typeof cell === "number" ? cell.toLocaleString("en-US") : cell)

export const duration = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`
}
