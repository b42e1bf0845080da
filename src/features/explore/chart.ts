/**
 * Draws a chart as SVG. Vega makes functions from texts, which the page's security policy does not permit, so the server
 * draws, and the page shows an image. Only neutral names reach the specification: those of columns are titles.
 */
import { type Body, HttpError } from "./http.ts"
import { limits } from "./limits.ts"

/** `body`: kind, x, y (titles), xType, points as pairs, width, isDark. */
export const chartSvg = async (body: Body): Promise<string> => {
  const { kind, xType, width, isDark, points } = body
  if ((kind !== "bar" && kind !== "line") || (xType !== "nominal" && xType !== "quantitative" && xType !== "temporal"))
    throw new HttpError(400, "request", "kind is bar or line, and xType is nominal, quantitative or temporal.")
  if (!Array.isArray(points) || points.length > limits.rows || !points.every(isPoint))
    throw new HttpError(400, "request", `points are at most ${limits.rows} pairs of a text and a number.`)
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
  const { spec } = compile({
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: { values: points.map(([x, y]) => ({ x: xType === "quantitative" ? Number(x) : x, y })) },
    width: Math.min(Math.max(Number(width) || 600, 200), 2000),
    height: 320,
    background: colours.background,
    mark: kind === "bar" ? { type: "bar", color: colours.mark } : { type: "line", color: colours.mark, point: true },
    encoding: {
      x: {
        field: "x",
        // Bars need steps of their own; the order is that of the query.
        type: kind === "bar" && xType === "quantitative" ? "ordinal" : xType,
        sort: null,
        ...(xType === "temporal" && { scale: { type: "utc" } }),
        title: titleOf(body["x"]),
        axis: xType === "temporal" ? { ...axis, format: timeFormat(points) } : axis
      },
      y: { field: "y", type: "quantitative", title: titleOf(body["y"]), axis }
    },
    config: { font: "system-ui, sans-serif", view: { stroke: null } },
    autosize: { type: "fit", contains: "padding" }
  })
  return new vega.View(vega.parse(spec), { renderer: "none", logLevel: vega.Error }).toSVG()
}

type Point = readonly [x: string, y: number]
const isPoint = (value: unknown): value is Point =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && Number.isFinite(value[1])

/** Always with the next larger unit: a label such as March says too little. */
const timeFormat = (points: ReadonlyArray<Point>): string => {
  const times = points.map(([x]) => Date.parse(x)).filter((time) => !Number.isNaN(time))
  const days = (Math.max(...times) - Math.min(...times)) / 86_400_000
  return days > 60 ? "%b %Y" : days > 2 ? "%d %b" : "%d %b %H:%M"
}

const titleOf = (title: unknown): string => String(title ?? "").slice(0, 100)

const light = { background: "#ffffff", text: "#3b4450", line: "#d5dae1", mark: "#2563a8" }
const dark = { background: "#161b22", text: "#c3ccd6", line: "#39424e", mark: "#6aa5e8" }
