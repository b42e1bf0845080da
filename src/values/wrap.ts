/** Text for the width of a terminal. */

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
