/** The list of docs/first-sync.md: every scope that a resource needs, with the tables that come by it. */
import type { Catalogue } from "../src/catalog/discover.ts"
import { markdownList } from "./settings-documents.ts"

export const scopesList = ({ resources }: Catalogue): string => {
  const byScope = Map.groupBy(resources, ({ scope }) => scope)
  const named = [...byScope].filter(([scope]) => scope !== "any").toSorted(([one], [other]) => (one < other ? -1 : 1))
  return markdownList(
    named.map(([scope, own]) => [
      scope,
      own
        .map(({ table }) => table)
        .toSorted()
        .join(", ")
    ])
  )
}
