/** The query of a profile. */
import { qualified, quoted, whereOf } from "./sql.js"
import { isNumber, isTime } from "./values.js"

/** Rows of a larger table that are read: a profile of all of them would need more memory than there is. */
export const sampleRows = 2_000_000
const bins = 24
const topMax = 10

export const profileOf = (table, { name, type }, view) => {
  // A wide view reads the custom values of all rows, which only its own columns need.
  const from = table.wide?.columns.includes(name) ? { schema: table.schema, name: table.wide.table } : table
  const isIn = (column) => (table.wide && from !== table ? table.wide.columns.includes(column) : true)
  const filters = view.filters.filter(({ column }) => isIn(column))
  return [
    "WITH own AS (",
    `  SELECT ${quoted(name)} AS value`,
    `  FROM ${qualified(from)}${whereOf({ ...view, filters }, table).replaceAll("\n", "\n  ")}`,
    `  LIMIT ${sampleRows}`,
    "),",
    ...(isNumber(type) || isTime(type) ? spread(type) : []),
    "counted AS (",
    "  SELECT value::VARCHAR AS value, count(*) AS n FROM own WHERE value IS NOT NULL GROUP BY ALL",
    `  ORDER BY n DESC, value LIMIT ${topMax}`,
    ")",
    "SELECT",
    "  count(*) AS rows,",
    "  count(value) AS filled,",
    "  count(DISTINCT value) AS distinct_values,",
    "  min(value)::VARCHAR AS lowest,",
    "  max(value)::VARCHAR AS highest,",
    "  (SELECT to_json(list({value: value[:200], n: n} ORDER BY n DESC, value)) FROM counted) AS top_values,",
    `  ${isNumber(type) || isTime(type) ? "(SELECT to_json(list({low: low, high: high, n: n} ORDER BY bin)) FROM binned)" : "NULL"} AS bins`,
    "FROM own"
  ].join("\n")
}

/** Every bin of equal width, also those without values. */
const spread = (type) => {
  const [toNumber, toValue] = isTime(type)
    ? [(one) => `epoch(${one})`, (one) => `make_timestamp((${one} * 1000000)::BIGINT)::VARCHAR`]
    : [(one) => `${one}::DOUBLE`, (one) => one]
  return [
    `numbers AS (SELECT ${toNumber("value")} AS x FROM own WHERE value IS NOT NULL),`,
    "ends AS (SELECT min(x) AS low, max(x) - min(x) AS width FROM numbers WHERE isfinite(x)),",
    "binned AS (",
    `  SELECT bin, ${toValue(`(low + bin * width / ${bins})`)} AS low, ${toValue(`(low + (bin + 1) * width / ${bins})`)} AS high, coalesce(n, 0) AS n`,
    `  FROM ends, range(${bins}) AS one(bin)`,
    `  LEFT JOIN (SELECT least(floor((x - low) / width * ${bins}), ${bins - 1}) AS bin, count(*) AS n FROM numbers, ends WHERE isfinite(x) AND width > 0 GROUP BY ALL)`,
    "    USING (bin)",
    "  WHERE width > 0",
    "),"
  ]
}
