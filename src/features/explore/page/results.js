/** The result of a query: its rows, a chart of them, and files. */
import { chartFor, chartView } from "./chart.js"
import { attempt, button, count, h } from "./dom.js"
import { grid, rowsInPlace } from "./grid.js"
import { downloadFile } from "./service.js"

/** `chart`: shown instead of the rows; `onChart`: called with the chart that is shown, or with nothing. */
export const results = (result, sql, chart, onChart) => {
  const { columns, rows, isCut, cutCells, elapsedMs } = result
  const view = h("div")
  const problem = h("div")
  let kept = chart
  const showTable = () => {
    view.replaceChildren(
      rows.length === 0
        ? h("p.empty", "The result has no rows.")
        : grid({ columns, rows: rowsInPlace(result), label: "Result" })
    )
    onChart(undefined)
  }
  const showChart = () => {
    const keep = (next) => onChart((kept = next))
    keep(chartFor(result, kept))
    view.replaceChildren(chartView(result, kept, keep))
  }
  const tabFor = (text, show, isPressed) =>
    button(
      text,
      ({ currentTarget }) => {
        for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab === currentTarget))
        show()
      },
      { "aria-pressed": String(isPressed) }
    )
  const tabs = [tabFor("Table", showTable, !chart), tabFor("Chart", showChart, Boolean(chart))]
  if (chart) showChart()
  else showTable()
  const shown = isCut ? `The first ${count(rows.length, "row")}; there are more` : count(rows.length, "row")
  return h(
    "section.results",
    { "aria-label": "Result" },
    h(
      "div.actions",
      h("span.group", { role: "group", "aria-label": "View" }, tabs),
      h(
        "span",
        { role: "status" },
        `${shown}, ${elapsedMs} ms${cutCells > 0 ? `; ${count(cutCells, "long value")} cut` : ""}`
      ),
      h(
        "span.group.files",
        { role: "group", "aria-label": "Download all rows" },
        h("span", "Download"),
        downloads(sql, problem)
      )
    ),
    problem,
    view
  )
}

/** Buttons for the files of all rows; `problem` shows why one could not be made. */
const downloads = (sql, problem) =>
  [
    ["csv", "CSV"],
    ["parquet", "Parquet"],
    ["xlsx", "Excel"]
  ].map(([format, text]) => {
    const download = () => downloadFile("/api/download", { sql, format }, `result.${format}`)
    const click = ({ currentTarget }) => attempt(currentTarget, problem, download)
    return button(text, click, { "aria-label": `Download as ${text}` })
  })
