/** The page: the list of tables, and either one table or the SQL editor. */
import { browse } from "./browse.js"
import { catalogList, grouped, addressOf } from "./catalog.js"
import { errorBox, h } from "./dom.js"
import { sqlEditor } from "./editor.js"
import { saveDialog, savedList } from "./queries.js"
import { results } from "./results.js"
import { onRelease, request } from "./service.js"

const byId = (id) => document.getElementById(id)
let tables = []
let sqlView

const showRelease = ({ id, writtenAt }) => {
  const time = writtenAt ? new Date(writtenAt).toISOString().slice(0, 16).replace("T", " ") : undefined
  byId("release").textContent = time ? `Published ${time} UTC` : `Release ${id}`
}

const notify = (text) => {
  byId("notice").textContent = text
  byId("notice").hidden = text === ""
}

const readCatalog = async () => {
  ;({ tables } = await request("/api/catalog"))
  sqlView?.setTables(tables)
}

const openSql = (text) => {
  makeSqlView()
  sqlView.setText(text)
  location.hash = "#/sql"
}

const makeSqlView = () => {
  if (sqlView) return
  const output = h("div", {})
  let running
  let name
  const stop = h("button", { type: "button", disabled: true, onclick: () => running?.abort() }, "Stop")
  const run = async () => {
    running?.abort()
    const { signal } = (running = new AbortController())
    const sql = editor.text()
    stop.disabled = false
    output.classList.add("busy")
    try {
      const result = await request("/api/query", { sql }, signal)
      output.replaceChildren(results(result, sql))
    } catch (error) {
      if (running.signal !== signal) return
      output.replaceChildren(errorBox(error.message))
      editor.select(error.message)
    }
    output.classList.remove("busy")
    stop.disabled = true
  }
  const saved = savedList((query) => {
    name = query.name
    editor.setText(query.sql)
    editor.focus()
  })
  const editor = sqlEditor("", tables, run)
  const save = async () => {
    const given = await saveDialog(editor.text(), name)
    if (given === undefined) return
    name = given
    await saved.read()
  }
  const element = h(
    "section",
    { className: "sql" },
    h("h2", { className: "hidden" }, "SQL"),
    h("div", { className: "editor" }, editor.element),
    h(
      "div",
      { className: "actions" },
      h("button", { type: "button", className: "primary", title: "Ctrl-Enter", onclick: run }, "Run"),
      stop,
      h("button", { type: "button", onclick: save }, "Save…"),
      saved.element
    ),
    output
  )
  sqlView = {
    element,
    setText: editor.setText,
    setTables: editor.setTables,
    focus: editor.focus,
    readSaved: saved.read
  }
}

const show = () => {
  const [, view, ...path] = location.hash.split("/").map(decodeURIComponent)
  const isSql = view === "sql"
  for (const [id, isCurrent] of [
    ["tab-tables", !isSql],
    ["tab-sql", isSql]
  ])
    if (isCurrent) byId(id).setAttribute("aria-current", "page")
    else byId(id).removeAttribute("aria-current")
  const table = view === "table" ? tables.find(({ schema, name }) => schema === path[0] && name === path[1]) : undefined
  byId("catalog").replaceChildren(...catalogList(tables, table))
  if (isSql) {
    makeSqlView()
    byId("main").replaceChildren(sqlView.element)
    sqlView.readSaved().catch((error) => notify(error.message))
    document.title = "SQL, sluice explore"
    return sqlView.focus()
  }
  if (!table) {
    byId("main").replaceChildren(
      view === "table" ? errorBox(`There is no table ${path.join(".")} in this release.`) : overview()
    )
    document.title = "sluice explore"
    return
  }
  if (narrow.matches) byId("side").open = false
  const element = browse(table, openSql)
  byId("main").replaceChildren(element)
  document.title = `${table.name}, sluice explore`
}

/** The largest tables, as a start. */
const overview = () =>
  h(
    "section",
    { className: "overview" },
    h("h2", {}, "Choose a table"),
    h("p", { className: "muted" }, "Everything here is read-only. Rows stay on this machine."),
    grouped(tables)
      .filter(({ isOpen }) => isOpen)
      .map(({ title, tables: held }) =>
        h(
          "div",
          {},
          h("h3", {}, title),
          h(
            "ul",
            { className: "cards" },
            held
              .toSorted((one, other) => (other.rows ?? 0) - (one.rows ?? 0))
              .slice(0, 6)
              .map((table) =>
                h(
                  "li",
                  {},
                  h("a", { href: addressOf(table) }, table.name),
                  h("p", { className: "muted" }, table.comment ?? "")
                )
              )
          )
        )
      )
  )

const narrow = matchMedia("(max-width: 50rem)")
narrow.addEventListener("change", () => (byId("side").open = !narrow.matches))
byId("side").open = !narrow.matches

onRelease((release, before) => {
  showRelease(release)
  if (!before) return
  notify("There is new data: the page shows the new release.")
  readCatalog()
    .then(() => (location.hash.startsWith("#/sql") ? undefined : show()))
    .catch((error) => notify(error.message))
})
addEventListener("hashchange", show)
const watch = async () => {
  if (document.visibilityState === "visible") await request("/api/release").catch((error) => notify(error.message))
  setTimeout(watch, 5000)
}

try {
  await readCatalog()
  show()
} catch (error) {
  byId("main").replaceChildren(errorBox(error.message))
}
setTimeout(watch, 5000)
