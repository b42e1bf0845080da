/** `sluice dictionary`: what every table and column means, made from the definitions. */
import { Effect } from "effect"
import { type Catalogue, discover } from "../catalog/discover.ts"
import { tablesOf } from "../catalog/tables.ts"
import { print } from "./output.ts"

export const dictionary = Effect.fn("cli.dictionary")(function* (flags: { readonly json: boolean }) {
  const catalogue = yield* Effect.promise(() => discover())
  if (flags.json) return print(JSON.stringify(catalogue.resources.flatMap((resource) => tablesOf(resource))))
  print(markdown(catalogue))
})

const markdown = ({ resources, familyByTable }: Catalogue): string =>
  [
    "# Data dictionary",
    ...resources.flatMap((resource) =>
      tablesOf(resource).flatMap((table) => [
        `## ${table.name}`,
        table.description,
        `Read from ${resource.source}; family ${familyByTable.get(table.name)}; scope \`${resource.scope}\`; ` +
          `key ${table.key.map((column) => `\`${column}\``).join(", ")}; ` +
          `${resource.each ? `one request per row of ${resource.each.table}` : resource.changes ? `changes by \`${resource.changes.field}\`` : "read whole each time"}.`,
        [
          "| column | type | meaning | personal data | refers to |",
          "|---|---|---|---|---|",
          ...table.columns.map(
            (column) =>
              `| ${column.name} | ${column.sql} | ${column.description.replaceAll("|", "\\|")} | ${column.personal} | ${column.references ?? ""} |`
          )
        ].join("\n")
      ])
    )
  ].join("\n\n")
