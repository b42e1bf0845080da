/** The types of settings: the values that the file may contain, and how a flag or a variable writes them as text. */
import * as Schema from "effect/Schema"
import { alarmKinds } from "../values/alarm.ts"
import { durationMs } from "../values/duration.ts"

export interface Kind<A> {
  readonly schema: Schema.Codec<A>
  /** Completes "expected …" in an error message. */
  readonly expected: string
  /** Parses a text. A text that it cannot parse is returned unchanged, and the schema rejects it. */
  readonly fromText: (text: string) => unknown
}

const unchanged = (text: string): unknown => text
const toNumber = (text: string): unknown => (Number.isFinite(Number(text)) ? Number(text) : text)
const toBoolean = (text: string): unknown => (text === "true" ? true : text === "false" ? false : text)

/** The items of a comma-separated list, trimmed, without empty ones. */
export const commaSeparated = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

export const text: Kind<string> = {
  schema: Schema.String.check(Schema.isNonEmpty()),
  expected: "a text that is not empty",
  fromText: unchanged
}

export const keyId: Kind<string> = {
  schema: Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,8}$/)),
  expected: "1 to 8 lower-case letters and digits",
  fromText: unchanged
}

export const httpAddress: Kind<string> = {
  schema: Schema.String.check(
    Schema.makeFilter((address) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))
  ),
  expected: "an http or https address",
  fromText: unchanged
}

export const absolutePath: Kind<string> = {
  schema: Schema.String.check(Schema.isPattern(/^\/[^\0\n]*$/)),
  expected: "an absolute path",
  fromText: unchanged
}

export const mailAddress: Kind<string> = {
  schema: Schema.String.check(Schema.isPattern(/^[^\s@,;<>"]+@[^\s@,;<>"]+$/)),
  expected: "an address such as operations@example.com",
  fromText: unchanged
}

export const duration: Kind<string> = {
  schema: Schema.String.check(
    Schema.isPattern(/^\d{1,6}[smhd]$/),
    Schema.makeFilter((text) => durationMs(text) !== undefined)
  ),
  expected: "a duration such as 30m, 26h or 7d",
  fromText: unchanged
}

export const date: Kind<string> = {
  schema: Schema.String.check(
    Schema.isPattern(/^\d{4}-\d\d-\d\d$/),
    Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)))
  ),
  expected: "a date such as 2027-01-31",
  fromText: unchanged
}

/** A kind of alarm, and after a colon what it is about: `freshness:contacts`. */
export const alarmName: Kind<string> = {
  schema: Schema.String.check(Schema.isPattern(new RegExp(`^(${alarmKinds.join("|")})(:.+)?$`))),
  expected: `${alarmKinds.join(", ")}, or one of them with what it is about, such as freshness:contacts`,
  fromText: unchanged
}

export const textList: Kind<ReadonlyArray<string>> = {
  schema: Schema.Array(Schema.String),
  expected: "a list of texts",
  fromText: commaSeparated
}

export const boolean: Kind<boolean> = { schema: Schema.Boolean, expected: "true or false", fromText: toBoolean }

export const positiveNumber: Kind<number> = {
  schema: Schema.Finite.check(Schema.isGreaterThan(0)),
  expected: "a number greater than 0",
  fromText: toNumber
}

export const numberFrom = (minimum: number): Kind<number> => ({
  schema: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(minimum)),
  expected: `a number that is ${minimum} or more`,
  fromText: toNumber
})

export const share: Kind<number> = {
  schema: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  expected: "a number from 0 to 1",
  fromText: toNumber
}

export const enumeration = <const Value extends string>(values: ReadonlyArray<Value>): Kind<Value> => ({
  schema: Schema.Literals(values),
  expected: listed(values, "or"),
  fromText: unchanged
})

/** In text, `none` is the empty list, because an empty variable counts as not set. */
export const anyOf = <const Value extends string>(values: ReadonlyArray<Value>): Kind<ReadonlyArray<Value>> => ({
  schema: Schema.Array(Schema.Literals(values)),
  expected: `a list of ${listed(values, "and")}`,
  fromText: (list) => (list === "none" ? [] : commaSeparated(list))
})

/** Only the file can set it. */
export const oneOfByName = <const Value extends string>(
  values: ReadonlyArray<Value>
): Kind<Readonly<Record<string, Value>>> => ({
  schema: Schema.Record(Schema.String, Schema.Literals(values)),
  expected: `a table whose values are ${listed(values, "or")}`,
  fromText: unchanged
})

const periodText = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,3} (days|months|years)$/))

export const period: Kind<string> = {
  schema: periodText,
  expected: 'a period such as "90 days", "24 months" or "7 years"',
  fromText: unchanged
}

/** Periods by name. Only the file can set it. */
export const periodsByName: Kind<Readonly<Record<string, string>>> = {
  schema: Schema.Record(Schema.String, periodText),
  expected: 'a table whose values are periods such as "90 days", "24 months" or "7 years"',
  fromText: unchanged
}

const listed = (values: ReadonlyArray<string>, conjunction: string): string => {
  const quoted = values.map((value) => `"${value}"`)
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${conjunction} ${quoted.at(-1)}`
}
