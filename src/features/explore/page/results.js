/** The result of a query: its rows, a chart of two columns, and files. */
import { count, errorBox, h, labelled, selectOf } from "./dom.js"
import { grid, numeric } from "./grid.js"
import { downloadFile, request } from "./service.js"

export const results = ({ columns, rows, isCut, cutCells, elapsedMs }, sql) => {
  const view = h("div", {})
  const problem = h("div", {})
  const showTable = () =>
    view.replaceChildren(
      rows.length === 0
        ? h("p", { className: "empty" }, "The result has no rows.")
        : grid({ columns, rows, label: "Result" })
    )
  const showChart = () => view.replaceChildren(chart(columns, rows))
  const tabs = [
    ["Table", showTable],
    ["Chart", showChart]
  ].map(([text, show], index) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(index === 0),
        onclick: ({ currentTarget }) => {
          for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab === currentTarget))
          show()
        }
      },
      text
    )
  )
  const files = [
    ["csv", "CSV"],
    ["parquet", "Parquet"],
    ["xlsx", "Excel"]
  ].map(([format, text]) =>
    h(
      "button",
      {
        type: "button",
        "aria-label": `Download as ${text}`,
        onclick: async ({ currentTarget: button }) => {
          button.disabled = true
          problem.replaceChildren()
          try {
            await downloadFile("/api/download", { sql, format }, `result.${format}`)
          } catch (error) {
            problem.replaceChildren(errorBox(error.message))
          }
          button.disabled = false
        }
      },
      text
    )
  )
  showTable()
  const shown = isCut ? `The first ${count(rows.length, "row")}; there are more` : count(rows.length, "row")
  return h(
    "section",
    { className: "results", "aria-label": "Result" },
    h(
      "div",
      { className: "actions" },
      h("span", { className: "group", role: "group", "aria-label": "View" }, tabs),
      h(
        "span",
        { role: "status" },
        `${shown}, ${elapsedMs} ms${cutCells > 0 ? `; ${count(cutCells, "long value")} cut` : ""}`
      ),
      h(
        "span",
        { className: "group files", role: "group", "aria-label": "Download all rows" },
        h("span", {}, "Download"),
        files
      )
    ),
    problem,
    view
  )
}

const isTime = (type) => /^(DATE|TIMESTAMP)/.test(type)

const chart = (columns, rows) => {
  const numbers = columns.flatMap(({ name, type }, index) => (numeric(type) ? [[String(index), name]] : []))
  if (numbers.length === 0 || rows.length === 0)
    return h("p", { className: "empty" }, "A chart needs rows with a column of numbers.")
  const x = columns.findIndex(({ type }) => !numeric(type))
  const chosen = {
    kind: isTime(columns[Math.max(x, 0)].type) ? "line" : "bar",
    x: String(Math.max(x, 0)),
    y: numbers.at(-1)[0]
  }
  const picture = h("div", { className: "picture" })
  const draw = async () => {
    const [from, of] = [columns[chosen.x], columns[chosen.y]]
    const points = rows
      .filter((row) => row[chosen.y] !== null && Number.isFinite(Number(row[chosen.y])))
      .filter((row) => row[chosen.x] !== null || !(isTime(from.type) || numeric(from.type)))
      .map((row) => [
        isTime(from.type) ? iso(row[chosen.x]) : (row[chosen.x] ?? "NULL").slice(0, 200),
        Number(row[chosen.y])
      ])
    try {
      const { svg } = await request("/api/chart", {
        kind: chosen.kind,
        x: from.name,
        y: of.name,
        xType: isTime(from.type) ? "temporal" : numeric(from.type) ? "quantitative" : "nominal",
        points,
        width: picture.clientWidth || 600,
        isDark: matchMedia("(prefers-color-scheme: dark)").matches
      })
      const image = h("img", {
        src: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })),
        alt: `${chosen.kind === "bar" ? "Bar" : "Line"} chart of ${of.name} by ${from.name}, ${count(points.length, "point")}. The table has its values.`,
        onload: () => URL.revokeObjectURL(image.src)
      })
      picture.replaceChildren(image)
    } catch (error) {
      picture.replaceChildren(errorBox(error.message))
    }
  }
  const choice = (label, options, key) =>
    labelled(
      label,
      selectOf(options, chosen[key], (value) => {
        chosen[key] = value
        draw()
      })
    )
  // Its width is known once it is on the page.
  queueMicrotask(draw)
  return h(
    "div",
    { className: "chart" },
    h(
      "div",
      { className: "actions" },
      choice(
        "Chart",
        [
          ["bar", "Bars"],
          ["line", "Line"]
        ],
        "kind"
      ),
      choice(
        "Horizontal",
        columns.map(({ name }, index) => [String(index), name]),
        "x"
      ),
      choice("Vertical", numbers, "y")
    ),
    picture
  )
}

/** `2026-01-31 10:00:00+00` as ISO 8601, in UTC. */
const iso = (text) => {
  const time = text.replace(" ", "T").replace(/\+00$/, "Z")
  return /T.*Z$/.test(time) || !time.includes("T") ? time : `${time}Z`
}
