/** How the tables join, as diagrams in Mermaid: one for each family, with the tables of others to which it refers. */
import type { ContractTable } from "../src/stages/publish/contracts/contract.ts"

export const joinsPart = (tables: ReadonlyArray<ContractTable>): string => {
  const families = [...Map.groupBy(tables, ({ family }) => family)]
  const diagrams = families.map(([family, own]) => {
    const lines = own.flatMap(edgesOf)
    return lines.length === 0 ? "" : `### ${family}: joins\n\n\`\`\`mermaid\nerDiagram\n${lines.join("\n")}\n\`\`\`\n`
  })
  return `## Joins\n\nThe fork is at the side of many rows; the columns are those of that side.\n\n${diagrams.filter(Boolean).join("\n")}`
}

/** One edge for each pair of tables. References to the location are left out: every table has one. */
const edgesOf = ({ name, columns, parent }: ContractTable): ReadonlyArray<string> => {
  const references = columns.flatMap(({ name: column, refersTo }) => (refersTo ? [{ to: refersTo.table, column }] : []))
  const all = [...(parent ? [{ to: parent.table, column: parent.column }] : []), ...references]
  const others = all.filter(({ to }) => to !== "locations" && to !== name)
  return [...Map.groupBy(others, ({ to }) => to)].map(
    ([to, found]) => `  ${to} ||--o{ ${name} : "${[...new Set(found.map(({ column }) => column))].join(", ")}"`
  )
}
