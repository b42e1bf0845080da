/**
 * Draws a chart as SVG. Vega makes functions from texts, which the page's security policy does not permit, so the server
 * draws, and the page shows an image. Only neutral names reach the specification: those of columns are titles.
 */
import { type ChartKind, chartKinds, isChartKind } from "./chart-kinds.ts"
import { type Body, HttpError } from "./http.ts"
import { limits } from "./limits.ts"

/** `body`: kind, x, y (titles), xType, points as [x, y] or [x, y, series], width, isDark. */
export const chartSvg = async (body: Body): Promise<string> => {
  const { kind, xType, width, isDark, points } = body
  if (!isChartKind(kind) || (xType !== "nominal" && xType !== "quantitative" && xType !== "temporal"))
    throw new HttpError(
      400,
      "request",
      `kind is ${chartKinds.join(", ")}, and xType is nominal, quantitative or temporal.`
    )
  if (!Array.isArray(points) || points.length > pointsMax || !points.every(isPoint))
    throw new HttpError(400, "request", `points are at most ${pointsMax}: a text, a number, and for a series its name.`)
  const [vega, { compile }] = await Promise.all([import("vega"), import("vega-lite")])
  const colours = isDark === true ? dark : light
  const axis = {
    labelColor: colours.text,
    titleColor: colours.text,
    gridColor: colours.line,
    domainColor: colours.line,
    tickColor: colours.line,
    labelLimit: 160,
    labelOverlap: true
  }
  const pixels = Math.min(Math.max(Number(width) || 600, 200), 2000)
  const isWide = pixels > 500
  const isBar = kind === "bar" || kind === "grouped"
  const hasSeries = points.some((point) => point.length === 3)
  const legend = {
    title: null,
    orient: "top",
    labelColor: colours.text,
    labelLimit: isWide ? 200 : 120,
    columns: isWide ? 6 : 2
  } as const
  const range = [...colours.marks]
  const color = range[0]!
  const { spec } = compile({
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: {
      values: points.map(([x, y, series]) => ({ x: xType === "quantitative" ? Number(x) : x, y, series }))
    },
    width: pixels,
    height: 320,
    background: colours.background,
    mark: isBar
      ? { type: "bar", color }
      : kind === "line"
        ? { type: "line", color, point: points.length <= pointsSeen }
        : { type: "area", color, opacity: 0.85 },
    encoding: {
      x: {
        field: "x",
        // Bars need steps of their own; the order is that of the query.
        type: isBar && xType === "quantitative" ? "ordinal" : isBar && kind === "grouped" ? "nominal" : xType,
        sort: null,
        ...(xType === "temporal" && kind !== "grouped" && { scale: { type: "utc" } }),
        title: titleOf(body["x"]),
        axis:
          xType === "temporal" && kind !== "grouped"
            ? { ...axis, grid: false, format: timeFormat(points) }
            : { ...axis, grid: false }
      },
      y: { field: "y", type: "quantitative", stack: isStacked(kind) ? "zero" : null, title: titleOf(body["y"]), axis },
      ...(hasSeries && { color: { field: "series", type: "nominal", sort: null, scale: { range }, legend } }),
      ...(hasSeries && kind === "grouped" && { xOffset: { field: "series", sort: null } })
    },
    config: { font: "system-ui, sans-serif", view: { stroke: null } },
    autosize: { type: "fit", contains: "padding" }
  })
  return new vega.View(vega.parse(spec), { renderer: "none", logLevel: vega.Error }).toSVG()
}

/** Lines are compared, and bars and areas are added. */
const isStacked = (kind: ChartKind): boolean => kind === "bar" || kind === "area"

/** More points than these hide their line. */
const pointsSeen = 120

/** Two columns of all rows. */
const pointsMax = 2 * limits.rows

type Point = readonly [x: string, y: number, series?: string]
const isPoint = (value: unknown): value is Point =>
  Array.isArray(value) &&
  (value.length === 2 || (value.length === 3 && typeof value[2] === "string")) &&
  typeof value[0] === "string" &&
  Number.isFinite(value[1])

/** Always with the next larger unit: a label such as March says too little. */
const timeFormat = (points: ReadonlyArray<Point>): string => {
  const times = points.map(([x]) => Date.parse(x)).filter((time) => !Number.isNaN(time))
  const days = (Math.max(...times) - Math.min(...times)) / 86_400_000
  return days > 60 ? "%b %Y" : days > 2 ? "%d %b" : "%d %b %H:%M"
}

const titleOf = (title: unknown): string => String(title ?? "").slice(0, 100)

/** Colours that people who see no red or green tell apart, with a contrast of 3 to the ground. */
const light = {
  background: "#ffffff",
  text: "#3b4450",
  line: "#d5dae1",
  marks: [
    "#1f5f93",
    "#a1560b",
    "#5f5a9c",
    "#1f7a4d",
    "#b3261e",
    "#6b7178",
    "#0d7c86",
    "#8c2f6b",
    "#7a6a00",
    "#3d6fd6",
    "#9a4a2f",
    "#4c7a1f"
  ]
}
const dark = {
  background: "#1b1f23",
  text: "#c3ccd6",
  line: "#39424e",
  marks: [
    "#8fc1e6",
    "#e2a862",
    "#b3aef0",
    "#63c394",
    "#f0897f",
    "#a3abb3",
    "#5cc8d2",
    "#e08fc0",
    "#cbb84a",
    "#8aa8f5",
    "#d99a80",
    "#a5cc74"
  ]
}
