/** What a batch says of the readings it belongs to, beside the rows. */
import { backfillOf } from "../catalog/resource.ts"
import type { EndEntry, Entry, PageEntry, WindowEntry } from "../vault/entry.ts"

/** Last state of each pass, the ends, and the windows read, among entries in their order. */
export const statesOf = (entries: ReadonlyArray<Entry>) => {
  const partitions = new Map<string, Partition>()
  const ends: Array<EndEntry> = []
  const windows: Array<WindowEntry> = []
  const finished = (location: string, reading: string) => {
    for (const [key, partition] of partitions)
      if (partition.reading === reading && partition.entry.location === location) partitions.delete(key)
  }
  for (const entry of entries) {
    if (entry.kind === "end") {
      ends.push(entry)
      finished(entry.location, entry.resource)
    } else if (entry.kind === "window") {
      windows.push(entry)
      finished(entry.location, backfillOf(entry.resource))
    } else if (entry.kind !== "deleted" && !entry.parent) {
      const reading = entry.checkpoint?.mode === "window" ? backfillOf(entry.resource) : entry.resource
      partitions.set(JSON.stringify([entry.location, reading, entry.partition]), { entry, reading })
    }
  }
  return { partitions: [...partitions.values()], ends, windows }
}

export interface Partition {
  readonly entry: PageEntry
  /** What it belongs to: the resource, or its backfill, which stands beside and ends by itself. */
  readonly reading: string
}
