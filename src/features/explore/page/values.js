/** How a value is shown: numbers with separators, names of locations, links to the rows that ids refer to. */
import { h } from "./dom.js"
import { targetOf } from "./data.js"

export const isNumber = (type) => /^(DECIMAL|DOUBLE|FLOAT|U?(TINY|SMALL|BIG|HUGE)?INT|INTEGER|UINTEGER)/.test(type)
export const isTime = (type) => /^(DATE|TIMESTAMP)/.test(type)

/** Numbers that are names: 2,026 is no year. */
const isName = (column) => /(^|_)(id|year|version|code|zip|port)$/i.test(column)

/** 1234567.8900000 as 1,234,567.89: every digit as it is, so that no value is rounded. */
export const numberText = (text) => {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return text
  const digits = fraction.replace(/0+$/, "")
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${digits === "" ? "" : `.${digits}`}`
}

export const percent = (share) => (share > 0 && share < 0.001 ? "< 0.1 %" : `${numberText((share * 100).toFixed(1))} %`)

/** `pipeline_stage_name` as "Pipeline stage", `n` as "Number". */
export const wordsOf = (name) => {
  const words =
    name === "n"
      ? "number"
      : name
          .replace(/_(name|id)$/, "")
          .replaceAll("_", " ")
          .trim()
  return words === "" ? name : `${words[0].toUpperCase()}${words.slice(1)}`
}

/** @type {ReadonlyArray<[string, number]>} */
const units = [
  ["days", 86_400],
  ["hours", 3600],
  ["minutes", 60],
  ["seconds", 1]
]

/**
 * The unit in which people say lengths of time as long as `highest`: 150,000 minutes are 104 days. `name`: of the column, whose
 * end says what its numbers are. Nothing if it is no length of time, or is said in its unit already.
 */
export const unitFor = (name, highest) => {
  const [own, seconds] = units.find(([unit]) => name === unit || name.endsWith(`_${unit}`)) ?? ["", 0]
  const [unit, size] = units.find(([, size]) => (highest * seconds) / size >= 2) ?? ["", 0]
  return size > seconds
    ? { unit, factor: seconds / size, words: wordsOf(name.slice(0, -own.length - 1) || "time") }
    : undefined
}

export const textOf = (value, { name, type }) => (isNumber(type) && !isName(name) ? numberText(value) : value)

/** `row`: the value of another column of the same row; `data`: without it, nothing is a link. */
export const valueNode = (value, column, row, data) => {
  if (value === null || value === undefined) return h("span.null", "NULL")
  if (column.name === "explain_value") return h("pre", value)
  const text = timeOf(value, column) ?? textOf(value, column)
  if (!data) return text
  if (column.name === "path" && storedFile.test(value)) return h("a", { href: `/${value}`, download: "" }, text)
  const name = isLocation(column) ? data.locations[value] : undefined
  const href = targetOf(data, column, { value, row })
  const shown = name ?? text
  if (href) return h("a", { href, title: name ? value : (column.refersTo.table ?? "") }, shown)
  return name ? h("span", { title: value }, name) : shown
}

/** A length of time with what people call it beside. */
const timeOf = (value, column) => {
  const { factor, unit } = (isNumber(column.type) && unitFor(column.name, Math.abs(Number(value)))) || {}
  return factor === undefined
    ? undefined
    : h("span", textOf(value, column), " ", h("span.id", `${numberText((Number(value) * factor).toFixed(1))} ${unit}`))
}

export const isLocation = ({ name, refersTo }) => name === "location_id" || refersTo?.table === "locations"

/** A file of the output folder. */
const storedFile = /^files\/[\w-]+\/[\w-]+(\.[0-9a-z]+)?$/

/** JSON with lines of its own, and a picture below its path. */
export const longNode = (value, column, row, data) => {
  if (column.name === "path" && /\.(png|jpg|gif|webp)$/.test(value ?? "") && storedFile.test(value))
    return h("figure", valueNode(value, column, row, data), h("img", { src: `/${value}`, alt: "", loading: "lazy" }))
  if (value !== null && /^\s*[[{]/.test(value))
    try {
      return h("pre", JSON.stringify(JSON.parse(value), null, 2))
    } catch {
      // Cut, or a text that only begins like JSON.
    }
  return valueNode(value, column, row, data)
}
