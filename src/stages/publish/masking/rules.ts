/**
 * What a profile does with each column, from the class of personal data, the type and the role of the column. A column
 * without a role gets the strictest treatment of its class.
 */
import { kindOf } from "../../../catalog/kinds.ts"
import type { PersonalData } from "../../../catalog/personal-data.ts"
import type { Role } from "../../../catalog/roles.ts"
import type { Masking } from "../../../settings/masking.ts"

/** A column of a table or wide view. */
export interface MaskedColumn {
  readonly name: string
  /** Type in DuckDB. */
  readonly sql: string
  readonly personal: PersonalData
  readonly role?: Role
  /** A column of a wide view for a custom field. */
  readonly isCustom?: true
}

/** The treatments, in the words of masked-columns.json and docs/hand-out.md. */
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

export const treatmentOf = ({ profile }: Masking, column: MaskedColumn): Treatment => {
  const { name, personal, role } = column
  // Both are made from the unmasked record: a reader could hash a guess and compare.
  if (name === "_row_hash" || name === "_extra") return "dropped"
  if (role === "customValue") return "customValue"
  if (column.isCustom) return personal === "none" ? "scrubbed" : "customValue"
  const kind = kindOf(column.sql)
  const isText = kind === "text"
  if (kind === "json") return jsonTreatment(profile, personal)
  switch (personal) {
    case "sensitive":
    case "content":
      return "dropped"
    case "direct":
      return isText ? directTreatment(profile, role) : "dropped"
    case "financial":
      if (profile === "masked" || !isText) return "kept"
      return profile === "analytics" ? "identifierPseudonym" : "dropped"
    case "quasi":
      return isText ? quasiTreatment(profile, role) : kind === "date" ? "year" : "kept"
    case "none":
      if (role === "contact") return profile === "analytics" ? "contactPseudonym" : "kept"
      return isText && role !== "identifier" ? "scrubbed" : "kept"
  }
}

/** Objects as sent contain more than their documents say; only configuration is kept without a second look. */
const jsonTreatment = (profile: Masking["profile"], personal: PersonalData): Treatment =>
  personal === "none" || (personal === "financial" && profile === "masked") ? "scrubbed" : "dropped"

const directTreatment = (profile: Masking["profile"], role: Role | undefined): Treatment => {
  const isAddress = role === "email" || role === "phone" || role === "emailOrPhone"
  if (profile === "masked") return isAddress ? "address" : role === "personName" ? "initial" : "stars"
  return isAddress && profile === "analytics" ? "addressPseudonym" : "dropped"
}

/** A text without a role of its class is masked like one that names a person. */
const quasiTreatment = (profile: Masking["profile"], role: Role | undefined): Treatment => {
  switch (role) {
    case "url":
    case "tag":
      return role
    case "place":
      return "scrubbed"
    case "postalCode":
      return profile === "masked" ? "scrubbed" : "prefix"
    case "companyName":
      return profile === "masked" ? "scrubbed" : profile === "analytics" ? "organizationPseudonym" : "dropped"
    case "identifier":
      return profile === "masked" ? "scrubbed" : profile === "analytics" ? "identifierPseudonym" : "dropped"
    case "address":
    case "trait":
      return profile === "masked" ? "scrubbed" : "dropped"
    default:
      return directTreatment(profile, role)
  }
}
