/** The last part of `docs/dictionary.md`: what each profile of `docs/hand-out.md` does with each column. */
import type { Catalogue } from "../src/catalog/discover.ts"
import { tablesOf } from "../src/catalog/tables.ts"
import type { Masking } from "../src/settings/masking.ts"
import { type Treatment, treatmentOf, treatments } from "../src/stages/publish/masking/rules.ts"

const profiles = ["masked", "analytics", "aggregate"] as const
/** No treatment depends on the key. */
const maskings = profiles.map((profile) => ({ profile })) as ReadonlyArray<Masking>

export const maskedColumnsPart = ({ resources }: Catalogue): string => {
  const columns = resources.flatMap(tablesOf).flatMap((table) =>
    table.columns
      .filter(({ name }) => !name.startsWith("_"))
      .map((column) => ({
        table: table.name,
        column: column.name,
        treated: maskings.map((masking) => treatmentOf(masking, column))
      }))
  )
  const groups = Map.groupBy(
    columns.filter(({ treated }) => treated.some((treatment) => treatment !== "kept")),
    ({ treated }) => headingOf(treated)
  )
  return [
    "## Masked columns",
    "What each profile of [hand-out.md](hand-out.md) does with each column. Columns that are not here are as they are in every profile, " +
      "apart from `_extra` and `_row_hash`, which are NULL. `aggregate` has no rows of tables about persons at all.",
    Object.entries(treatments)
      .map(([name, meaning]) => `- \`${name}\`: ${meaning.replaceAll("*", "\\*")}`)
      .join("\n"),
    ...[...groups]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([treated, found]) => [
        `### ${treated}`,
        [...Map.groupBy(found, ({ table }) => table)].map(line).join("\n")
      ])
  ].join("\n\n")
}

const headingOf = (treated: ReadonlyArray<Treatment>): string =>
  new Set(treated).size === 1
    ? `${treated[0]} in each profile`
    : profiles.map((profile, index) => `${treated[index]} in ${profile}`).join(", ")

const line = ([table, found]: readonly [string, ReadonlyArray<{ readonly column: string }>]): string =>
  `- ${table}: ${found.map(({ column }) => column).join(", ")}`
