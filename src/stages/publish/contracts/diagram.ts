/** Diagrams of tables, drawn by Graphviz as SVG. */
import type { ContractTable } from "./contract.ts"

interface Diagram {
  readonly title: string
  /** What is not among these is dashed. */
  readonly own: ReadonlyArray<string>
  readonly edges: ReadonlyArray<{ readonly from: string; readonly to: string; readonly tooltip: string }>
  /** `crow`: the fork is at the side of many rows. */
  readonly arrow: "crow" | "normal"
}

/** The tables of a family, and the tables to which they refer. */
export const familyDiagram = (family: string, tables: ReadonlyArray<ContractTable>): Diagram => ({
  title: `Tables of ${family} and the tables to which they refer`,
  own: tables.map(({ name }) => name),
  edges: tables.flatMap(edgesOf),
  arrow: "crow"
})

/** What each table or model is made of. */
export const lineageDiagram = (
  title: string,
  made: ReadonlyArray<{ readonly name: string; readonly reads: ReadonlyArray<string> }>
): Diagram => ({
  title,
  own: made.map(({ name }) => name),
  edges: made.flatMap(({ name, reads }) => reads.map((from) => ({ from, to: name, tooltip: `${name} reads ${from}` }))),
  arrow: "normal"
})

/** `sections`: what the page has a section for. */
export const makeDiagrams = async (sections: ReadonlySet<string>): Promise<(diagram: Diagram) => string> => {
  const { instance } = await import("@viz-js/viz")
  const graphviz = await instance()
  const linkTo = (table: string) => (sections.has(table) ? { URL: `#${table}` } : {})
  return ({ arrow, edges, own, title }) => {
    const others = new Set(edges.flatMap(({ from, to }) => [from, to])).difference(new Set(own))
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
        edgeAttributes: { dir: "forward", arrowhead: arrow, arrowsize: arrow === "crow" ? 1 : 0.6 },
        nodes: [
          ...own.map((table) => ({ name: table, attributes: linkTo(table) })),
          ...Array.from(others, (table) => ({ name: table, attributes: { ...linkTo(table), style: "rounded,dashed" } }))
        ],
        edges: edges.map(({ from, to, tooltip }) => ({ tail: from, head: to, attributes: { tooltip } }))
      },
      { format: "svg" }
    )
    return drawn
      .slice(drawn.indexOf("<svg"))
      .replaceAll('="black"', '="currentColor"')
      .replace(
        /<svg width="(\d+)pt" height="(\d+)pt"/,
        `<svg role="group" aria-label="${title}" style="max-width:$1pt"`
      )
      .replace(/<title>[^<]*<\/title>/, `<title>${title}</title>`)
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
  return [...targets].map(([from, columns]) => ({ from, to: name, tooltip: `${name}: ${columns.join(", ")}` }))
}
