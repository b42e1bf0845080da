/** Section: what the settings keep out; absent if that is nothing. */
import { counted } from "../format.ts"
import type { Html } from "../../../values/html.ts"
import { section, tableOf } from "../table.ts"

/** `earlier`: those of the names whose values were stored before. */
export const withheldSection = (names: ReadonlyArray<string>, earlier: ReadonlyArray<string>): Html | undefined => {
  if (names.length === 0) return undefined
  const stored = new Set(earlier)
  return section({
    id: "withheld",
    title: "Kept out",
    lead: `The settings keep ${counted(names.length, "column or table", "columns and tables")} out. ${
      stored.size === 0 ? "Nothing of it was stored before." : "What was stored before is still in the output folder."
    }`,
    content: tableOf({
      id: "withheld-table",
      caption: "What the settings keep out",
      rows: names,
      folded: 12,
      columns: [
        { head: "What", cell: (name) => name },
        { head: "Stored before", cell: (name) => (stored.has(name) ? "yes" : "no") }
      ]
    })
  })
}
