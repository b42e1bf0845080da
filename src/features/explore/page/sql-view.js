/** The SQL editor with the result of its query. The address has both the query and the chart. */
import { replaceAddress, sqlAddress } from "./address.js"
import { button, errorBox, h } from "./dom.js"
import { sqlEditor } from "./editor.js"
import { saveDialog, savedList } from "./queries.js"
import { results } from "./results.js"
import { request } from "./service.js"

export const sqlView = (tables) => {
  const output = h("div")
  let running
  let name
  let chart
  /** What the result belongs to. */
  let ran
  const stop = button("Stop", () => running?.abort(), { disabled: true })
  // A query may end when something else is shown already.
  const showAddress = () => element.isConnected && replaceAddress(sqlAddress(ran ?? "", chart))
  const showChart = (next) => {
    chart = next
    showAddress()
  }
  const run = async () => {
    running?.abort()
    const { signal } = (running = new AbortController())
    const sql = editor.text()
    // Back leads to the query before.
    const address = sqlAddress(sql, chart)
    if (ran !== undefined && sql !== ran && location.hash !== address) history.pushState(null, "", address)
    ran = sql
    stop.disabled = false
    output.classList.add("busy")
    try {
      const result = await request("/api/query", { sql }, signal)
      output.replaceChildren(results(result, sql, chart, showChart))
    } catch (error) {
      if (running.signal !== signal) return
      showAddress()
      output.replaceChildren(errorBox(error.message))
      editor.select(error.message)
    }
    output.classList.remove("busy")
    stop.disabled = true
  }
  const open = (sql, nextChart) => {
    editor.setText(sql)
    chart = nextChart
    if (sql.trim() !== "") run()
  }
  const saved = savedList((query) => {
    name = query.name
    open(query.sql, query.chart)
    editor.focus()
  })
  const editor = sqlEditor("", tables, run)
  const save = async () => {
    const sql = editor.text()
    const given = await saveDialog({ sql, name, chart: sql === ran ? chart : undefined })
    if (given === undefined) return
    name = given
    await saved.read()
  }
  const element = h(
    "section.sql",
    h("h2.hidden", "SQL"),
    h("div.editor", editor.element),
    h(
      "div.actions",
      button("Run", run, { className: "primary", title: "Ctrl-Enter" }),
      stop,
      button("Save…", save),
      saved.element
    ),
    output
  )
  return {
    element,
    setTables: editor.setTables,
    focus: editor.focus,
    readSaved: saved.read,
    /** Shows what the address says; the address without a query keeps what is shown. */
    show: (sql, nextChart) => {
      if (sql === undefined) return showAddress()
      if (sql !== ran || JSON.stringify(nextChart) !== JSON.stringify(chart)) open(sql, nextChart)
    }
  }
}
