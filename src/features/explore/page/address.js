/** What the page shows, as the fragment of its address: a browser sends it to nobody. */

/**
 * `table`: its schema and name; `view`: filters, sort, page, and whether deleted rows are shown.
 * @param {{ schema: string, name: string }} table
 * @param {{ filters?: ReadonlyArray<any>, sort?: any, page?: number, showsDeleted?: boolean }} view
 */
export const tableAddress = ({ schema, name }, { filters = [], sort, page = 0, showsDeleted = false } = {}) =>
  addressOf(
    ["table", schema, name],
    [
      ...filters.map(({ column, operator, value }) => ["where", JSON.stringify([column, operator, value])]),
      ...(sort ? [["sort", `${sort.descending ? "-" : ""}${sort.column}`]] : []),
      ...(page > 0 ? [["page", String(page + 1)]] : []),
      ...(showsDeleted ? [["deleted", "shown"]] : [])
    ]
  )

/** `values`: of the columns of the table's key. */
export const rowAddress = ({ schema, name }, values) => addressOf(["row", schema, name, ...values], [])

export const sqlAddress = (sql, chart) =>
  addressOf(["sql"], [...(sql === "" ? [] : [["query", sql]]), ...(chart ? [["chart", JSON.stringify(chart)]] : [])])

/** `#/table/main/contacts?sort=name` as its parts and parameters. An address that cannot be read is that of the start. */
export const partsOf = (hash) => {
  const [path, ...query] = hash.replace(/^#\/?/, "").split("?")
  try {
    return { parts: path.split("/").map(decodeURIComponent), parameters: new URLSearchParams(query.join("?")) }
  } catch {
    return { parts: [""], parameters: new URLSearchParams() }
  }
}

/** The view of a table, without what the table does not have. `operators`: those that are known. */
export const viewOf = (parameters, { columns }, operators) => {
  const isColumn = (name) => columns.some((column) => column.name === name)
  const sort = parameters.get("sort") ?? ""
  const column = sort.replace(/^-/, "")
  return {
    filters: parameters
      .getAll("where")
      .map(parsed)
      .filter((where) => Array.isArray(where) && isColumn(where[0]) && Object.hasOwn(operators, where[1]))
      .map(([name, operator, value]) => ({ column: name, operator, value: String(value ?? "") })),
    sort: isColumn(column) ? { column, descending: sort.startsWith("-") } : undefined,
    page: Math.max(0, Math.trunc(Number(parameters.get("page")) || 1) - 1),
    showsDeleted: parameters.get("deleted") === "shown"
  }
}

/** `undefined` for a text that is no JSON. */
export const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Replaces the address without a step in the history of the browser. */
export const replaceAddress = (address) => history.replaceState(null, "", address)

const addressOf = (parts, parameters) => {
  const query = new URLSearchParams(parameters).toString()
  return `#/${parts.map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`
}
