/**
 * What a profile does with each column, from the class of personal data, the type and the name of the column. A column
 * that no rule knows gets the strictest treatment of its class.
 */
import { kindOf } from "../../../catalog/kinds.ts"
import type { PersonalData } from "../../../catalog/personal-data.ts"
import type { Masking } from "../../../settings/masking.ts"

/** A column of a table or wide view. */
export interface MaskedColumn {
  readonly name: string
  /** Type in DuckDB. */
  readonly sql: string
  readonly personal: PersonalData
  /** The table whose id the value is. */
  readonly references?: string | undefined
  /** A column of a wide view for a custom field. */
  readonly isCustom?: true
}

/** The treatments, in the words of masked-columns.json and docs/masking.md. */
export const treatments = {
  kept: "as it is",
  scrubbed: "as it is, but NULL if it contains an e-mail address",
  dropped: "NULL",
  stars: "***",
  initial: "the first letter and ***",
  address: "an e-mail address as z***@e***.com, a phone number as *** and its last 4 digits, anything else as ***",
  addressPseudonym: "the pseudonym of an e-mail address or a phone number; NULL for anything else",
  contactPseudonym: "the pseudonym of the id, by which rows of a contact can be joined",
  organizationPseudonym: "the pseudonym of a company's name",
  identifierPseudonym: "the pseudonym of the id",
  year: "1 January of the year",
  prefix: "the first 3 characters",
  url: "the address of the site and the path, without query and fragment; no path if it contains an address or a number",
  tag: "as it is, but NULL if it contains an e-mail address or a phone number",
  customValue: "the value of a custom field whose class permits it, otherwise as text of class direct"
} as const
export type Treatment = keyof typeof treatments

export const treatmentOf = ({ profile }: Masking, table: string, column: MaskedColumn): Treatment => {
  const { name } = column
  // Of the record as the service sent it, with everything personal in it, so a guess could be tested.
  if (name === "_row_hash" || name === "_extra") return "dropped"
  if (isCustomValue(table, name)) return "customValue"
  if (column.isCustom) return column.personal === "none" ? "scrubbed" : "customValue"
  const kind = kindOf(column.sql)
  const isText = kind === "text"
  if (kind === "json") return jsonTreatment(profile, column.personal)
  switch (column.personal) {
    case "sensitive":
    case "content":
      return "dropped"
    case "direct":
      return isText ? directTreatment(profile, name) : "dropped"
    case "financial":
      if (profile === "masked" || !isText) return "kept"
      return profile === "analytics" ? "identifierPseudonym" : "dropped"
    case "quasi":
      return isText ? quasiTreatment(profile, name) : kind === "date" ? "year" : "kept"
    case "none":
      if (isText && !isId(name)) return "scrubbed"
      return profile === "analytics" && isContactId(table, column) ? "contactPseudonym" : "kept"
  }
}

/** A value of a custom field; the field decides about its class. */
const isCustomValue = (table: string, name: string): boolean =>
  /(_custom_values|_submission_answers)$/.test(table) && /^value(_text)?$/.test(name)

/** Objects as sent contain more than their documents say; only configuration is kept without a second look. */
const jsonTreatment = (profile: Masking["profile"], personal: PersonalData): Treatment =>
  personal === "none" || (personal === "financial" && profile === "masked") ? "scrubbed" : "dropped"

const directTreatment = (profile: Masking["profile"], name: string): Treatment => {
  const isAddress = /(^|_)(email|email_lower_case|phone|phone_no|address)$/.test(name)
  if (profile === "masked") return isAddress ? "address" : /(^|_)name$/.test(name) ? "initial" : "stars"
  return isAddress && profile === "analytics" ? "addressPseudonym" : "dropped"
}

const quasiTreatment = (profile: Masking["profile"], name: string): Treatment => {
  if (/(^|_)(url|referrer|link)$/.test(name)) return "url"
  if (name === "tag") return "tag"
  if (profile === "masked") return "scrubbed"
  if (/(^|_)postal_code$/.test(name)) return "prefix"
  if (/(^|_)(city|state|country|timezone)$/.test(name)) return "scrubbed"
  if (profile === "aggregate") return "dropped"
  if (/(company|business)_name$/.test(name)) return "organizationPseudonym"
  return /(^|_)(id|gclid|fbclid|tracking_number)$/.test(name) ? "identifierPseudonym" : "dropped"
}

const isId = (name: string): boolean => /(^|_)id$/.test(name)

/** The related record of a note, task or opportunity may be a contact, or a record of another kind. */
const isContactId = (table: string, { name, references }: MaskedColumn): boolean =>
  references === "contacts" || (name === "id" && /^contacts(_wide)?$/.test(table)) || name === "record_id"
