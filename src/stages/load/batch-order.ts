/**
 * Decides where a batch ends. A batch loads its pages first, then what it says about deleted records, then the ends of its
 * readings. An entry that must be loaded after one of these belongs to the next batch.
 */
import { type Resource, backfillOf, childRequestOf, embeddedResourcesOf } from "../../catalog/resource.ts"
import { type Entry, isPage } from "../../stores/vault/entry.ts"
import { readingOf } from "./checkpoints.ts"

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
