/**
 * Decides where a batch ends. A batch loads its pages first, then what it says about deleted records, then the ends of its
 * readings. An entry that must be loaded after one of these belongs to the next batch.
 */
import { type Resource, backfillOf, childRequestOf, embeddedResourcesOf } from "../../catalog/resource.ts"
import { type Entry, type PageEntry, isPage } from "../../stores/vault/entry.ts"
import { readingOf } from "./checkpoints.ts"
import type { NormalisedPage } from "./normalised-page.ts"

export class BatchOrder {
  private readonly resources: ReadonlyArray<Resource>
  /** Readings that have ended in the batch, and tables from which it deletes rows. */
  private readonly closed = new Set<string>()

  constructor(resources: ReadonlyArray<Resource>) {
    this.resources = resources
  }

  /** Whether the entry belongs to the next batch; else it is now part of this one. */
  isNext(entry: Entry): boolean {
    if (this.closed.size > 0 && concernedBy(this.resources, entry).some((name) => this.closed.has(name))) return true
    for (const name of closedBy(this.resources, entry)) this.closed.add(name)
    return false
  }
}

const reading = (location: string, label: string) => JSON.stringify(["reading", location, label])
const table = (location: string, name: string) => JSON.stringify(["table", location, name])

/** The reading to which a page belongs, and the tables that store its records. */
const concernedBy = (resources: ReadonlyArray<Resource>, entry: Entry): ReadonlyArray<string> =>
  isPage(entry)
    ? [
        reading(entry.location, readingOf(entry)),
        table(entry.location, entry.resource),
        ...embeddedResourcesOf(resources, entry.resource).map((embedded) => table(entry.location, embedded.table))
      ]
    : []

const closedBy = (resources: ReadonlyArray<Resource>, { kind, location, resource }: Entry): ReadonlyArray<string> => {
  switch (kind) {
    case "end":
      return [reading(location, resource)]
    case "window":
      return [reading(location, backfillOf(resource))]
    case "deleted":
    case "existing":
      // A deletion also removes the state of the children's readings.
      return [
        table(location, resource),
        ...resources
          .filter((child) => childRequestOf(child)?.table === resource)
          .map((child) => table(location, child.table))
      ]
    default:
      return []
  }
}

/** The hashes of the rows that one reading of a run stores in a table, by key. */
interface Rows {
  readonly reading: string
  readonly kind: PageEntry["kind"]
  readonly hashes: Map<string, number>
}

/**
 * Decides which pages one batch may hold. A batch merges the rows of a list together, and then those of details, so two pages
 * that say different things about a record belong to different batches: the tables, history and state then do not depend
 * on where batches end.
 */
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
