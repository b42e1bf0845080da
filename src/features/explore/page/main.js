/** The page: the list of tables, and a table, one of its rows, the SQL editor or the board. */
import { parsed, partsOf, sqlAddress } from "./address.js"
import { browse } from "./browse.js"
import { catalogList } from "./catalog.js"
import { dataOf, noData } from "./data.js"
import { errorBox, h } from "./dom.js"
import { overview } from "./overview.js"
import { onRelease, request } from "./service.js"

const byId = (id) => document.getElementById(id)
let data = noData
let catalog
let sql
/** How often something was shown: another address may be chosen while a part of the page is read. */
let shown = 0

const showRelease = ({ id, writtenAt }) => {
  const time = writtenAt ? new Date(writtenAt).toISOString().slice(0, 16).replace("T", " ") : undefined
  byId("release").textContent = time ? `Published ${time} UTC` : `Release ${id}`
}

const notify = (text) => {
  byId("notice").textContent = text
  byId("notice").hidden = text === ""
}

const readCatalog = async () => {
  data = dataOf(await request("/api/catalog"))
  catalog = catalogList(data)
  byId("catalog").replaceChildren(...catalog.elements)
  sql?.setTables(data.tables)
}

/** The editor is larger than all other parts of the page, so it is read when it is needed. */
const withSql = async () => {
  const { sqlView } = await import("./sql-view.js")
  return (sql ??= sqlView(data.tables))
}

const openSql = (text) => {
  location.hash = sqlAddress(text)
}

const showSql = async (parameters, time) => {
  const view = await withSql()
  if (time !== shown) return
  byId("main").replaceChildren(view.element)
  view.show(parameters.get("query") ?? undefined, parsed(parameters.get("chart") ?? "null") ?? undefined)
  view.readSaved().catch((error) => notify(error.message))
  view.focus()
}

const showTable = (view, [schema, name, ...key], parameters) => {
  const table = data.find(schema, name)
  if (!table) return errorBox(`There is no table ${schema}.${name} in this release.`)
  if (view === "table") return browse(table, data, parameters, openSql)
  return import("./record.js").then(({ record }) => record(table, key, data))
}

const titles = { sql: "SQL, sluice explore", board: "Board, sluice explore" }

const show = async () => {
  const time = ++shown
  const {
    parts: [view, ...path],
    parameters
  } = partsOf(location.hash)
  const tab = view === "sql" || view === "board" ? view : "tables"
  for (const id of ["tables", "sql", "board"])
    if (id === tab) byId(`tab-${id}`).setAttribute("aria-current", "page")
    else byId(`tab-${id}`).removeAttribute("aria-current")
  catalog.setCurrent(tab === "tables" ? data.find(...path) : undefined)
  document.title = titles[view] ?? (path[1] ? `${path[1]}, sluice explore` : "sluice explore")
  // What was shown belongs to another address. A part of the page that is there already takes its place at once.
  byId("main").replaceChildren(h("p.muted", "Reading…"))
  if (view === "sql") return showSql(parameters, time)
  if (narrow.matches && path.length > 0) byId("side").open = false
  const element =
    view === "board"
      ? (await import("./board.js")).board(data)
      : view === "table" || view === "row"
        ? await showTable(view, path, parameters)
        : overview(data)
  if (time !== shown) return
  byId("main").replaceChildren(element)
  scrollTo(0, 0)
}

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
const follow = async () => {
  await show()
  // Who reads with a keyboard or a screen reader continues in what is new.
  if (!location.hash.startsWith("#/sql")) byId("main").focus({ preventScroll: true })
}
addEventListener("hashchange", () => follow().catch((error) => notify(error.message)))
byId("skip").addEventListener("click", (event) => {
  // The address says what is shown.
  event.preventDefault()
  byId("main").focus()
})
const watch = async () => {
  if (document.visibilityState === "visible") await request("/api/release").catch((error) => notify(error.message))
  setTimeout(watch, 5000)
}

try {
  await readCatalog()
  await show()
} catch (error) {
  byId("main").replaceChildren(errorBox(error.message))
}
setTimeout(watch, 5000)
