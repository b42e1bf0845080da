/** Lines at the bottom of a terminal that are replaced in place, while other output appears above them. */

export interface Terminal {
  readonly write: (text: string) => unknown
  readonly columns?: number
  readonly rows?: number
}

export class DisplayArea {
  readonly #terminal: Terminal
  #lines: ReadonlyArray<string> = []
  #isClosed = false

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  get size(): { readonly columns: number; readonly rows: number } {
    // A terminal that does not know its size reports 0.
    return { columns: this.#terminal.columns || 80, rows: this.#terminal.rows || 24 }
  }

  /** Replaces the lines; without lines, the area is empty and the cursor stands where it began. */
  draw(lines: ReadonlyArray<string>): void {
    if (this.#isClosed) return
    this.#terminal.write(this.#erasing() + text(lines))
    this.#lines = lines
  }

  /** Calls a function that writes whole lines, which appear above the area. */
  above(write: () => void): void {
    if (this.#lines.length > 0) this.#terminal.write(this.#erasing())
    write()
    if (this.#lines.length > 0) this.#terminal.write(text(this.#lines))
  }

  /** Removes the lines for good. */
  close(): void {
    this.draw([])
    this.#isClosed = true
  }

  /** Also erases what the terminal shows after the lines, for example `^C`. */
  #erasing(): string {
    const height = wrappedHeight(this.#lines, this.size.columns)
    return height === 0 ? "" : `\r\u001b[${height}A\u001b[J`
  }
}

/** The rows that lines take in a terminal that wraps them, which may be narrower than when they were written. */
const wrappedHeight = (lines: ReadonlyArray<string>, columns: number): number =>
  lines.reduce((height, line) => height + Math.max(1, Math.ceil(line.length / columns)), 0)

const text = (lines: ReadonlyArray<string>): string => lines.map((line) => `${line}\n`).join("")
