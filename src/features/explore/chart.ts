/** Draws a chart of the rows of a query as an SVG picture, with its words in it. The names of columns are only ever text. */
import { TotalMap, itemAt } from "../../catalog/present.ts"
import { scaleOf, short } from "../../pages/charts.ts"
import { type Html, html } from "../../pages/html.ts"
import { type ChartKind, type ChartOrder, pointsMax } from "./chart-order.ts"

type Point = ChartOrder["points"][number]

/** A value in its place: from `low` to `high`, for which a stack begins above the value below it. */
interface Mark {
  readonly x: string
  readonly series: string
  readonly low: number
  readonly high: number
}

const height = 320
/** What the words around the marks take. */
const [left, right, line] = [76, 16, 20] as const

export const chartSvg = ({ kind, xType, x: below, y: beside, points, width = 600, isDark }: ChartOrder): string => {
  const pixels = Math.min(Math.max(width, 200), 2000)
  const colours = isDark ? dark : light
  const series = [...new Set(points.map(([, , name = ""]) => name))]
  const names = series.length > 1 || series[0] !== "" ? series : []
  const colourOf = (name: string) => itemAt(colours.marks, series.indexOf(name) % colours.marks.length)
  const places = placesOf(kind, xType, points)
  const marks = marksOf(kind, points, places.keys)
  const perRow = Math.max(1, Math.min(names.length, pixels > 500 ? 6 : 2))
  const top = 12 + line * Math.ceil(names.length / perRow)
  const wide = pixels - left - right
  const labels = labelsOf(places, xType, wide)
  const { bottom } = labels
  const tall = height - bottom - top
  const [lowest, highest] = [Math.min(0, ...marks.map(({ low }) => low)), Math.max(0, ...marks.map(({ high }) => high))]
  const { step } = scaleOf(Math.max(highest, -lowest))
  const [from, to] = [Math.floor(lowest / step) * step, Math.max(Math.ceil(highest / step) * step, step)]
  const y = (value: number) => top + tall - (tall * (value - from)) / (to - from)
  const x = (key: string) => left + wide * places.at(key)
  const levels = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => from + index * step)
  const marksBySeries = Map.groupBy(marks, (mark) => mark.series)
  const drawn =
    kind === "bar" || kind === "grouped"
      ? barsOf(marks, (wide / places.keys.length) * 0.8, kind === "grouped" ? series : [], { x, y, colourOf })
      : series.map((name) => pathOf(kind, runsOf(marksBySeries.get(name) ?? [], places), colourOf(name), { x, y }))
  const words = (text: string, atX: number, atY: number, anchor = "middle") =>
    html`<text x="${short(atX)}" y="${short(atY)}" text-anchor="${anchor}" fill="${colours.text}">${text}</text>`
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${pixels}"
    height="${height}"
    viewBox="0 0 ${pixels} ${height}"
    font-family="system-ui, sans-serif"
    font-size="11"
  >
    <rect width="${pixels}" height="${height}" fill="${colours.background}" />
    ${names.map((name, index) => {
      const [atX, atY] = [left + ((index % perRow) * wide) / perRow, 6 + line * Math.floor(index / perRow)]
      return html`<rect
          x="${short(atX)}"
          y="${atY}"
          width="10"
          height="10"
          fill="${colourOf(name)}"
        />${words(cut(name, wide / perRow - 20), atX + 14, atY + 9, "start")}`
    })}
    <path
      stroke="${colours.line}"
      d="${levels.map((level) => `M${left} ${short(y(level))}h${short(wide)}`).join("")}"
    />
    ${levels.map((level) => words(Number(level.toPrecision(12)).toLocaleString("en-US", { maximumFractionDigits: 12 }), left - 6, y(level) + 4, "end"))}
    ${drawn}
    ${labels.shown.map(({ key, text, anchor }) =>
      labels.areTurned
        ? html`<text
            transform="translate(${short(x(key) + 4)} ${height - bottom + 14}) rotate(-40)"
            text-anchor="end"
            fill="${colours.text}"
          >
            ${cut(text, 110)}
          </text>`
        : words(cut(text, labels.room), x(key), height - bottom + 18, anchor)
    )}
    ${words(below.slice(0, 100), left + wide / 2, height - 12)}
    <text transform="translate(14 ${short(top + tall / 2)}) rotate(-90)" text-anchor="middle" fill="${colours.text}">
      ${beside.slice(0, 100)}
    </text>
  </svg>`.text
}

interface Places {
  /** The values of the horizontal axis, each once: those of numbers and times of a line from left to right, else as they come. */
  readonly keys: ReadonlyArray<string>
  /** The share of the width, from 0 to 1. */
  readonly at: (key: string) => number
  /** Whether they are all months between two, of which one without a value is a gap. */
  readonly isEvery: boolean
}

const placesOf = (kind: ChartKind, xType: ChartOrder["xType"], points: ReadonlyArray<Point>): Places => {
  const found = [...new Set(points.map(([x]) => x))]
  const months = xType === "temporal" ? monthsOf(found) : undefined
  const [keys, isEvery] = [months ?? found, months !== undefined]
  const places = new TotalMap(keys.map((key, index) => [key, (index + 0.5) / keys.length] as const))
  // Bars have steps of their own.
  if (xType === "nominal" || kind === "bar" || kind === "grouped") return { keys, at: (key) => places.of(key), isEvery }
  const value = (key: string) => (xType === "temporal" ? Date.parse(key) : Number(key))
  const known = keys.filter((key) => Number.isFinite(value(key))).sort((one, other) => value(one) - value(other))
  const [first, last] = [value(known[0] ?? ""), value(known.at(-1) ?? "")]
  return { keys: known, at: (key) => (last > first ? (value(key) - first) / (last - first) : 0.5), isEvery }
}

/** Nothing, if not all are the begin of a month. They may be quarters or years: what divides all steps is the step. */
const monthsOf = (keys: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const [key = ""] = keys
  if (keys.length < 2 || !keys.every((key) => /^\d{4}-\d\d-01(T00:00:00Z)?$/.test(key))) return undefined
  const months = keys.map((key) => Number(key.slice(0, 4)) * 12 + Number(key.slice(5, 7)) - 1)
  const [first, last] = [Math.min(...months), Math.max(...months)]
  const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b))
  const step = months.reduce((found, month) => common(month - first, found), 0)
  const length = (last - first) / step + 1
  const digits = (value: number, length: number) => String(value).padStart(length, "0")
  const keyOf = (month: number) => `${digits(Math.floor(month / 12), 4)}-${digits((month % 12) + 1, 2)}${key.slice(7)}`
  return length > pointsMax ? undefined : Array.from({ length }, (_, index) => keyOf(first + index * step))
}

/** The marks of a series without the gaps between them. */
const runsOf = (marks: ReadonlyArray<Mark>, { isEvery, keys }: Places): ReadonlyArray<ReadonlyArray<Mark>> => {
  const runs: Array<Array<Mark>> = []
  for (const mark of marks) {
    const run = runs.at(-1)
    const before = run?.at(-1)
    if (run && before && !(isEvery && keys.indexOf(mark.x) > keys.indexOf(before.x) + 1)) run.push(mark)
    else runs.push([mark])
  }
  return runs
}

/** Lines are compared, as are bars side by side; other bars, and areas, are added. */
const marksOf = (kind: ChartKind, points: ReadonlyArray<Point>, keys: ReadonlyArray<string>): ReadonlyArray<Mark> => {
  const place = new TotalMap(keys.map((key, index) => [key, index] as const))
  const placed = points.filter(([x]) => place.has(x))
  if (kind === "line" || kind === "grouped")
    return placed
      .toSorted(([one], [other]) => place.of(one) - place.of(other))
      .map(([x, value, series = ""]) => ({ x, series, low: Math.min(value, 0), high: Math.max(value, 0) }))
  const sums = new Map<string, number>()
  const add = (x: string, series: string, value: number): Mark => {
    // What is below zero is added downwards.
    const key = JSON.stringify([x, kind === "bar" && value < 0])
    const before = sums.get(key) ?? 0
    sums.set(key, before + value)
    return { x, series, low: Math.min(before, before + value), high: Math.max(before, before + value) }
  }
  if (kind === "bar") return placed.map(([x, value, series = ""]) => add(x, series, value))
  const values = new Map<string, Map<string, number>>()
  for (const [x, value, series = ""] of placed) {
    const found = values.get(series) ?? new Map<string, number>()
    values.set(series, found.set(x, (found.get(x) ?? 0) + value))
  }
  // An area has every place that another has, or those above it would stand on nothing.
  const filled = new Set(placed.map(([x]) => x))
  return Array.from(values, ([series, found]) =>
    keys.filter((x) => filled.has(x)).map((x) => add(x, series, found.get(x) ?? 0))
  ).flat()
}

interface Drawing {
  readonly x: (key: string) => number
  readonly y: (value: number) => number
}

/** `beside`: the series that share a step side by side. */
const barsOf = (
  marks: ReadonlyArray<Mark>,
  step: number,
  beside: ReadonlyArray<string>,
  { x, y, colourOf }: Drawing & { readonly colourOf: (series: string) => string }
): ReadonlyArray<Html> => {
  const wide = step / Math.max(beside.length, 1)
  return marks.map(({ x: key, series, low, high }) => {
    const begin = x(key) - step / 2 + Math.max(beside.indexOf(series), 0) * wide
    return html`<rect
      x="${short(begin)}"
      y="${short(y(high))}"
      width="${short(wide)}"
      height="${short(y(low) - y(high))}"
      fill="${colourOf(series)}"
    />`
  })
}

const pathOf = (kind: ChartKind, runs: ReadonlyArray<ReadonlyArray<Mark>>, colour: string, { x, y }: Drawing): Html => {
  const along = (value: (mark: Mark) => number, marks: ReadonlyArray<Mark>) =>
    marks.map((mark) => `${short(x(mark.x))} ${short(y(value(mark)))}`)
  const pathOfRuns = (pointsOf: (run: ReadonlyArray<Mark>) => ReadonlyArray<string>, end: string) =>
    runs.map((run) => `M${pointsOf(run).join("L")}${end}`).join("")
  const alone = runs.filter(({ length }) => length === 1)
  if (kind === "area")
    return html`<path
        fill="${colour}"
        fill-opacity=".85"
        d="${pathOfRuns((run) => [...along(({ high }) => high, run), ...along(({ low }) => low, run.toReversed())], "z")}"
      /><path
        stroke="${colour}"
        stroke-width="4"
        d="${alone
          .flat()
          .map((mark) => `M${short(x(mark.x))} ${short(y(mark.high))}V${short(y(mark.low))}`)
          .join("")}"
      />`
  const points = (run: ReadonlyArray<Mark>) => along(({ high, low }) => (low < 0 ? low : high), run)
  // More points than these would hide their line; a single one has none.
  const dots = (runs.flat().length <= 120 ? runs : alone)
    .flatMap(points)
    .map((point) => `M${point}h0`)
    .join("")
  return html`<path fill="none" stroke="${colour}" stroke-width="2" d="${pathOfRuns(points, "")}" /><path
      stroke="${colour}"
      stroke-width="6"
      stroke-linecap="round"
      d="${dots}"
    />`
}

/**
 * Names stand below each of their marks: turned, if they have no room beside each other. Of times, numbers, and very many
 * names, as many are shown as have room, the first among them.
 */
const labelsOf = ({ at, keys }: Places, xType: ChartOrder["xType"], wide: number) => {
  const step = wide / keys.length
  const longest = keys.reduce((most, key) => Math.max(most, key.length), 0)
  const areTurned = xType === "nominal" && step < Math.min(longest * 6 + 8, 90) && keys.length > 1
  const text = xType === "temporal" ? timeText(keys) : (key: string) => key
  const room = xType === "nominal" ? (areTurned ? 14 : Math.min(step, 90)) : 90
  let free = 0
  const shown = keys.flatMap((key) => {
    const place = wide * at(key)
    if (place < free) return []
    free = place + room - 0.01
    return [{ key, text: text(key), anchor: place > wide - 20 ? "end" : "middle" }]
  })
  const bottom = areTurned ? 46 + Math.min(longest, 18) * 4 : 52
  return { areTurned, bottom, room: Math.max(room - 5, 40), shown }
}

/** Always with the next larger unit: a label such as March says too little. */
const timeText = (keys: ReadonlyArray<string>): ((key: string) => string) => {
  const times = keys.map((key) => Date.parse(key)).filter((time) => !Number.isNaN(time))
  const days =
    (times.reduce((a, b) => Math.max(a, b), -Infinity) - times.reduce((a, b) => Math.min(a, b), Infinity)) / 86_400_000
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: "UTC",
    month: "short",
    ...(days > 200 ? { year: "numeric" } : { day: "numeric" }),
    ...(days <= 2 && { hour: "2-digit", minute: "2-digit" })
  })
  return (key) => (Number.isNaN(Date.parse(key)) ? key : format.format(Date.parse(key)))
}

/** About as much of a text as has room. */
const cut = (text: string, room: number): string => {
  const characters = Math.max(Math.floor(room / 6), 4)
  return text.length > characters ? `${text.slice(0, characters - 1)}…` : text
}

/** Colours that people who see no red or green tell apart, with a contrast of 3 to the ground. */
const light = {
  background: "#ffffff",
  text: "#3b4450",
  line: "#d5dae1",
  marks: "#1f5f93 #a1560b #5f5a9c #1f7a4d #b3261e #6b7178 #0d7c86 #8c2f6b #7a6a00 #3d6fd6 #9a4a2f #4c7a1f".split(" ")
}
const dark = {
  background: "#1b1f23",
  text: "#c3ccd6",
  line: "#39424e",
  marks: "#8fc1e6 #e2a862 #b3aef0 #63c394 #f0897f #a3abb3 #5cc8d2 #e08fc0 #cbb84a #8aa8f5 #d99a80 #a5cc74".split(" ")
}
