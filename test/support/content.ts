import { Effect } from "effect"
import { type StoredColumn, contentsOfEach } from "../../src/stores/warehouse/content.ts"

/** The content of one relation. */
export const contentOf = (from: string, columns: ReadonlyArray<StoredColumn>, text = false) =>
  Effect.map(contentsOfEach([{ from, columns, text, size: Infinity }]), (contents) => contents.get(from)!)
