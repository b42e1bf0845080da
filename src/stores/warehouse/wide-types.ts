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

/** SQL for a value with the type of its field. A value that does not fit is NULL; the table of values has it as sent. */
export const typed = (dataType: string | undefined, text: string, json: string): string => {
  switch (kindOfField(dataType)) {
    case "decimal":
      return decimalSql(text)
    case "date":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{11,15}') THEN epoch_ms((${text})::BIGINT)::DATE
        ELSE coalesce(try_cast(left(${text}, 10) AS DATE), try_strptime(left(${text}, 10), ${dayFormats})::DATE) END`
    case "instant":
      return `CASE WHEN regexp_full_match(${text}, '-?[0-9]{11,15}') THEN to_timestamp((${text})::BIGINT / 1000)
        WHEN regexp_matches(${text}, '[0-9]:[0-9]{2}.*([Zz]|[+-][0-9:]+)$') THEN try_cast(${text} AS TIMESTAMPTZ)
        ELSE try_cast(${text} AS TIMESTAMP) AT TIME ZONE 'UTC' END`
    case "list":
      return `CASE WHEN ${json} LIKE '[%' THEN try_cast((${json})::JSON AS VARCHAR[]) WHEN ${text} <> '' THEN [${text}] END`
    case "json":
      return `(${json})::JSON`
    default:
      return text
  }
}
const dayFormats = "['%Y/%m/%d', '%m/%d/%Y', '%m-%d-%Y', '%Y.%m.%d', '%m.%d.%Y', '%Y_%m_%d', '%m_%d_%Y']"
