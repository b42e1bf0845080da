/** The page: the list of tables, and a table, one of its rows, the SQL editor or the board. */
import { parsed, partsOf, sqlAddress } from "./address.js"
import { browse } from "./browse.js"
import { catalogList } from "./catalog.js"
import { dataOf, noData } from "./data.js"
import { errorBox, h } from "./dom.js"
import { overview } from "./overview.js"
import { onRelease, request } from "./service.js"

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id)
let data = noData
let catalog
let sql
/** Done when the columns of all tables are known, too. */
let whole
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
  const { locations, tables } = await request("/api/tables")
  const named = dataOf({ locations, tables: tables.map((table) => ({ ...table, key: [], columns: [] })) })
  data = named
  catalog = catalogList(data)
  byId("catalog").replaceChildren(...catalog.elements)
  whole = request("/api/catalog").then((found) => {
    for (const table of found.tables) Object.assign(named.find(table.schema, table.name) ?? {}, table)
    if (data !== named) return
    catalog.update()
    sql?.setTables(data.tables)
    if (isOverview()) byId("main").replaceChildren(overview(data))
  })
  // What needs it says why it cannot be read.
  whole.catch(() => {})
}

const isOverview = () => {
  const [view] = partsOf(location.hash).parts
  return !["sql", "board", "table", "row"].includes(view) && !framed?.isConsole(view)
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

const name = document.title
/** More views around those of the tables, if the page says where they are. */
const { views } = document.body.dataset
const framed = views ? await import(views) : undefined

const show = async () => {
  const time = ++shown
  const {
    parts: [view, ...path],
    parameters
  } = partsOf(location.hash)
  const isTables = !framed?.isConsole(view)
  const tab = isTables ? (view === "sql" || view === "board" ? view : "tables") : framed.tabOf(view)
  for (const link of document.querySelectorAll(".tabs a")) link.removeAttribute("aria-current")
  const link = byId(`tab-${tab}`)
  link?.setAttribute("aria-current", "page")
  // Of many tabs, a narrow page shows some.
  link?.scrollIntoView({ block: "nearest", inline: "nearest" })
  document.body.classList.toggle("wide", !isTables)
  const title = isTables ? (path[1] ?? { sql: "SQL", board: "Board" }[view]) : framed.titleOf(view)
  document.title = title ? `${title}, ${name}` : name
  // What was shown belongs to another address. A part of the page that is there already takes its place at once.
  byId("main").replaceChildren(h("p.muted", "Reading…"))
  if (!isTables) return framed.elementOf(view, path, parameters).then((element) => place(element, time))
  if (catalog === undefined) await readCatalog()
  if (time !== shown) return undefined
  catalog.setCurrent(tab === "tables" ? data.find(...path) : undefined)
  if (!isOverview()) await whole
  if (time !== shown) return undefined
  if (view === "sql") return showSql(parameters, time)
  if (narrow.matches && path.length > 0) byId("side").open = false
  const element =
    view === "board"
      ? (await import("./board.js")).board(data)
      : view === "table" || view === "row"
        ? await showTable(view, path, parameters)
        : overview(data)
  return place(element, time)
}

const place = (element, time) => {
  if (time !== shown) return
  byId("main").replaceChildren(element)
  scrollTo(0, 0)
}

const narrow = matchMedia("(max-width: 50rem)")
narrow.addEventListener("change", () => (byId("side").open = !narrow.matches))
byId("side").open = !narrow.matches

const newData = "There is new data: the page shows the new release."
onRelease((release, before) => {
  showRelease(release)
  if (!before) return
  notify(newData)
  readCatalog()
    .then(() => (location.hash.startsWith("#/sql") ? undefined : show()))
    .catch((error) => notify(error.message))
})
const follow = async () => {
  if (byId("notice").textContent === newData) notify("")
  await show()
  // Who reads with a keyboard or a screen reader continues in what is new.
  if (!location.hash.startsWith("#/sql")) byId("main").focus({ preventScroll: true })
}
const fail = (error) => byId("main").replaceChildren(errorBox(error.message))
addEventListener("hashchange", () => follow().catch(fail))
byId("skip").addEventListener("click", (event) => {
  // The address says what is shown.
  event.preventDefault()
  byId("main").focus()
})
const watch = async () => {
  if (document.visibilityState === "visible" && catalog !== undefined && !document.body.classList.contains("wide"))
    await request("/api/release").catch((error) => notify(error.message))
  setTimeout(watch, 5000)
}

try {
  await framed?.startConsole(notify)
  await show()
} catch (error) {
  fail(error)
}
setTimeout(watch, 5000)
