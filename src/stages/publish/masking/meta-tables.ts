/** The tables of `meta` in a masked release: samples of values are left out, and texts that may contain some. */
import { publishedMetaTables } from "../../../stores/warehouse/meta/tables.ts"
import { literal, name } from "../../../stores/warehouse/sql.ts"

const addressOrId = "@|%40|[0-9]{7,}|[A-Za-z0-9]{16,}"
/** SQL: whether a text contains neither an address, nor a number of many digits, nor a long id. */
const isPlain = (text: string) => `NOT regexp_matches(${text}, '${addressOrId}')`
/** The same of a text that is in no table. */
export const isPlainText = (text: string): boolean => !new RegExp(addressOrId).test(text)
/** The names of fields may be long, but seldom have digits. */
const isFieldName = (text: string) => `NOT regexp_matches(${text}, '@|%40|[0-9]{4,}|[0-9][A-Za-z]+[0-9]')`
const ifPlain = (text: string) => `CASE WHEN ${isPlain(text)} THEN ${text} END`

/** The reason without the record that it names. */
const reason = ifPlain("regexp_replace(reason, '; in .*$', '', 's')")
/** A value of an enum, if the class of its column permits it. */
const enumValue = (table: string) =>
  `CASE WHEN EXISTS (FROM meta.columns AS c WHERE c.table_name = ${table}.table_name AND c.column_name = ${table}.column_name AND c.personal_data = 'none')
     AND ${isPlain("value")} THEN value END AS value`

/** What replaces the columns of a table. */
const replaced: Readonly<Record<string, ReadonlyArray<string>>> = {
  run_resources: [
    `list_filter(warnings, lambda warning: ${isPlain("warning")}) AS warnings`,
    `list_filter(blocked_fields, lambda field: ${isFieldName("field")}) AS blocked_fields`,
    "NULL::JSON AS reading"
  ],
  watermarks: ["NULL::JSON AS capabilities"],
  rejected_values: ["NULL::VARCHAR AS key", "NULL::VARCHAR AS value", `${reason} AS reason`],
  rejected_records: ["NULL::VARCHAR AS record", `${reason} AS reason`],
  schema_changes: [
    "NULL::VARCHAR AS sample",
    "NULL::VARCHAR AS sample_key",
    `CASE WHEN ${isFieldName("field")} THEN field END AS field`
  ],
  enum_values: [enumValue("enum_values")],
  unexpected_values: [enumValue("unexpected_values")],
  coverage: [`${ifPlain("reason")} AS reason`]
}

/** Custom values in another notation, of fields that are not personal. */
const conditions: Readonly<Record<string, string>> = {
  wide_readings: `WHERE (location_id, field) IN (SELECT (w.location_id, w.field) FROM meta.wide_columns AS w
    JOIN meta.columns AS c ON c.table_name = w.view_name AND c.column_name = w.column_name
    GROUP BY ALL HAVING bool_and(c.personal_data = 'none'))`
}

/** Tables that a masked release fills itself: what DuckDB says about a model may quote a value. */
const ownTables: ReadonlySet<string> = new Set(["model_problems"])

/** The SELECT of each published table of `meta`. */
export const maskedMetaTables = (): ReadonlyArray<readonly [table: string, select: string]> =>
  publishedMetaTables.map((table) => {
    const columns = replaced[table] ?? []
    const select = `SELECT * ${columns.length > 0 ? `REPLACE (${columns.join(", ")})` : ""} FROM meta.${name(table)} ${conditions[table] ?? ""}`
    return [table, ownTables.has(table) ? `${select} LIMIT 0` : select]
  })

/** The state of the warehouse that a publish needs. `stamp` changes with everything that decides what is masked and how. */
export const copiedState = (stamp: string): ReadonlyArray<readonly [table: string, select: string]> => [
  ["schema_version", "FROM meta.schema_version"],
  [
    "content_versions",
    `SELECT resource, sha256(version || ${literal(stamp)}) AS version, NULL::VARCHAR AS base FROM meta.content_versions`
  ],
  ["changed_keys", "FROM meta.changed_keys LIMIT 0"]
]
