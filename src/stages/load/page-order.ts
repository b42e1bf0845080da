/**
 * Decides which pages one batch may hold. A batch merges the rows of a list together, and then those of details, so two pages
 * that say different things about a record belong to different batches: the tables, history and state then do not depend
 * on where batches end.
 */
import type { PageEntry } from "../../stores/vault/entry.ts"
import type { NormalisedPage } from "./staging-files.ts"

/** The hashes of the rows that one reading of a run stores in a table, by key. */
interface Rows {
  readonly reading: string
  readonly kind: PageEntry["kind"]
  readonly hashes: Map<string, number>
}

export class PageOrder {
  /** By table and location. */
  private readonly rows = new Map<string, Array<Rows>>()
  /** Parents whose last page is in the batch. */
  private readonly parents = new Set<string>()

  /** Whether the page may join the batch; if so, it does. */
  takes(entry: PageEntry, pages: ReadonlyArray<NormalisedPage>): boolean {
    const parent = entry.parent && JSON.stringify([entry.location, entry.partition, entry.parent.id])
    if (parent !== undefined && this.parents.has(parent)) return false
    const found = pages.map(({ resource }) => this.rowsOf(`${entry.location} ${resource.table}`, entry))
    if (pages.some(({ results }, index) => !agrees(results, found[index]!))) return false
    for (const [index, { results }] of pages.entries())
      for (const { keyText, row, hashNumber } of results) {
        if (row === undefined) continue
        const { hashes } = found[index]!.own
        const before = hashes.get(keyText)
        if (before !== undefined && before !== hashNumber) pages[index]!.hasCopies = true
        hashes.set(keyText, hashNumber)
      }
    if (parent !== undefined && entry.parent!.done) this.parents.add(parent)
    return true
  }

  /** The rows of the page's own reading, and those of others that must not share a record with it. */
  private rowsOf(table: string, { run, kind, parent, partition, checkpoint }: PageEntry): Found {
    const reading = `${run} ${parent ? partition : ""} ${checkpoint?.mode}`
    const all = this.rows.get(table) ?? []
    const known = all.find((rows) => rows.reading === reading)
    const own = known ?? { reading, kind, hashes: new Map() }
    if (known === undefined) this.rows.set(table, [...all, own])
    // Details are merged after the rows of lists, which they complete.
    const others = all.filter((rows) => rows !== own && !(kind === "detail" && rows.kind === "page"))
    return { own, others }
  }
}

interface Found {
  readonly own: Rows
  readonly others: ReadonlyArray<Rows>
}

const agrees = (results: NormalisedPage["results"], { own, others }: Found): boolean => {
  if (own.hashes.size === 0 && others.length === 0) return true
  return results.every(({ keyText, row, hashNumber }) => {
    if (row === undefined) return true
    const known = own.hashes.get(keyText)
    return (known === undefined || known === hashNumber) && !others.some(({ hashes }) => hashes.has(keyText))
  })
}
