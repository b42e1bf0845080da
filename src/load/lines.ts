/** Lines on their way to a file: few in memory, as bytes, since millions of small texts are what a collector is slow with. */
import { appendFile } from "node:fs/promises"

export class Lines {
  length = 0
  /** Characters of the longest. */
  longest = 0
  readonly path: string
  private pieces: Array<Buffer> = []
  private waiting: Array<string> = []
  private characters = 0

  constructor(path: string) {
    this.path = path
  }

  push(line: string): void {
    this.length++
    this.longest = Math.max(this.longest, line.length)
    this.waiting.push(line)
    this.characters += line.length
    if (this.characters > pieceCharacters) this.pack()
  }

  /** Writes what makes a piece. */
  async write(): Promise<void> {
    const pieces = this.pieces
    this.pieces = []
    for (const piece of pieces) await appendFile(this.path, piece, { mode: 0o600 })
  }

  /** Writes the rest; there is a file then, be it empty. */
  async end(): Promise<void> {
    this.pack()
    await this.write()
  }

  private pack(): void {
    this.pieces.push(Buffer.from(this.waiting.map((line) => `${line}\n`).join("")))
    this.waiting = []
    this.characters = 0
  }
}

const pieceCharacters = 256 * 1024
