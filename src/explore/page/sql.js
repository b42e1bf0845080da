/** The SQL of the table view: what it shows can always be opened as a query. */
export const quoted = (name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`)
const literal = (text) => `'${text.replaceAll("'", "''")}'`

export const qualified = ({ schema, name }) => (schema === "main" ? quoted(name) : `${quoted(schema)}.${quoted(name)}`)

/** By name, what a filter means; `value`: whether it compares with one. */
export const operators = {
  contains: {
    text: "contains",
    value: true,
    sql: (column, value) => `contains(lower(${column}::VARCHAR), lower(${literal(value)}))`
  },
  equals: { text: "equals", value: true, sql: (column, value) => `${column} = ${literal(value)}` },
  differs: { text: "is not", value: true, sql: (column, value) => `${column} IS DISTINCT FROM ${literal(value)}` },
  atLeast: { text: "is at least", value: true, sql: (column, value) => `${column} >= ${literal(value)}` },
  atMost: { text: "is at most", value: true, sql: (column, value) => `${column} <= ${literal(value)}` },
  empty: { text: "is empty", value: false, sql: (column) => `(${column} IS NULL OR ${column}::VARCHAR = '')` },
  filled: {
    text: "is not empty",
    value: false,
    sql: (column) => `(${column} IS NOT NULL AND ${column}::VARCHAR <> '')`
  }
}

const whereOf = ({ filters, showsDeleted }, { columns }) => {
  const conditions = filters.map(({ column, operator, value }) => operators[operator].sql(quoted(column), value))
  if (!showsDeleted && hasDeleted(columns)) conditions.push("_deleted_at IS NULL")
  return conditions.length === 0 ? "" : `\nWHERE ${conditions.join("\n  AND ")}`
}

export const hasDeleted = (columns) => columns.some(({ name }) => name === "_deleted_at")

export const countOf = (table, view) => `SELECT count(*) AS n\nFROM ${qualified(table)}${whereOf(view, table)}`

export const rowsOf = (table, view) =>
  `SELECT *\nFROM ${qualified(table)}${whereOf(view, table)}${
    view.sort ? `\nORDER BY ${quoted(view.sort.column)}${view.sort.descending ? " DESC NULLS LAST" : ""}` : ""
  }`

export const pageOf = (table, view, rowsPerPage) =>
  `${rowsOf(table, view)}\nLIMIT ${rowsPerPage} OFFSET ${view.page * rowsPerPage}`
