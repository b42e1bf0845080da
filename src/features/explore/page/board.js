/** The saved charts, drawn from the release that is shown. */
import { sqlAddress } from "./address.js"
import { chartFor, pictureOf } from "./chart.js"
import { errorBox, fill, h } from "./dom.js"
import { questionsFor } from "./questions.js"
import { request } from "./service.js"

/** Queries that run at once: others may want to run too. */
const atOnce = 2

/** `data`: of the release, whose models the questions need. */
export const board = (data) => {
  const cards = h("ul.charts")
  const about = h("p.muted", "The saved queries that have a chart.")
  const element = h("section.board", h("header", h("h2", "Board"), about), cards)
  const show = async () => {
    const { queries } = await request("/api/queries")
    let charts = queries.filter(({ chart }) => chart)
    if (charts.length === 0) {
      charts = await questionsFor(data)
      about.replaceChildren(
        "No chart is saved yet. ",
        charts.length === 0
          ? ""
          : "Below are the questions that the models answer: open one, change it, and save it. Or ",
        h("a", { href: "#/sql" }, charts.length === 0 ? "Run a query" : "run a query"),
        ", choose Chart, and save it."
      )
    }
    const left = charts.map((query) => {
      const picture = h("div.picture", h("p.muted", "Reading…"))
      cards.append(h("li", h("h3", h("a", { href: sqlAddress(query.sql, query.chart) }, query.name)), picture))
      return { ...query, picture }
    })
    const work = async () => {
      for (let one = left.shift(); one && element.isConnected; one = left.shift()) await draw(one)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
  }
  queueMicrotask(() => show().catch((error) => element.append(errorBox(error.message))))
  return element
}

const draw = ({ sql, chart, picture }) =>
  fill(picture, async () => {
    const result = await request("/api/query", { sql })
    const shown = chartFor(result, chart)
    return shown ? pictureOf(picture, result, shown) : h("p.empty", "The query has no rows with numbers now.")
  })
