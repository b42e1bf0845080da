/** Lines on their way to a file, as bytes outside the heap: millions of small texts are what a collector is slow with. */
export class Lines {
  length = 0
  /** Characters of the longest. */
  longest = 0
  private readonly pieces: Array<Buffer> = []
  private waiting: Array<string> = []
  private characters = 0

  push(line: string): void {
    this.length++
    this.longest = Math.max(this.longest, line.length)
    this.waiting.push(line)
    this.characters += line.length
    if (this.characters > pieceCharacters) this.pack()
  }

  bytes(): ReadonlyArray<Buffer> {
    this.pack()
    return this.pieces
  }

  private pack(): void {
    if (this.waiting.length > 0) this.pieces.push(Buffer.from(`${this.waiting.join("\n")}\n`))
    this.waiting = []
    this.characters = 0
  }
}

const pieceCharacters = 256 * 1024
