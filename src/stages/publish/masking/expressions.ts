/** SQL of the treatments. */
import { literal, name } from "../../../stores/warehouse/sql.ts"
import type { WideView } from "../../../stores/warehouse/wide-view.ts"
import type { Masking, PseudonymKey } from "../../../settings/masking.ts"
import { pseudonymSql } from "./pseudonyms.ts"
import { type MaskedColumn, type Treatment, treatmentOf } from "./rules.ts"

/** Fields of a table of custom values whose values may be shown. */
export interface ShownFields {
  /** The column with the field. */
  readonly column: string
  readonly fields: ReadonlyArray<string>
}

/** The fields of custom values that are shown as they are, by table: those that are personal in no location. */
export const shownFields = (views: ReadonlyArray<WideView>): ReadonlyMap<string, ShownFields> =>
  new Map(
    views.map(({ columns, field, values }) => {
      const fieldsWhere = (isPlain: boolean) =>
        new Set(
          columns.flatMap(({ fields, personal }) =>
            (personal === "none") === isPlain ? fields.map(({ field }) => field) : []
          )
        )
      return [values, { column: field, fields: [...fieldsWhere(true).difference(fieldsWhere(false))] }]
    })
  )

/** A SELECT list with every column of a table masked, in their order. `table`: without its schema. */
export const maskedColumns = (
  masking: Masking,
  table: string,
  columns: ReadonlyArray<MaskedColumn>,
  shown: ReadonlyMap<string, ShownFields>
): string =>
  columns
    .map((column) => {
      const treatment = treatmentOf(masking, column)
      const value = name(column.name)
      return treatment === "kept" ? value : `${maskedSql(masking, treatment, column, shown.get(table))} AS ${value}`
    })
    .join(", ")

const maskedSql = (
  masking: Masking,
  treatment: Treatment,
  { name: column, sql }: MaskedColumn,
  shown: ShownFields | undefined
): string => {
  const value = name(column)
  const ofText = (masked: string) => `CASE WHEN ${value} IS NOT NULL THEN ${masked} END`
  const pseudonym = (kind: Parameters<typeof pseudonymSql>[0]) => pseudonymSql(kind, keyOf(masking), value)
  switch (treatment) {
    case "kept":
      return value
    case "scrubbed":
      return `CASE WHEN NOT ${containsAddress(value)} THEN ${value} END`
    case "dropped":
      return `NULL::${sql}`
    case "stars":
      return ofText("'***'")
    case "initial":
      return ofText(`left(trim(${value}), 1) || '***'`)
    case "address":
      return ofText(`CASE WHEN regexp_full_match(${value}, ${literal(plainAddress)}) THEN regexp_replace(${value}, ${literal(plainAddress)}, '\\1***@\\2***\\3')
        WHEN length(${digitsOf(value)}) >= 7 AND NOT contains(${value}, '@') THEN '***' || right(${digitsOf(value)}, 4) ELSE '***' END`)
    case "addressPseudonym":
      return `CASE WHEN contains(${value}, '@') THEN ${pseudonym("email")} WHEN length(${digitsOf(value)}) >= 7 THEN ${pseudonym("phone")} END`
    case "contactPseudonym":
      return pseudonym("contact")
    case "organizationPseudonym":
      return pseudonym("organization")
    case "identifierPseudonym":
      return pseudonym("identifier")
    case "year":
      return `date_trunc('year', ${value})::DATE`
    case "prefix":
      return `left(trim(${value}), 3)`
    case "url":
      return `CASE WHEN regexp_matches(${value}, ${literal(site)}) THEN
        CASE WHEN regexp_matches(${pathOf(value)}, '@|%40|[0-9]{7,}') THEN ${siteOf(value)} ELSE ${siteOf(value)} || ${pathOf(value)} END END`
    case "tag":
      return `CASE WHEN NOT ${containsAddress(value)} AND NOT regexp_matches(${value}, '[0-9](?:[ ().-]*[0-9]){6}') THEN ${value} END`
    case "customValue":
      return shown === undefined || shown.fields.length === 0
        ? hidden()
        : `CASE WHEN ${name(shown.column)} IN (${shown.fields.map(literal).join(", ")}) THEN ${value} ELSE ${hidden()} END`
  }

  function hidden() {
    // A wide view makes a list of a masked text, and NULL of one that is no number or date.
    const stars = { VARCHAR: "'***'", "VARCHAR[]": "['***']" }[sql]
    return masking.profile === "masked" && stars ? ofText(stars) : `NULL::${sql}`
  }
}

const keyOf = (masking: Masking): PseudonymKey => {
  if (masking.profile === "analytics") return masking.key
  throw new Error(`the profile ${masking.profile} has no pseudonyms`)
}

/** A first letter, a domain's first letter, and the last part of the domain. */
const plainAddress = String.raw`\s*([^@\s])[^@]*@([^@\s])[^@]*(\.[^.@\s]+)\s*`
const site = "^[A-Za-z][A-Za-z0-9+.-]*://"
const wholeUrl = String.raw`^([A-Za-z][A-Za-z0-9+.-]*://)(?:[^/?#]*@)?([^/?#]*)([^?#]*).*$`

const siteOf = (value: string) => `regexp_replace(${value}, ${literal(wholeUrl)}, '\\1\\2', 's')`
const pathOf = (value: string) => `regexp_replace(${value}, ${literal(wholeUrl)}, '\\3', 's')`
const digitsOf = (value: string) => `regexp_replace(${value}, '[^0-9]', '', 'g')`

/** SQL: whether a text or JSON contains an e-mail address, also one that is encoded in a URL. */
const containsAddress = (value: string) =>
  `coalesce(regexp_matches(${value}::VARCHAR, '(?i)[^@\\s]@[^@\\s]|%40'), false)`
