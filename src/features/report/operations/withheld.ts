/** Section: what the settings keep out; absent if that is nothing. */
import { counted } from "../format.ts"
import type { Html } from "../../../values/html.ts"
import { tableSection } from "../section.ts"
import { text } from "../table.ts"

/** `earlier`: those of the names whose values were stored before. */
export const withheldSection = (names: ReadonlyArray<string>, earlier: ReadonlyArray<string>): Html | undefined =>
  tableSection(names, {
    id: "withheld",
    title: "Kept out",
    lead: `The settings keep ${counted(names.length, "column or table", "columns and tables")} out. ${
      earlier.length === 0
        ? "Nothing of it was stored before."
        : "What was stored before is still in the output folder."
    }`,
    table: {
      id: "withheld-table",
      caption: "What the settings keep out",
      folded: 12,
      columns: [text("What", (name) => name), text("Stored before", (name) => (earlier.includes(name) ? "yes" : "no"))]
    }
  })
