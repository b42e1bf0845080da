/** The SQL of the table view: what it shows can always be opened as a query. */
export const quoted = (name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`)
export const literal = (text) => `'${text.replaceAll("'", "''")}'`

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

/** @param {{ filters: ReadonlyArray<any>, showsDeleted?: boolean }} view */
export const whereOf = ({ filters, showsDeleted }, { columns }) => {
  const conditions = filters.flatMap(({ column, operator, value }) => {
    const { type } = columns.find(({ name }) => name === column)
    // What is not written yet is no number and no time.
    if (value === "" && type !== "VARCHAR" && operators[operator].value) return []
    const isOfDay = type.startsWith("TIMESTAMP") && operator !== "contains" && /^\d{4}-\d\d-\d\d$/.test(value)
    return [operators[operator].sql(isOfDay ? `${quoted(column)}::DATE` : quoted(column), value)]
  })
  if (!showsDeleted && hasDeleted(columns)) conditions.push("_deleted_at IS NULL")
  return conditions.length === 0 ? "" : `\nWHERE ${conditions.join("\n  AND ")}`
}

export const hasDeleted = (columns) => columns.some(({ name }) => name === "_deleted_at")

/**
 * The table whose columns decide which rows of a wide view are shown, and in which order. The view itself reads the custom
 * values of all rows, which may need more memory than there is; `undefined` if it has to.
 */
export const baseOf = ({ schema, wide }, { filters, sort }) =>
  wide &&
  [...filters.map(({ column }) => column), ...(sort ? [sort.column] : [])].every((one) => wide.columns.includes(one))
    ? { schema, name: wide.table }
    : undefined

export const countOf = (table, view) =>
  `SELECT count(*) AS n\nFROM ${qualified(baseOf(table, view) ?? table)}${whereOf(view, table)}`

/** Distinct values of more rows are estimated: to count them takes the memory of all of them. */
export const exactRows = 20_000

/** The rows, and for each column its values and its distinct ones; nothing for a wide view that has to be read as a whole. */
export const factsOf = (table, view, columns, rows) => {
  const base = table.wide ? baseOf(table, { ...view, sort: undefined }) : table
  // For a few values, count(DISTINCT) takes megabytes for each column.
  const distinct = (name) => (rows > exactRows ? `approx_count_distinct(${name})` : `len(list_distinct(list(${name})))`)
  const facts = columns.map(({ name }) => `count(${quoted(name)}), ${distinct(quoted(name))}`)
  return base && `SELECT ${["count(*)", ...facts].join(", ")}\nFROM ${qualified(base)}${whereOf(view, table)}`
}

const orderOf = ({ sort }) =>
  sort ? `\nORDER BY ${quoted(sort.column)}${sort.descending ? " DESC NULLS LAST" : ""}` : ""

/** `shown`: names of columns, or nothing for all. */
const selectOf = ({ columns }, shown) => {
  const left = shown ? columns.filter(({ name }) => !shown.has(name)) : []
  if (left.length === 0) return "SELECT *"
  const names = (some) => some.map(({ name }) => quoted(name)).join(", ")
  return left.length <= columns.length / 2
    ? `SELECT * EXCLUDE (${names(left)})`
    : `SELECT ${names(columns.filter(({ name }) => shown.has(name)))}`
}

export const pageOf = (table, view, rowsPerPage, shown) => {
  const select = selectOf(table, shown)
  const page = `\nLIMIT ${rowsPerPage} OFFSET ${view.page * rowsPerPage}`
  const base = baseOf(table, view)
  if (base === undefined) return `${select}\nFROM ${qualified(table)}${whereOf(view, table)}${orderOf(view)}${page}`
  const ids = `SELECT id\nFROM ${qualified(base)}${whereOf(view, table)}${orderOf(view)}${page}`
  const wide = qualified({ ...table, name: `${table.name}_of` })
  return `${select}\nFROM ${wide}((SELECT list(id) FROM (${ids})))${whereOf(view, table)}${orderOf(view)}`
}

/** Rows of which columns have these values: pairs of a name and a text. */
export const rowsWith = (table, values) => `FROM ${qualified(table)}\nWHERE ${equal(values)}`

const equal = (values) => values.map(([name, value]) => `${quoted(name)} = ${literal(value)}`).join(" AND ")

/** How many rows of each table have these values: `of`, the table, pairs of a name and a text, and whether deleted rows count. */
export const countsOf = (lists) =>
  lists
    .map(({ of, values, showsDeleted }, index) => {
      const existing = hasDeleted(of.columns) && !showsDeleted ? " AND _deleted_at IS NULL" : ""
      return `SELECT ${index} AS i, count(*) AS n FROM ${qualified(of)} WHERE ${equal(values)}${existing}`
    })
    .join("\nUNION ALL ")
