/** The types of custom fields in wide tables. */
import { decimalSql } from "../../catalog/decimals.ts"
import type { KindName } from "../../catalog/kinds.ts"

/** The kind of the values of a field. */
export const kindOfField = (dataType: string | undefined): KindName => kindsOfFields[dataType ?? ""] ?? "text"

const kindsOfFields: Readonly<Record<string, KindName>> = {
  MONETORY: "decimal",
  MONETARY: "decimal",
  NUMERICAL: "decimal",
  FLOAT: "decimal",
  DATE: "date",
  DATE_TIME: "instant",
  CHECKBOX: "list",
  MULTIPLE_OPTIONS: "list",
  FILE_UPLOAD: "json",
  SIGNATURE: "json",
  TEXTBOX_LIST: "json"
}

/**
 * SQL for a value with the type of its field. It reads a number, date or time only in the notation about which DuckDB and
 * `catalog/convert.ts` cannot differ, and is NULL for any other text: `meta.wide_readings` has its value in this notation.
 */
export const typed = (dataType: string | undefined, text: string, json: string): string => {
  switch (kindOfField(dataType)) {
    case "decimal":
      return decimalSql(text)
    case "date":
      return `coalesce(try_cast(left(regexp_extract(${text}, '^(?:${day}|${instant})$'), 10) AS DATE), ${epochSql(text)}::DATE)`
    case "instant":
      return `coalesce(try_cast(regexp_extract(${text}, '^${instant}$') AS TIMESTAMPTZ), ${epochSql(text)} AT TIME ZONE 'UTC')`
    case "list":
      return `CASE WHEN ${json} LIKE '[%' THEN try_cast((${json})::JSON AS VARCHAR[]) WHEN ${text} <> '' THEN [${text}] END`
    case "json":
      return `(${json})::JSON`
    default:
      return text
  }
}

/** DuckDB checks that the day exists; the year 0 exists there. An offset leads out of the years 1 to 9999 only near their ends. */
const inYear = "-[0-9]{2}-[0-9]{2}"
const day = `(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)${inYear}`
const time = "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?"
const instant = `(?:${day}${time}Z|[1-8][0-9]{3}${inYear}${time}[+-](?:0[0-9]|1[0-8]):[0-5][0-9])`

/** A number of fewer digits may be a time, and a text of fewer digits is none. */
const epochSql = (text: string) => `epoch_ms(try_cast(regexp_extract(${text}, '^-?[0-9]{11,13}$') AS BIGINT))`

/** For each kind that has a notation: a type of field, and most of what `typed` reads, which this pattern tells much faster. */
const plainDay = "[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
const notations = {
  decimal: ["NUMERICAL", "-?[0-9]{1,31}(?:\\.[0-9]{1,7})?"],
  date: ["DATE", `${plainDay}(?:${time}Z)?|[0-9]{13}`],
  instant: ["DATE_TIME", `${plainDay}${time}Z|[0-9]{13}`]
} as const

export const hasNotation = (dataType: string | undefined): boolean => kindOfField(dataType) in notations

/** SQL: whether `typed` is NULL for a text. `kind`: SQL for its kind. */
export const isUnreadSql = (kind: string, text: string): string =>
  `CASE ${kind} ${Object.entries(notations)
    .map(
      ([of, [type, pattern]]) =>
        `WHEN '${of}' THEN CASE WHEN regexp_full_match(${text}, '${pattern}') THEN false ELSE ${typed(type, text, "")} IS NULL END`
    )
    .join(" ")} END`
