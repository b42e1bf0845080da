/** A chart of the rows of a result: its choices, and its picture, which the server draws. */
import { count, fill, h, labelled, selectOf } from "./dom.js"
import { request } from "./service.js"
import { isNumber, isTime, unitFor, wordsOf } from "./values.js"

const kinds = {
  bar: { option: "Bars", name: "Bar chart" },
  grouped: { option: "Bars, side by side", name: "Grouped bar chart" },
  line: { option: "Lines", name: "Line chart" },
  area: { option: "Areas, stacked", name: "Area chart" }
}

/** The values of a column that colours tell apart. */
const seriesMax = 12

/**
 * The chart as it is saved: kind, `x`, one or two columns of numbers `y`, and with one of them `by`, the column whose values
 * are series. `given`: a chart of other rows, of which all that fits is kept; nothing if there are no numbers.
 */
export const chartFor = ({ columns, rows }, given) => {
  const numbers = columns.filter(({ type }) => isNumber(type)).map(({ name }) => name)
  if (numbers.length === 0 || rows.length === 0) return undefined
  const names = columns.map(({ name }) => name)
  const first = columns.find(({ type }) => !isNumber(type)) ?? columns[0]
  const x = names.includes(given?.x) ? given.x : first.name
  const asked = Array.isArray(given?.y) ? given.y.filter((name) => numbers.includes(name)).slice(0, 2) : []
  const y = asked.length > 0 ? asked : [numbers.at(-1)]
  const by = y.length === 1 && names.includes(given?.by) && given.by !== x ? given.by : undefined
  const isOfTime = isTime(columns.find(({ name }) => name === x).type)
  const kind = Object.hasOwn(kinds, given?.kind ?? "") ? given.kind : isOfTime ? "line" : "bar"
  return { kind, x, y, ...(by !== undefined && { by }) }
}

/** `onChange`: called with the chart when another is chosen. */
export const chartView = (result, given, onChange) => {
  let chart = chartFor(result, given)
  if (!chart) return h("p.empty", "A chart needs rows with a column of numbers.")
  const numbers = result.columns.filter(({ type }) => isNumber(type)).map(({ name }) => [name, name])
  const names = result.columns.map(({ name }) => [name, name])
  const choices = h("div.actions")
  const picture = h("div.picture")
  const change = (next) => {
    chart = chartFor(result, { ...chart, ...next }) ?? chart
    onChange(chart)
    show()
  }
  const choice = (label, options, chosen, changeTo) =>
    labelled(
      label,
      selectOf(options, chosen, (value) => {
        change(changeTo(value))
        // The choices are new elements.
        for (const field of choices.querySelectorAll("label"))
          if (field.firstChild.textContent === label) field.querySelector("select").focus()
      })
    )
  const none = ["", "None"]
  const show = () => {
    const { kind, x, y, by } = /** @type {NonNullable<typeof chart>} */ (chart)
    const others = numbers.filter(([name]) => name !== y[0] && name !== x)
    choices.replaceChildren(
      choice(
        "Chart",
        Object.entries(kinds).map(([name, { option }]) => [name, option]),
        kind,
        (value) => ({ kind: value })
      ),
      choice("Horizontal", names, x, (value) => ({ x: value })),
      choice("Vertical", numbers, y[0], (value) => ({ y: [value, ...y.slice(1).filter((one) => one !== value)] })),
      others.length === 0
        ? ""
        : choice("And", [none, ...others], y[1] ?? "", (value) => ({
            y: [y[0], value].filter(Boolean),
            by: undefined
          })),
      choice("Series by", [none, ...names.filter(([name]) => name !== x && name !== y[0])], by ?? "", (value) => ({
        y: [y[0]],
        by: value
      }))
    )
    fill(picture, () => pictureOf(picture, result, chart))
  }
  show()
  return h("div.chart", choices, picture)
}

/** The picture for an element that is on the page, where its width is known. A chart that is there stays until the next is drawn. */
export const pictureOf = async (element, result, chart) => {
  if (!element.querySelector("img")) element.replaceChildren(h("p.muted", "Drawing…"))
  const { note, points, x, y, title } = pointsOf(result, chart)
  const { svg } = await request("/api/chart", {
    kind: chart.kind,
    x: wordsOf(x.name),
    y: title,
    xType: isTime(x.type) ? "temporal" : isNumber(x.type) ? "quantitative" : "nominal",
    points,
    ...addedBy(result, chart),
    width: element.clientWidth || 600,
    isDark: matchMedia("(prefers-color-scheme: dark)").matches
  })
  const by = chart.by === undefined ? "" : ` and ${chart.by}`
  const image = h("img", {
    src: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })),
    alt: `${kinds[chart.kind].name} of ${y.join(" and ")} by ${x.name}${by}, ${count(points.length, "point")}. The table has its values.`,
    onload: () => URL.revokeObjectURL(image.src)
  })
  return [image, note !== "" && h("p.muted", note)]
}

/** What the query adds up, and the picture: values that stand on each other, and whether they are amounts of several currencies. */
const addedBy = ({ columns, parts, rows }, { kind, x, y }) => {
  const at = (name) => columns.findIndex((column) => column.name === name)
  const different = (some, names) => new Set(some.map((row) => JSON.stringify(names.map((name) => row[at(name)])))).size
  const isStacked = (kind === "bar" || kind === "area") && different(rows, [x]) < rows.length
  // Numbers of rows are whole.
  const isAmount = y.some((name) => /^(DECIMAL|DOUBLE)/.test(columns[at(name)].type))
  const stated = rows.filter((row) => (row[at("currency")] ?? null) !== null)
  const isMixed = isStacked && isAmount && different(stated, [x, "currency"]) > different(stated, [x])
  const made = y.flatMap((name) => parts.made[name.toLowerCase()] ?? Object.values(parts.made))
  return { named: parts.named, sums: made.flatMap((one) => [...one.sums, ...(isStacked ? one.numbers : [])]), isMixed }
}

/** Points as [x, y] or, with several series, [x, y, series]. */
const pointsOf = ({ columns, rows }, { x: xName, y, by }) => {
  const placeOf = (name) => columns.findIndex((column) => column.name === name)
  const [xAt, byAt] = [placeOf(xName), by === undefined ? -1 : placeOf(by)]
  const x = columns[xAt]
  const isOrdered = isTime(x.type) || isNumber(x.type)
  const text = (value) => (value ?? "NULL").slice(0, 200)
  const valuesOf = (name) =>
    rows.map((row) => row[placeOf(name)]).filter((value) => Number.isFinite(Number(value ?? NaN)))
  const highest = y.flatMap(valuesOf).reduce((most, value) => Math.max(most, Math.abs(Number(value))), 0)
  const inUnits = y.map((name) => unitFor(name, highest))
  const isOneUnit = inUnits.every((one) => one?.unit === inUnits[0]?.unit && one?.factor === inUnits[0]?.factor)
  const nameOf = (name, at) => (isOneUnit && inUnits[at]?.words) || wordsOf(name)
  const all = y.flatMap((name, at) => {
    const yAt = placeOf(name)
    const factor = (isOneUnit && inUnits[at]?.factor) || 1
    return rows
      .filter((row) => row[yAt] !== null && Number.isFinite(Number(row[yAt])) && (row[xAt] !== null || !isOrdered))
      .map((row) => {
        const series = by === undefined ? (y.length > 1 ? [nameOf(name, at)] : []) : [text(row[byAt])]
        return [isTime(x.type) ? iso(row[xAt]) : text(row[xAt]), Number(row[yAt]) * factor, ...series]
      })
  })
  const series = [...new Set(all.map(([, , one]) => one))]
  const shown = new Set(series.slice(0, seriesMax))
  return {
    x,
    y,
    title: `${y.map(nameOf).join(", ")}${isOneUnit && inUnits[0] ? ` in ${inUnits[0].unit}` : ""}`,
    points: all.filter(([, , one]) => shown.has(one)),
    note: series.length > seriesMax ? `The first ${seriesMax} of ${series.length} series.` : ""
  }
}

/** `2026-01-31 10:00:00+00` as ISO 8601, in UTC. */
const iso = (text) => {
  const time = text.replace(" ", "T").replace(/\+00$/, "Z")
  return /T.*Z$/.test(time) || !time.includes("T") ? time : `${time}Z`
}
