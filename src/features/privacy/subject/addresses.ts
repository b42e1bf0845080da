/** Email addresses and phone numbers in the spelling in which they are compared. */
import { literal } from "../../../stores/warehouse/sql.ts"

/** An address may stand in brackets after a name, or be a link: `Jane <jane@example.com>`, `mailto:…`, `tel:…`. */
const inBrackets = "^.*<([^<>]+)>.*$"
const inLink = "^\\s*(?:mailto|tel|sms):([^?;]*).*$"

const bareSql = (value: string): string =>
  `regexp_replace(regexp_replace(${value}, '${inBrackets}', '\\1', 's'), '${inLink}', '\\1', 'is')`

/** SQL for an email address as it is compared. */
export const emailSql = (value: string): string => `lower(trim(nfc_normalize(${bareSql(value)})))`

/** SQL for the digits of a phone number; NULL for a text that is no phone number, such as an email address. */
export const phoneSql = (value: string): string =>
  `CASE WHEN regexp_full_match(trim(${bareSql(value)}), '\\+?[0-9() ./-]{${digitsMin},40}') THEN regexp_replace(${bareSql(value)}, '[^0-9]', '', 'g') END`

/** Shorter numbers are extensions and short codes, which several people share. */
const digitsMin = 7

/** SQL: whether a text is one of these addresses. `addresses`: a relation with the columns `email` and `digits`. */
export const isAddressSql = (value: string, addresses: string): string =>
  `(${emailSql(value)} IN (SELECT email FROM ${addresses} WHERE email IS NOT NULL)
    OR ${phoneSql(value)} IN (SELECT digits FROM ${addresses} WHERE digits IS NOT NULL))`

const bare = (text: string): string =>
  text.replace(new RegExp(inBrackets, "s"), "$1").replace(new RegExp(inLink, "is"), "$1")

export const emailOf = (text: string): string => bare(text).normalize("NFC").trim().toLowerCase()

/** The digits of a phone number as `phoneSql` computes them; absent if the text is none. */
export const phoneDigitsOf = (text: string): string | undefined =>
  new RegExp(`^\\+?[0-9() ./-]{${digitsMin},40}$`).test(bare(text).trim())
    ? bare(text).replaceAll(/[^0-9]/g, "")
    : undefined

export interface GivenPhone {
  readonly text: string
  /** ISO 3166-1 codes of the countries of the locations, for a number without the code of its country. */
  readonly countries: ReadonlyArray<string>
}

/**
 * The digits by which a phone number may be stored: with the code of its country, and as given. Absent if the text is no
 * phone number.
 */
export const digitsOf = async ({ text, countries }: GivenPhone): Promise<ReadonlyArray<string> | undefined> => {
  const given = text.replaceAll(/\D/g, "")
  if (!/^\+?[\d() ./-]+$/.test(text.trim()) || given.length < digitsMin) return undefined
  const { parsePhoneNumberFromString } = await import("libphonenumber-js")
  const international = countries.map((country) =>
    parsePhoneNumberFromString(text, { defaultCountry: country as "US" })
  )
  const forms = [parsePhoneNumberFromString(text), ...international].flatMap((number) =>
    number ? [number.number.slice(1), number.nationalNumber] : []
  )
  return [...new Set([given, ...forms])].filter((digits) => digits.length >= digitsMin)
}

export interface PhoneForms {
  /** Digits with the code of the country, E.164 without the plus. */
  readonly international: ReadonlyArray<string>
  /** Digits as people in the country write it. */
  readonly national: ReadonlyArray<string>
}

/** Computes the forms of a phone number. `countries`: of the locations in which it may have been written, ISO 3166-1. */
export const phoneReader = async (): Promise<(text: string, countries: ReadonlyArray<string>) => PhoneForms> => {
  const { parsePhoneNumberFromString } = await import("libphonenumber-js")
  return (text, countries) => {
    const digits = phoneDigitsOf(text)
    if (digits === undefined) return { international: [], national: [] }
    const isInternational = /^\s*(\+|00)/.test(bare(text))
    const complete = parsePhoneNumberFromString(`+${digits.replace(/^00/, "")}`)
    const inCountry = isInternational
      ? []
      : countries.map((country) => parsePhoneNumberFromString(digits, { defaultCountry: country as "US" }))
    const national = inCountry.filter((number) => number?.isValid() === true)
    const valid = national.length > 0 ? national : [complete].filter((number) => number?.isValid() === true)
    return {
      international: [...new Set(valid.map((number) => number!.number.slice(1)))],
      national: [...new Set(valid.map((number) => String(number!.nationalNumber)))].filter(
        (number) => number.length >= digitsMin
      )
    }
  }
}

/** The rows of a relation of addresses. */
export const addressValues = (emails: ReadonlyArray<string>, digits: ReadonlyArray<string>): string => {
  const rows = [...emails.map((email) => [email, null]), ...digits.map((number) => [null, number])]
  return rows.length === 0
    ? "SELECT NULL::VARCHAR AS email, NULL::VARCHAR AS digits WHERE false"
    : `SELECT email::VARCHAR AS email, digits::VARCHAR AS digits FROM (VALUES ${rows.map((row) => `(${row.map(literal).join(", ")})`).join(", ")}) AS address (email, digits)`
}
