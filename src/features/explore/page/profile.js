/** What the values of one column are: how many, which, and how they spread. One query reads it. */
import { button, errorBox, h, number } from "./dom.js"
import { showDialog } from "./grid.js"
import { request } from "./service.js"
import { profileOf, sampleRows } from "./profile-sql.js"
import { parsed } from "./address.js"
import { isNumber, numberText, percent, textOf } from "./values.js"

/** `view`: the filters that hold; `onFilter`: called with a value to show its rows. */
export const showProfile = (table, column, view, { openSql, onFilter }) => {
  const box = h("section", h("p.muted", "Reading…"))
  const stopped = new AbortController()
  const dialog = showDialog(`Profile of ${column.name}`, box)
  dialog.addEventListener("close", () => stopped.abort())
  const sql = profileOf(table, column, view)
  const leave = (then) => () => {
    dialog.close()
    then()
  }
  request("/api/query", { sql }, stopped.signal).then(
    (answer) =>
      box.replaceChildren(
        ...content(factsOf(answer), column, (value) => leave(() => onFilter(value))),
        h(
          "div.actions",
          button(
            "Open as SQL",
            leave(() => openSql(sql))
          )
        )
      ),
    (error) => stopped.signal.aborted || box.replaceChildren(errorBox(error.message))
  )
}

const factsOf = ({ columns, rows: [row] }) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))

const content = (facts, column, filterBy) => {
  const [rows, filled, distinct] = [facts.rows, facts.filled, facts.distinct_values].map(Number)
  const missing = rows - filled
  const share = rows === 0 ? "" : ` (${percent(missing / rows)})`
  const shown = (value) => (value === null ? "NULL" : textOf(value, column))
  const ends = filled > 0 && { Lowest: shown(facts.lowest), Highest: shown(facts.highest) }
  const tiles = { Rows: number(rows), NULL: `${number(missing)}${share}`, Distinct: number(distinct), ...ends }
  const top = parsed(facts.top_values) ?? []
  const bins = parsed(facts.bins) ?? []
  return [
    column.comment ? h("p.muted", column.comment) : "",
    rows >= sampleRows ? h("p.muted", `From a sample of ${number(sampleRows)} rows.`) : "",
    h(
      "dl.tiles",
      Object.entries(tiles).map(([name, text]) => h("div", h("dt", name), h("dd", { title: text }, text)))
    ),
    bins.length > 1 ? histogram(bins, column) : "",
    top.length === 0
      ? ""
      : distinct === filled && filled > top.length
        ? h("p", "Every value occurs once.")
        : topValues(top, filled, shown, filterBy)
  ]
}

const topValues = (top, filled, shown, filterBy) => {
  const most = Math.max(...top.map(({ n }) => Number(n)))
  return h(
    "table.top",
    h("caption", "Most frequent values"),
    h(
      "thead",
      h(
        "tr",
        ["Value", "Rows", "Share"].map((name) =>
          h("th", { scope: "col", className: name === "Value" ? "" : "number" }, name)
        )
      )
    ),
    h(
      "tbody",
      top.map(({ value, n }) => {
        const row = h(
          "tr",
          h("td", button(shown(value) || "(empty)", filterBy(value), { className: "link", title: "Show its rows" })),
          h("td.number", number(Number(n))),
          h("td.number", percent(Number(n) / filled))
        )
        row.style.setProperty("--share", `${(Number(n) / most) * 100}%`)
        return row
      })
    )
  )
}

/** Bars of equal widths between the lowest and the highest value. */
const histogram = (bins, column) => {
  const most = Math.max(...bins.map(({ n }) => Number(n)))
  const label = ({ low, high, n }) => `${text(low, column)} to ${text(high, column)}: ${number(Number(n))}`
  const bars = bins.map((bin) => {
    const bar = h("span", { title: label(bin) })
    bar.style.setProperty("height", `${Math.max((Number(bin.n) / most) * 100, bin.n > 0 ? 2 : 0)}%`)
    return bar
  })
  return h(
    "figure",
    h("figcaption", "How the values spread"),
    h("div.histogram", { role: "img", "aria-label": bins.map(label).join("; ") }, bars),
    h("p.ends", h("span", text(bins[0].low, column)), h("span", text(bins.at(-1).high, column)))
  )
}

/** The bounds are computed: more digits than these say nothing. */
const text = (bound, { type }) =>
  isNumber(type)
    ? numberText(String(Number(Number(bound).toPrecision(6))))
    : String(bound)
        .slice(0, 16)
        .replace(/ 00:00$/, "")
