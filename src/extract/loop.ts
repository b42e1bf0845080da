/** Finds out that a list goes in circles, in constant memory (Brent's algorithm). */
import { hash } from "node:crypto"

/** Remembers one page, and after twice as many pages the one that came then: a circle of any length meets it. */
export class Loop {
  private remembered = ""
  private pages = 0
  private patience = 1

  /** Whether this page is the one remembered. `ids`: of its records, in their order; `place`: what may make them come again. */
  closes(ids: ReadonlyArray<string>, place: unknown): boolean {
    if (ids.length === 0) return false
    const page = hash("sha256", JSON.stringify([ids, place]))
    if (page === this.remembered) return true
    if (++this.pages >= this.patience) {
      this.remembered = page
      this.pages = 0
      this.patience *= 2
    }
    return false
  }
}
