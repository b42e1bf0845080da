/**
 * Pseudonyms, computed in SQL: `eml_k1_` and 26 characters of base32, which are 128 bits of
 *
 *     HMAC-SHA-256(key of the location, kind || NUL || normalised value)
 *
 * The same person has the same pseudonym in every table and every release with the same key, and nobody without the key can
 * test a guess. In SQL a value takes 6 microseconds, in a function of Node 30.
 */
import * as Struct from "effect/Struct"
import * as Effect from "effect/Effect"
import { query, queryTexts } from "../../../stores/warehouse/query.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type PseudonymKey, locationKey } from "../../../settings/masking.ts"

/** What a pseudonym stands for, and the prefix that says so. */
const prefixes = { email: "eml", phone: "tel", contact: "con", organization: "org", identifier: "idn" } as const
export type PseudonymKind = keyof typeof prefixes

/** A pseudonym as text, taken apart; `undefined` for any other text. */
export const parsePseudonym = (text: string) => {
  const [, prefix, keyId] = /^([a-z]{3})_([a-z0-9]+)_[a-z2-7]{26}$/.exec(text) ?? []
  const kind = Struct.keys(prefixes).find((one) => prefixes[one] === prefix)
  return kind === undefined || keyId === undefined ? undefined : { kind, keyId }
}

/** The database of the macros: in memory, because it contains keys. */
const database = "sluice_masking"
const phoneFunction = "sluice_phone"

/** SQL for the pseudonym of a value; NULL for an empty one. The row has a column `location_id`. */
export const pseudonymSql = (kind: PseudonymKind, { id }: PseudonymKey, value: string): string =>
  `(${literal(`${prefixes[kind]}_${id}_`)} || ${database}.pseudonym(location_id, ${literal(kind)}, ${normalisedSql(kind, value)}))`

const normalisedSql = (kind: PseudonymKind, value: string): string => {
  switch (kind) {
    case "email":
      return `${database}.email(${value})`
    case "phone":
      return `CASE WHEN regexp_full_match(${value}, '\\+[1-9][0-9]{6,14}') THEN ${value} ELSE ${phoneFunction}(location_id, ${value}) END`
    case "organization":
      return `lower(${database}.trimmed(${value}))`
    case "contact":
    case "identifier":
      return `nullif(${value}, '')`
  }
}

/** Makes the SQL of `pseudonymSql` usable on every connection until the scope ends. */
export const definePseudonyms = Effect.fn("masking.definePseudonyms")(function* (key: PseudonymKey) {
  const warehouse = yield* Warehouse
  const known = yield* query(
    { id: String, country: String },
    "SELECT id, coalesce(country, '') AS country FROM crm.locations"
  )
  const countries = new Map(known.map(({ id, country }) => [id, country]))
  const others = yield* queryTexts("SELECT DISTINCT location_id FROM meta.run_resources")
  const locations = new Set([...countries.keys(), ...others])
  const normalised = yield* Effect.promise(phoneNormaliser)
  yield* warehouse.textFunction(phoneFunction, 2, ([location, phone]) =>
    phone == null ? null : normalised(phone, countries.get(location ?? ""))
  )
  yield* Effect.acquireRelease(
    warehouse.run([`ATTACH ':memory:' AS ${database}`, ...macros(key, [...locations])].join(";\n")),
    () => Effect.ignore(warehouse.run(`DETACH ${database}`))
  )
})

const macros = (key: PseudonymKey, locations: ReadonlyArray<string>): ReadonlyArray<string> => {
  // HMAC: hash(outer pad || hash(inner pad || message)), where a pad is the key, filled up to a block, XOR a constant.
  const padSql = (constant: number) => {
    const cases = locations.map((location) => {
      const block = Buffer.alloc(64, constant)
      for (const [index, byte] of locationKey(key, location).entries()) block[index] = byte ^ constant
      return `WHEN ${literal(location)} THEN unhex('${block.toString("hex")}')`
    })
    return cases.length === 0 ? "NULL::BLOB" : `(CASE location_id ${cases.join(" ")} END)`
  }
  // 15 hexadecimal digits are 12 characters of base32; the last 2 of the 32 digits are filled up to 2 characters. More uses
  // of the macro's argument would take long to plan, because each gets a copy of the whole expression.
  const group = (first: number, digits: number, shift: number, length: number) =>
    `to_base(('0x' || substr(digits, ${first}, ${digits}))::BIGINT << ${shift}, 32, ${length})`
  const characters = [group(1, 15, 0, 12), group(16, 15, 0, 12), group(31, 2, 2, 2)].join(" || ")
  const inner = `sha256(${padSql(0x36)} || encode(kind || chr(0) || value))`
  return [
    `CREATE MACRO ${database}.trimmed(value) AS nullif(regexp_replace(nfc_normalize(value), '^\\s+|\\s+$', '', 'g'), '')`,
    // The address in `Ann <ann@example.com>`.
    `CREATE MACRO ${database}.email(value) AS lower(${database}.trimmed(regexp_replace(value, '^.*<([^<>]+@[^<>]+)>\\s*$', '\\1', 's')))`,
    `CREATE MACRO ${database}.hmac(location_id, kind, value) AS sha256(${padSql(0x5c)} || unhex(${inner}))`,
    `CREATE MACRO ${database}.base32(digits) AS translate(lower(${characters}), '0123456789abcdefghijklmnopqrstuv', 'abcdefghijklmnopqrstuvwxyz234567')`,
    `CREATE MACRO ${database}.pseudonym(location_id, kind, value) AS ${database}.base32(${database}.hmac(location_id, kind, value))`
  ]
}

/** Fewer digits are no number of a person. */
const digitsMin = 7

/**
 * Returns a function that writes a number in the form E.164. `country`: the two letters of the country whose numbers need no
 * country code. A number that fits no country is reduced to its digits. Null for a text that is no phone number.
 */
export const phoneNormaliser = async (): Promise<(text: string, country: string | undefined) => string | null> => {
  // 80 ms, so only masking loads it.
  const { isSupportedCountry, parsePhoneNumberFromString } = await import("libphonenumber-js")
  return (text, country = "") => {
    const digits = text.replaceAll(/\D/g, "")
    if (digits.length < digitsMin) return null
    const region = country.toUpperCase()
    return parsePhoneNumberFromString(text, isSupportedCountry(region) ? region : undefined)?.number ?? digits
  }
}
