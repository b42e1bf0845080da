/** Detects that a list repeats its pages endlessly, in constant memory (Brent's algorithm). */
import { hash } from "node:crypto"

/** Remembers one page and replaces it at doubling intervals, so that a cycle of any length meets it. */
export class LoopDetector {
  private remembered = ""
  private pages = 0
  private interval = 1

  /** Whether this page is the remembered one. `ids`: its record ids in order. `context`: what else must be equal. */
  isRepeat(ids: ReadonlyArray<string>, context: unknown): boolean {
    if (ids.length === 0) return false
    const page = hash("sha256", JSON.stringify([ids, context]))
    if (page === this.remembered) return true
    if (++this.pages >= this.interval) {
      this.remembered = page
      this.pages = 0
      this.interval *= 2
    }
    return false
  }
}
