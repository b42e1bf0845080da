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

/**
 * The table whose columns decide which rows of a wide view are shown, and in which order. The view itself reads the custom
 * values of all rows, which may need more memory than there is; `undefined` if it has to.
 */
const baseOf = ({ schema, wide }, { filters, sort }) =>
  wide &&
  [...filters.map(({ column }) => column), ...(sort ? [sort.column] : [])].every((one) => wide.columns.includes(one))
    ? { schema, name: wide.table }
    : undefined

export const countOf = (table, view) =>
  `SELECT count(*) AS n\nFROM ${qualified(baseOf(table, view) ?? table)}${whereOf(view, table)}`

const orderOf = ({ sort }) =>
  sort ? `\nORDER BY ${quoted(sort.column)}${sort.descending ? " DESC NULLS LAST" : ""}` : ""

const rowsOf = (table, view) => `SELECT *\nFROM ${qualified(table)}${whereOf(view, table)}${orderOf(view)}`

export const pageOf = (table, view, rowsPerPage) => {
  const page = `\nLIMIT ${rowsPerPage} OFFSET ${view.page * rowsPerPage}`
  const base = baseOf(table, view)
  if (base === undefined) return `${rowsOf(table, view)}${page}`
  const ids = `SELECT id\nFROM ${qualified(base)}${whereOf(view, table)}${orderOf(view)}${page}`
  const shown = qualified({ ...table, name: `${table.name}_of` })
  return `SELECT *\nFROM ${shown}((SELECT list(id) FROM (${ids})))${whereOf(view, table)}${orderOf(view)}`
}
