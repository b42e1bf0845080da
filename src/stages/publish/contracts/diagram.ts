/** An entity-relationship diagram of a family of tables, drawn by Graphviz as SVG. */
import type { ContractTable } from "./contract.ts"

/** Tables of other families to which the tables refer are dashed. An arrow points from the many to the one. */
export const makeDiagrams = async (): Promise<(family: string, tables: ReadonlyArray<ContractTable>) => string> => {
  const { instance } = await import("@viz-js/viz")
  const graphviz = await instance()
  return (family, tables) => {
    const edges = tables.flatMap(edgesOf)
    const own = new Set(tables.map(({ name }) => name))
    const others = new Set(edges.map(({ to }) => to).filter((table) => !own.has(table)))
    const drawn = graphviz.renderString(
      {
        graphAttributes: { rankdir: "LR", bgcolor: "transparent", nodesep: 0.15, ranksep: 0.6 },
        nodeAttributes: {
          shape: "box",
          style: "rounded",
          fontname: "sans-serif",
          fontsize: 11,
          height: 0.3,
          margin: "0.25,0.05"
        },
        edgeAttributes: { fontname: "sans-serif", fontsize: 9, arrowhead: "none", arrowtail: "crow", dir: "back" },
        nodes: [
          ...[...own].map((table) => ({ name: table, attributes: { URL: `#${table}` } })),
          ...[...others].map((table) => ({ name: table, attributes: { URL: `#${table}`, style: "rounded,dashed" } }))
        ],
        edges: edges.map(({ to, from, columns }) => ({
          tail: to,
          head: from,
          attributes: { tooltip: `${from}: ${columns.join(", ")}`, dir: "forward", arrowhead: "crow" }
        }))
      },
      { format: "svg" }
    )
    return drawn
      .slice(drawn.indexOf("<svg"))
      .replaceAll('="black"', '="currentColor"')
      .replace(/<svg width="(\d+)pt" height="(\d+)pt"/, '<svg role="img" style="max-width:$1pt"')
      .replace(/<title>[^<]*<\/title>/, `<title>Tables of ${family} and the tables to which they refer</title>`)
      .replaceAll(/<text [^>]*/g, (text) => `${text} fill="currentColor"`)
  }
}

/** One edge for each pair of tables. References to the location are left out: every table has one. */
const edgesOf = ({ name, columns, parent }: ContractTable) => {
  const targets = new Map<string, Array<string>>()
  const add = (to: string, column: string) => targets.set(to, [...new Set([...(targets.get(to) ?? []), column])])
  if (parent) add(parent.table, parent.column)
  for (const { name: column, refersTo } of columns)
    if (refersTo && refersTo.table !== "locations" && refersTo.table !== name) add(refersTo.table, column)
  return [...targets].map(([to, columns]) => ({ from: name, to, columns }))
}
