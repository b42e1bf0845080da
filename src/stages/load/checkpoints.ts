/** The state of readings in a batch: checkpoints, ends and backfilled windows. */
import { backfillOf } from "../../catalog/resource.ts"
import { isComplete } from "../../values/status.ts"
import { type EndEntry, type Entry, type PageEntry, type WindowEntry, isPage } from "../../stores/vault/entry.ts"

/** The last checkpoint of each partition, the ends and the windows, from entries in vault order. */
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
      if (startsOver(entry)) finished(entry.location, entry.resource)
    } else if (entry.kind === "window") {
      windows.push(entry)
      finished(entry.location, backfillOf(entry.resource))
    } else if (isPage(entry) && !entry.parent && entry.checkpoint) {
      const reading = readingOf(entry)
      partitions.set(JSON.stringify([entry.location, reading, entry.partition]), { entry, reading })
    }
  }
  return { partitions: [...partitions.values()], ends, windows }
}

/** The reading to which a page belongs: a resource, the label of its children or detail, or its backfill. */
export const readingOf = ({ parent, partition, checkpoint, resource }: PageEntry): string =>
  parent ? partition : checkpoint?.mode === "window" ? backfillOf(resource) : resource

/** A complete reading advances the watermark. A backfill window does not. */
export const isSynced = ({ outcome }: EndEntry): boolean => isComplete(outcome) && outcome.mode !== "window"

/** Whether the next reading starts over, so that the checkpoints of this one are no longer needed. */
export const startsOver = (end: EndEntry): boolean => end.outcome.finished === true || isSynced(end)

export interface Partition {
  readonly entry: PageEntry
  /** The resource, or its backfill, which has its own checkpoints. */
  readonly reading: string
}
