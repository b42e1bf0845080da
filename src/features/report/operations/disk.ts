/** Section: how much space each part of the output folder takes. */
import type { Used } from "../../../output/disk.ts"
import { bytes, count, share } from "../format.ts"
import type { Html } from "../../../values/html.ts"
import { section } from "../section.ts"
import { sumOf } from "../rows.ts"
import { bars, number, tableOf, text, wide } from "../table.ts"

export const diskSection = (used: ReadonlyArray<Used>): Html => {
  const all = sumOf(used, (one) => one.bytes)
  const atLeast = ({ isCut }: Used, size: string) => `${isCut ? "more than " : ""}${size}`
  return section({
    id: "disk",
    title: "Disk",
    lead: `The output folder takes ${bytes(all)}.`,
    content: tableOf(used, {
      id: "disk-table",
      caption: "Space by part of the output folder",
      columns: [
        text("Part", ({ part }) => part),
        number("Size", (one) => atLeast(one, bytes(one.bytes))),
        number("Share", (one) => share(one.bytes, all)),
        bars("Share of the folder", used, (one) => one.bytes),
        number("Files", (one) => atLeast(one, count(one.files))),
        wide("What", ({ what }) => what)
      ]
    })
  })
}
