/** How the tables join, as diagrams in Mermaid: one for each family, with the tables of others to which it refers. */
import type { ContractTable } from "../src/stages/publish/contracts/contract.ts"

export const joinsPart = (tables: ReadonlyArray<ContractTable>): string => {
  const families = [...Map.groupBy(tables, ({ family }) => family)]
  const diagrams = families.map(([family, own]) => {
    const lines = own.flatMap((table) => edgesOf(table))
    return lines.length === 0 ? "" : `### ${family}: joins\n\n\`\`\`mermaid\nerDiagram\n${lines.join("\n")}\n\`\`\`\n`
  })
  return `## Joins\n\nThe fork is at the side of many rows; the columns are those of that side.\n\n### The ten main tables\n\n${mainJoins(tables)}\n\n${diagrams.filter(Boolean).join("\n")}`
}

const mainTables =
  "contacts users opportunities pipelines pipeline_stages conversations messages appointments invoices transactions".split(
    " "
  )

/** The tables that a newcomer meets, in one diagram. */
export const mainJoins = (tables: ReadonlyArray<ContractTable>): string => {
  const lines = tables
    .filter(({ name }) => mainTables.includes(name))
    .flatMap((table) => edgesOf(table, (to) => mainTables.includes(to)))
  return `\`\`\`mermaid\nerDiagram\n${lines.join("\n")}\n\`\`\``
}

/** One edge for each pair of tables. References to the location are left out: every table has one. */
const edgesOf = (
  { name, columns, parent }: ContractTable,
  isShown: (table: string) => boolean = () => true
): ReadonlyArray<string> => {
  const references = columns.flatMap(({ name: column, refersTo }) => (refersTo ? [{ to: refersTo.table, column }] : []))
  const all = [...(parent ? [{ to: parent.table, column: parent.column }] : []), ...references]
  const others = all.filter(({ to }) => to !== "locations" && to !== name && isShown(to))
  return [...Map.groupBy(others, ({ to }) => to)].map(
    ([to, found]) => `  ${to} ||--o{ ${name} : "${[...new Set(found.map(({ column }) => column))].join(", ")}"`
  )
}
