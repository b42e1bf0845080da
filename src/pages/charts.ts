/**
 * Charts as SVG. An SVG has shapes only, in a box that stretches to the width of the page; the words around it are HTML,
 * which keep their size on a telephone, in print and in dark mode.
 */
import { type Html, html } from "./html.ts"

export interface Axis {
  /** Texts below the chart, at a share of its width from 0 to 1. */
  readonly ticks: ReadonlyArray<{ readonly at: number; readonly text: string }>
}

interface Described {
  /** What the chart shows: its accessible name. */
  readonly title: string
  /** What a reader would see in it, in a sentence. */
  readonly description: string
}

interface Framed extends Described, Axis {
  readonly format: (value: number) => string
  readonly unit: string
  /** The last value is that of a time which is not over. */
  readonly isPartial?: boolean
}

/** What stands at a share of the width, as wide as a share of it: shown to who points at it, or moves to it with the keyboard. */
interface Hit {
  readonly at: number
  readonly wide: number
  readonly text: string
}

export interface Bar {
  readonly text: string
  readonly value: number
  /** A value to compare with, shown as a line across the bar. */
  readonly mark?: number | undefined
  readonly tone?: "warning" | "problem" | undefined
}

const [width, height] = [1000, 100]

interface Columns extends Framed {
  /** Drawn as a line across the chart if it is within reach. */
  readonly limit?: number | undefined
  /** Columns that have room; fewer stand at the right. */
  readonly slots?: number
}

/** A column for each value. */
export const columns = (bars: ReadonlyArray<Bar>, frame: Columns): Html => {
  const highest = Math.max(0, ...bars.flatMap(({ value, mark = 0 }) => [value, mark]))
  const limit = frame.limit !== undefined && highest >= frame.limit / 10 ? frame.limit : undefined
  const scale = scaleOf(Math.max(highest, limit ?? 0))
  const slots = Math.max(bars.length, frame.slots ?? 1)
  const step = width / slots
  const y = (value: number) => height - (height * value) / scale.max
  const drawn = bars.map(({ value, mark, tone }, index) => {
    const [left, wide] = [(slots - bars.length + index) * step + step * 0.12, step * 0.76]
    const line =
      mark === undefined
        ? undefined
        : html`<path class="mark" d="M${short(left - step * 0.08)} ${short(y(mark))}h${short(wide + step * 0.16)}" />`
    // The bar of a value that is not zero can be seen.
    const tall = Math.max(1, height - y(value))
    const bar =
      value > 0
        ? html`<rect
            class="${tone ?? "bar"}"
            x="${short(left)}"
            y="${short(height - tall)}"
            width="${short(wide)}"
            height="${short(tall)}"
          />`
        : undefined
    return html`${bar}${line}`
  })
  const hits = bars.map(({ text }, index) => ({
    at: (slots - bars.length + index + 0.5) / slots,
    wide: 1 / slots,
    text
  }))
  const line = limit === undefined ? undefined : html`<path class="limit" d="M0 ${short(y(limit))}h${width}" />`
  return framed(frame, scale, html`${drawn}${line}`, hits)
}

export interface Series {
  readonly name: string
  /** Points from left to right; `x` is a share of the width from 0 to 1. The line has a gap where there is no value. */
  readonly points: ReadonlyArray<{ readonly x: number; readonly y: number | undefined }>
  readonly kind: "area" | "line" | "second" | "third" | "limit"
}

/** Values at equal steps, from left to right. */
export const spread = (values: ReadonlyArray<number | undefined>): Series["points"] =>
  values.map((y, index) => ({ x: index / (values.length - 1), y }))

/** `texts`: of values at equal steps, what each says. */
export const lines = (
  series: ReadonlyArray<Series>,
  frame: Framed & { readonly top?: number | undefined; readonly texts?: ReadonlyArray<string> }
): Html => {
  const scale = scaleOf(frame.top ?? Math.max(0, ...series.flatMap(({ points }) => points.map(({ y = 0 }) => y))))
  const paths = series.map(({ name, points, kind }) => {
    const d = points
      .map(({ x, y }, index) => {
        if (y === undefined) return ""
        const place = `${short(x * width)} ${short(height - (height * Math.min(y, scale.max)) / scale.max)}`
        return `${points[index - 1]?.y === undefined ? "M" : "L"}${place}`
      })
      .join("")
    // A value between two gaps is a line without length, whose ends are round.
    const dots = d.match(/M[^ML]+(?=M|$)/g) ?? []
    const [first] = points
    const area =
      kind === "area" && first ? html`<path class="area" d="${d}V${height}H${short(first.x * width)}z" />` : undefined
    return html`<g
      ><title>${name}</title>${area}<path
        class="${kind === "area" ? "line" : kind}"
        d="${d}"
      />${dots.length === 0 ? undefined : html`<path class="${kind} dot" d="${dots.map((dot) => `${dot}h0`).join("")}" />`}</g
    >`
  })
  const { texts = [] } = frame
  const wide = 1 / Math.max(texts.length - 1, 1)
  const hits = texts.map((text, index) => ({ at: index * wide, wide, text }))
  return framed(frame, scale, html`${paths}`, hits)
}

/**
 * A row of a heat map: one mark for each day, the last one at the right, whose height repeats what its colour says.
 * `slots`: days that have room.
 */
export const strip = (days: ReadonlyArray<Mark>, slots: number, { title, description }: Described): Html => {
  const left = slots - days.length
  const path = (mark: Mark) => {
    const tall = heights[mark]
    const d = days
      .flatMap((one, index) => (one === mark ? [`M${left + index} ${10 - tall}h.8v${tall}h-.8z`] : []))
      .join("")
    return d === "" ? undefined : html`<path class="${mark}" d="${d}" />`
  }
  return html`<svg class="strip" role="img" viewBox="0 0 ${slots} 10" preserveAspectRatio="none">
    <title>${title}</title>
    <desc>${description}</desc>
    ${marks.map(path)}
  </svg>`
}

const heights = { none: 1, complete: 10, warning: 7, problem: 4 } as const
const marks = ["none", "complete", "warning", "problem"] as const
export type Mark = (typeof marks)[number]

/** A line without axes, for a cell of a table. */
export const sparkline = (values: ReadonlyArray<number>, { title, description }: Described): Html => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const y = (value: number) => (high === low ? 5 : 9 - (8 * (value - low)) / (high - low))
  const d = values
    .map((value, index) => `${short((100 * index) / Math.max(values.length - 1, 1))} ${short(y(value))}`)
    .join("L")
  return html`<svg class="spark" role="img" viewBox="0 0 100 10" preserveAspectRatio="none">
    <title>${title}</title>
    <desc>${description}</desc>
    <path class="line" d="M${d}" />
  </svg>`
}

interface Scale {
  readonly max: number
  readonly step: number
}

/** Grid lines at round numbers, at most five. */
export const scaleOf = (highest: number): Scale => {
  if (highest <= 0) return { max: 1, step: 1 }
  const power = 10 ** Math.floor(Math.log10(highest / 4))
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power)
  // Between 0 and a few of something there is nothing to count.
  const step = steps.find((one) => one * 4 >= highest && (highest < 1 || Number.isInteger(one))) ?? 10 * power
  return { max: Math.ceil(highest / step) * step, step }
}

const framed = (
  { title, description, ticks, format, unit, isPartial }: Framed,
  { max, step }: Scale,
  content: Html,
  hits: ReadonlyArray<Hit>
): Html => {
  const levels = Array.from({ length: Math.round(max / step) + 1 }, (_, index) => index * step)
  const grid = levels.slice(1).map((level) => `M0 ${short(height - (height * level) / max)}h${width}`)
  const last = hits.at(-1)
  const begin = isPartial && last ? last.at - last.wide / 2 : 1
  return html`<div class="chart">
    <div class="unit">${unit}${isPartial ? "; the last month, shaded, is not over" : ""}</div>
    <div class="levels" aria-hidden="true">
      ${levels.map((level) => html`<span style="bottom:${short((100 * level) / max)}%">${format(level)}</span>`)}
    </div>
    <svg role="img" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
      <title>${title}</title>
      <desc>${description}</desc>
      ${begin < 1 ? html`<rect class="partial" x="${short(begin * width)}" width="${short((1 - begin) * width)}" height="${height}" />` : undefined}
      <path class="grid" d="${grid.join("")}" />
      ${content}
      <path class="base" d="M0 ${height}h${width}" />
    </svg>
    ${hits.length === 0 ? undefined : hitsOf(title, hits)}
    <div class="ticks" aria-hidden="true">
      ${ticks.map(({ at, text }) => html`<span class="${at < 0.08 ? "first" : at > 0.92 ? "last" : "middle"}" style="left:${short(at * 100)}%">${text}</span>`)}
    </div>
  </div>`
}

/** One of them can be reached with the tab key; the script of the page moves to the others with the arrows. */
const hitsOf = (title: string, hits: ReadonlyArray<Hit>): Html =>
  html`<div class="hits" role="group" aria-label="${title}: values">
    ${hits.map(({ at, text, wide }, index) => {
      const [begin, end] = [Math.max(at - wide / 2, 0), Math.min(at + wide / 2, 1)]
      const side = at > 0.7 ? "late" : at < 0.3 ? "early" : undefined
      return html`<span
        role="img"
        aria-label="${text}"
        class="${side}"
        tabindex="${index === hits.length - 1 ? 0 : -1}"
        style="left:${short(begin * 100)}%;width:${short((end - begin) * 100)}%"
      ></span>`
    })}
  </div>`

/**
 * At most five texts of a row of equal steps, the first and the last among them. `slots`: steps that have room; fewer stand
 * at the right.
 */
export const ticksOf = (texts: ReadonlyArray<string>, places: "columns" | "points", slots = 1): Axis["ticks"] => {
  const last = texts.length - 1
  const room = Math.max(texts.length, slots)
  // Texts that fit between the first column and the last.
  const shown = Math.min(texts.length, Math.max(1, Math.round((5 * texts.length) / room)))
  // The texts of the first and last column begin and end with the chart: centred, they would stand out of it.
  const at = (index: number) => {
    const place = room - texts.length + index
    if (room === 1) return 0.5
    return places === "points" || place === 0 || place === room - 1 ? place / (room - 1) : (place + 0.5) / room
  }
  const indexes = Array.from({ length: shown }, (_, one) =>
    shown === 1 ? last : Math.round((one * last) / (shown - 1))
  )
  return texts.length === 0 ? [] : indexes.map((index) => ({ at: at(index), text: texts[index] ?? "" }))
}

/** Short numbers keep the file small. */
export const short = (value: number): string => String(Math.round(value * 100) / 100)

/** The names of lines, with their strokes. */
export const legend = (series: ReadonlyArray<Pick<Series, "name" | "kind">>): Html =>
  html`<ul class="series" aria-hidden="true">
    ${series.map(
      ({ name, kind }) =>
        html`<li>
          <svg viewBox="0 0 20 4" preserveAspectRatio="none" role="presentation">
            <path class="${kind}" d="M0 2h20" /></svg
          >${name}
        </li>`
    )}
  </ul>`
