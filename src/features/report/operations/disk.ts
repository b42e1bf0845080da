/** Section: how much space each part of the output folder takes. */
import type { Used } from "../../../output/disk.ts"
import { bytes, count, share } from "../format.ts"
import { type Html, html } from "../../../values/html.ts"
import { bar, section, tableOf } from "../table.ts"

export const diskSection = (used: ReadonlyArray<Used>): Html => {
  const all = used.reduce((sum, one) => sum + one.bytes, 0)
  const highest = Math.max(0, ...used.map((one) => one.bytes))
  return section({
    id: "disk",
    title: "Disk",
    lead: `The output folder takes ${bytes(all)}.`,
    content: tableOf({
      id: "disk-table",
      caption: "Space by part of the output folder",
      rows: used,
      columns: [
        { head: "Part", cell: ({ part }) => part },
        { head: "Size", kind: "number", cell: (one) => `${one.isCut ? "more than " : ""}${bytes(one.bytes)}` },
        { head: "Share", kind: "number", cell: (one) => share(one.bytes, all) },
        { head: "Share of the folder", kind: "chart", cell: (one) => bar(one.bytes, highest) },
        {
          head: "Files",
          kind: "number",
          cell: ({ files, isCut }) => html`${isCut ? "more than " : undefined}${count(files)}`
        },
        { head: "What", kind: "wide", cell: ({ what }) => what }
      ]
    })
  })
}
