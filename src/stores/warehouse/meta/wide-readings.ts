/**
 * `meta.wide_readings`: the custom values that are not in the notation that the SQL of the wide views reads, and the number,
 * date or time that each of them is to `catalog/convert.ts`, which decides about every value. `meta.wide_losses`: cells of wide
 * tables that do not show their custom value exactly, or not at all. `meta.wide_columns`: the column of each custom field.
 */
import { Rounded, converters } from "../../../catalog/convert.ts"
import { parseExact } from "../../../catalog/json.ts"
import { query } from "../query.ts"
import { type RowOf } from "../../../values/rows.ts"
import type { TextFunction } from "../warehouse.ts"
import { insertStatements, literal, name } from "../sql.ts"
import { hasNotation, isUnreadSql, kindOfField } from "../wide-types.ts"
import type { FieldColumn, WideView } from "../wide-view.ts"

/** SQL: a value, of a row that another program wrote perhaps its text, as JSON. */
const sentSql = "coalesce(v.value::VARCHAR, to_json(v.value_text)::VARCHAR)"

const isRead = (field: string) => `r.location_id = v.location_id AND r.field = v.${name(field)} AND r.sent = ${sentSql}`

/** The values of a table, each with its text as `typed` reads it. `from`: rows of the table. */
export const readValuesSql = (from: string, { field, parent }: Pick<WideView, "field" | "parent">): string =>
  `(SELECT v.location_id, v.${name(parent)}, v.${name(field)}, v.value::VARCHAR AS json,
      CASE WHEN r.field IS NULL THEN v.value_text ELSE r.reading END AS text
    FROM ${from} AS v LEFT JOIN meta.wide_readings AS r ON ${isRead(field)})`

export const readingFunction = "sluice_reading"

/** The value in the notation of `typed`, after a "~" if it is rounded; NULL if it has none. */
export const readingOf: TextFunction = ([kind, sent]) => {
  const read = converters[kind as "date" | "decimal" | "instant"](parseExact(sent!))
  if (read instanceof Rounded) return `~${read.value}`
  if (typeof read !== "string") return null
  return kind === "instant" ? inUtc(read) : read
}

const inUtc = (instant: string): string =>
  `${new Date(instant).toISOString().slice(0, 19)}${/\.\d+/.exec(instant)?.[0] ?? ""}Z`

/** Reads all values anew, and counts the cells that do not show theirs exactly. */
export const readingStatements = (views: ReadonlyArray<WideView>): ReadonlyArray<string> => {
  const unread = views.flatMap(({ columns, field: column, values }) => {
    const fields = columns.flatMap(({ dataType, fields }) =>
      hasNotation(dataType)
        ? fields.map(({ field, location }) => `(${[location, field, kindOfField(dataType)].map(literal).join(", ")})`)
        : []
    )
    if (fields.length === 0) return []
    return [
      `SELECT v.location_id, f.field, f.kind, ${sentSql} AS sent FROM crm.${name(values)} AS v
       JOIN (VALUES ${fields.join(", ")}) AS f (location, field, kind) ON f.location = v.location_id AND f.field = v.${name(column)}
       WHERE v.value_text <> '' AND (left(v.value::VARCHAR, 1) IN ('[', '{') OR ${isUnreadSql("f.kind", "v.value_text")})`
    ]
  })
  return [
    "DELETE FROM meta.wide_readings",
    "DELETE FROM meta.wide_losses",
    ...(unread.length === 0
      ? []
      : [
          `INSERT INTO meta.wide_readings (location_id, field, sent, reading, is_rounded)
           SELECT location_id, field, sent, ltrim(reading, '~'), reading LIKE '~%' FROM (
             SELECT *, ${readingFunction}(kind, sent) AS reading FROM (SELECT DISTINCT * FROM (${unread.join(" UNION ALL ")})))`,
          `INSERT INTO meta.wide_losses (view_name, column_name, rounded, unfit) ${views
            .map(
              ({ field, values, view }) =>
                `SELECT w.view_name, w.column_name, count(*) FILTER (r.is_rounded), count(*) FILTER (r.reading IS NULL)
                 FROM crm.${name(values)} AS v JOIN meta.wide_readings AS r ON ${isRead(field)}
                 JOIN meta.wide_columns AS w ON w.view_name = ${literal(view)} AND w.location_id = r.location_id AND w.field = r.field
                 WHERE r.is_rounded OR r.reading IS NULL GROUP BY ALL`
            )
            .join(" UNION ALL ")}`
        ])
  ]
}

export type WideLoss = RowOf<typeof lossColumns>
const lossColumns = { table: String, column: String, rounded: Number, unfit: Number }
export const wideLosses = () =>
  query(
    lossColumns,
    'SELECT view_name AS "table", column_name AS "column", rounded, unfit FROM meta.wide_losses ORDER BY view_name, column_name'
  )

/** SQL for the columns of a view and of those that follow it, with `place`, the order in which they were named. */
export const columnsOfViewSql = (view: string): string =>
  `SELECT view_name, location_id, field, column_name, rowid AS place FROM meta.wide_columns WHERE ${firstOf} = ${literal(view)}`

const firstOf = "regexp_replace(view_name, '_wide_.+$', '_wide')"

/** Stores the columns of fields. One that had another column before keeps its place. */
export const nameColumnsStatements = (named: ReadonlyArray<FieldColumn>): ReadonlyArray<string> => [
  ...named.flatMap(({ column, field, knownView, location, view }) => {
    const places = `view_name = ${literal(knownView)} AND location_id = ${literal(location)} AND field = ${literal(field)}`
    const set = `view_name = ${literal(view)}, column_name = ${literal(column)}`
    return knownView === undefined ? [] : [`UPDATE meta.wide_columns SET ${set} WHERE ${places}`]
  }),
  ...insertStatements(
    "meta.wide_columns (view_name, location_id, field, column_name)",
    named
      .filter(({ knownView }) => knownView === undefined)
      .map((one) => `(${[one.view, one.location, one.field, one.column].map(literal).join(", ")})`)
  )
]
