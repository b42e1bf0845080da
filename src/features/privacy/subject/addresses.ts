/** Email addresses and phone numbers in the spelling in which they are compared. */
import { domainToASCII, domainToUnicode } from "node:url"
import type { PhoneNumber } from "libphonenumber-js"
import { literal } from "../../../stores/warehouse/sql.ts"

/**
 * As people write addresses: several in a text, in brackets after a name, as a link such as `mailto:…`, in the wide letters of an
 * Asian keyboard, and with characters that nobody sees.
 */
const emailPattern = String.raw`[^\s,;<>()\[\]":|\\]+@[^\s,;<>()\[\]"':|/\\?&]+`
/** What a person writes around an address or after it. */
const around = ".'`´‘’‚‛“”„‟«»‹›"
const phonePattern = (digitsMin: number) => String.raw`\+?[0-9() ./-]{${digitsMin},40}`
const phoneSeparators = String.raw`[,;:|<>]|\s[a-z]+\s`

/** The dashes between the parts of a phone number, and the full stops of Asian keyboards. */
const others = Object.entries({ "-": "‐‑‒–—−", ".": "。｡" }).flatMap(([stands, signs]) =>
  [...signs].map((sign) => [sign, stands] as const)
)

/** The letters, digits and signs that Unicode has in other forms (wide, raised, in circles, mathematical), and all digits of other scripts. */
const plainForms = (() => {
  const forms = new Map<string, string>(others)
  let before = 0
  for (let code = 0x80; code < 0x20000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue
    const one = String.fromCodePoint(code)
    const isDigit = /\p{Nd}/u.test(one)
    const compatible = one.normalize("NFKC")
    if (/^[!-~]$/.test(compatible)) forms.set(one, compatible)
    // The digits of a script follow one another, from 0 to 9.
    else if (isDigit) forms.set(one, String(before % 10))
    before = isDigit ? before + 1 : 0
  }
  return forms
})()
const [written, plain] = [[...plainForms.keys()].join(""), [...plainForms.values()].join("")]
/** A pattern of one of these letters, as ranges: every statement has it many times. */
const anyWritten = (() => {
  const ranges: Array<{ readonly first: number; last: number }> = []
  const codes = Array.from(plainForms.keys(), (one) => one.codePointAt(0) ?? Number.NaN)
  for (const code of codes.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range?.last === code - 1) range.last = code
    else ranges.push({ first: code, last: code })
  }
  return `[${ranges.map(({ first, last }) => `${String.fromCodePoint(first)}-${String.fromCodePoint(last)}`).join("")}]`
})()

/** SQL for a text in the form in which addresses are found in it: what is invisible is removed, and all blanks are one. */
const foldedSql = (value: string): string => {
  const text = `${value}::VARCHAR`
  // To translate a text takes a hundred times as long as to see that nothing of it is translated, as in most texts with accents.
  const composed = `nfc_normalize(${text})`
  const inPlainForms = `CASE WHEN regexp_matches(${text}, '[^\\x00-\\x7f]') THEN CASE WHEN regexp_matches(${composed}, ${literal(anyWritten)})
    THEN translate(${composed}, ${literal(written)}, ${literal(plain)}) ELSE ${composed} END ELSE ${text} END`
  return `lower(regexp_replace(regexp_replace(${inPlainForms}, '\\p{Cf}', '', 'g'), '[\\p{Cc}\\p{Z}]+', ' ', 'g'))`
}
const folded = (text: string): string =>
  text
    .normalize("NFC")
    .replaceAll(/\P{ASCII}/gu, (one) => plainForms.get(one) ?? one)
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/[\p{Cc}\p{Z}]+/gu, " ")
    .toLowerCase()

/** SQL for the email addresses in a text, as they are compared; the text itself if it has none. */
export const emailsSql = (value: string): string => {
  const found = `list_distinct(list_transform(regexp_extract_all(folded, ${literal(emailPattern)}), lambda one: trim(one, ${literal(around)})))`
  const all = `CASE WHEN len(${found}) > 0 THEN ${found} ELSE list_filter([trim(folded)], lambda one: one <> '') END`
  return `list_transform([${foldedSql(value)}], lambda folded: ${all})[1]`
}

/** Shorter numbers are extensions and short codes, which several people share. */
const digitsMin = 7

/** SQL for the digits of the phone numbers in a text; none for an email address. */
export const phonesSql = (value: string): string => {
  const parts = `list_transform(regexp_split_to_array(${foldedSql(value)}, ${literal(phoneSeparators)}), lambda one: trim(one))`
  const numbers = `list_filter(${parts}, lambda one: regexp_full_match(one, ${literal(phonePattern(digitsMin))}))`
  return `list_filter(list_transform(${numbers}, lambda one: regexp_replace(one, '[^0-9]', '', 'g')), lambda one: length(one) >= ${digitsMin})`
}

/** SQL: whether a text has one of these addresses. `addresses`: a relation with the columns `email` and `digits`. */
export const isAddressSql = (value: string, addresses: string): string => {
  const known = (column: string) =>
    `coalesce((SELECT list(${column}) FROM ${addresses} WHERE ${column} IS NOT NULL), []::VARCHAR[])`
  const text = `${value}::VARCHAR`
  const hasAny = (column: string, test: string) => `len(list_filter(${known(column)}, lambda one: ${test})) > 0`
  // Most texts are plain and have none of the addresses in them: they need not be folded, nor searched for any address.
  const mayHave = `regexp_matches(${text}, '[^ -~]') OR ${hasAny("email", `contains(one, ' ') OR contains(lower(${text}), one)`)}
    OR ${hasAny("digits", `contains(regexp_replace(${text}, '[^0-9]', '', 'g'), one)`)}`
  return `CASE WHEN ${mayHave} THEN list_has_any(${emailsSql(value)}, ${known("email")}) OR list_has_any(${phonesSql(value)}, ${known("digits")}) ELSE false END`
}

/** How people hide or spell an address: what stands for its two signs, and what of it leads to the same mailbox. */
const atSign = String.raw`%40|&#64;|&commat;|[(\[{] *at *[)\]}]| at `
const dot = String.raw`[(\[{] *dot *[)\]}]| dot `
const tag = String.raw`\+[^@ ]*@`

/** SQL for the letters and digits of an address, without signs, accents, and what follows a plus sign. */
const lettersSql = (text: string): string =>
  `regexp_replace(regexp_replace(strip_accents(regexp_replace(regexp_replace(${text}, ${literal(atSign)}, '@', 'g'), ${literal(dot)}, '.', 'g')), ${literal(tag)}, '@', 'g'), '[^a-z0-9]', '', 'g')`
const lettersOf = (email: string): string =>
  email
    .replace(/\+[^@]*@/, "@")
    .normalize("NFD")
    .replaceAll(/[^a-z0-9]/g, "")

/** Fewer are part of many addresses. */
const lettersMin = 6
/** The end of a phone number, which is the same however its beginning is written. */
const endDigits = 8

/**
 * SQL: whether a text may have one of these addresses, written in a way that nobody can be sure of: an address with other signs
 * or letters that look alike, or a number that ends with the same digits.
 */
export const isPossibleSql = (value: string, emails: ReadonlyArray<string>, digits: ReadonlyArray<string>): string => {
  const [plain, text] = [`lower(${value}::VARCHAR)`, foldedSql(value)]
  const parts = `list_transform([${text}] || regexp_split_to_array(${text}, '[,;:|<>/ ]+'), lambda one: ${lettersSql("one")})`
  const hasOthers = (from: string) => `regexp_matches(${from}, '[^\\x00-\\x7f]')`
  const digitsOf = (from: string) => `regexp_replace(${from}, '[^0-9]', '', 'g')`
  const known = emails
    // With anything around it that is neither a letter nor a digit, as in `email=…`.
    .map((email) => ({
      letters: lettersOf(email),
      ends: endsOfName(email),
      alone: `(^|[^\\p{L}\\p{N}])${email.replaceAll(/[^\p{L}\p{N}]/gu, "[$&]")}($|[^\\p{L}\\p{N}])`
    }))
    .filter(({ letters }) => letters.length >= lettersMin)
  const lastDigits = [...new Set(digits.map((one) => one.slice(-endDigits)))]
  // What is quickly decided comes first: most texts are of other people.
  const tests = [
    ...known.map(
      ({ alone, ends, letters }) =>
        `((${ends.map((end) => `contains(${plain}, ${literal(end)})`).join(" OR ")} OR ${hasOthers(plain)}) AND (list_contains(${parts}, ${literal(letters)}) OR regexp_matches(${text}, ${literal(alone)})
          OR (${hasOthers(`strip_accents(${text})`)} AND levenshtein(${lettersSql(text)}, ${literal(letters)}) <= 2)))`
    ),
    ...lastDigits.map(
      (end) =>
        `(contains(${digitsOf(plain)}, ${literal(end)}) OR (${hasOthers(plain)} AND contains(${digitsOf(text)}, ${literal(end)})))`
    )
  ]
  return tests.length === 0 ? "false" : `(${tests.join(" OR ")})`
}

/** The first and the last letters of the name before the sign, one of which every spelling has. */
const endsOfName = (email: string): ReadonlyArray<string> => {
  const name = lettersOf(email.replace(/@.*/s, ""))
  return [name.slice(0, 3), name.slice(-3)]
}

/** The email addresses in a text, as `emailsSql` computes them. */
export const emailsIn = (text: string): ReadonlyArray<string> => {
  const found = folded(text).match(new RegExp(emailPattern, "gu")) ?? []
  const bare = found.map((one) => one.replaceAll(new RegExp(`^[${around}]+|[${around}]+$`, "g"), ""))
  return bare.length > 0 ? [...new Set(bare)] : [folded(text).trim()].filter((one) => one !== "")
}

/** The only email address of a text that a person has given, or the first one. */
const emailOf = (text: string): string => emailsIn(text)[0] ?? ""

/** The address of such a text as it is compared; one whose domain has other letters, in both forms of the domain. */
export const emailForms = (text: string): ReadonlyArray<string> => {
  const email = emailOf(text)
  const [, name, domain = ""] = /^(.+@)([^@]+)$/.exec(email) ?? []
  const domains = [domainToASCII(domain), domainToUnicode(domain)].filter((one) => one !== "")
  return [...new Set([email, ...domains.map((one) => `${name}${one}`)])]
}

/** The digits of the phone numbers in a text, as `phonesSql` computes them. */
export const phoneDigitsIn = (text: string): ReadonlyArray<string> =>
  folded(text)
    .split(new RegExp(phoneSeparators, "u"))
    .map((one) => one.trim())
    .filter((one) => new RegExp(`^${phonePattern(digitsMin)}$`).test(one))
    .map((one) => one.replaceAll(/[^0-9]/g, ""))
    .filter((digits) => digits.length >= digitsMin)

/** The digits of a text that is a phone number; absent if the text is none. */
export const phoneDigitsOf = (text: string): string | undefined => phoneDigitsIn(text)[0]

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
    const isInternational = /^\D*?(\+|00)/.test(folded(text))
    const complete = parsePhoneNumberFromString(`+${digits.replace(/^00/, "")}`)
    const inCountry = isInternational
      ? []
      : countries.map((country) => parsePhoneNumberFromString(digits, { defaultCountry: country as "US" }))
    const valid = (number: PhoneNumber | undefined) => (number?.isValid() ? [number] : [])
    const national = inCountry.flatMap(valid)
    const found = national.length > 0 ? national : valid(complete)
    return {
      international: [...new Set(found.map(({ number }) => number.slice(1)))],
      national: [...new Set(found.map(({ nationalNumber }) => nationalNumber))].filter(
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
