/** What a setting is: what may be written, and what the program gets of it. The settings themselves are in src/settings. */
import type * as Redacted from "effect/Redacted"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { resolve } from "node:path"
import { durationMs } from "./text.ts"
import type { Finding } from "./finding.ts"

export interface Kind<Written, Value = Written> {
  /** Of the value in the file. */
  readonly schema: Schema.Codec<Written>
  /** Completes "expected …" in an error message. */
  readonly expected: string
  /** Parses the text of a flag or a variable. A text that it cannot parse is returned unchanged, and the schema rejects it. */
  readonly fromText: (text: string) => unknown
  /** What the program gets of a value that the schema accepts. */
  toValue(written: Written): Value
}

/** The flags of settings, by their names in the program: `baseUrl` is `--base-url`. */
export interface SettingFlags {
  readonly baseUrl?: string | undefined
  readonly location?: string | undefined
  readonly output?: string | undefined
}

export interface Setting<Written = unknown, Value = unknown> extends Kind<Written, Value> {
  /** One sentence. */
  readonly description: string
  readonly environment?: string
  readonly flag?: keyof SettingFlags
  /** Its value is never shown; it may be written as a reference (`env:`, `file:`, `cmd:`). */
  readonly secret?: true
  readonly default?: Written
  /** See `place`. */
  readonly isPlace?: true
  /** It replaces another setting of the item, so the example has it as a comment of a comment. */
  readonly alternative?: true
  /** The value in config/example.toml. Default: the default of the setting. */
  readonly example?: Written
}

/** The settings of a section or of an item of a list, by their keys in the file. */
export type Section = Readonly<Record<string, Setting>>

export const setting = <Written, Value, const Rest extends Omit<Setting<Written, Value>, keyof Kind<Written>>>(
  kind: Kind<Written, Value>,
  rest: Rest
) => ({ ...kind, ...rest })

export interface Secret {
  /** As the settings contain it: the secret itself, or a reference to it. */
  readonly reference: string
  /** Reads the reference when it is needed, because one may run a command; each is read once, unless `isAgain`. */
  readonly read: (isAgain?: boolean) => Result.Result<Redacted.Redacted, UnavailableSecret>
}

export type UnavailableSecret = Finding<
  "wrong",
  {
    readonly _tag: "SecretUnavailable" | "SecretUnusable"
    readonly reference: string
    readonly cause: string
  }
>

export type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** The name in the program of a name in the file: `baseUrl` of `base_url`. */
export const camelCase = <Name extends string>(name: Name): CamelCase<Name> =>
  // As the type says.
  name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<Name>

type ValueOf<One> = One extends { readonly secret: true }
  ? Secret | undefined
  : One extends Kind<infer _, infer Value>
    ? One extends { readonly default: unknown }
      ? Value
      : Value | undefined
    : never

/** What the program gets of the settings of a section. */
export type ValuesOf<Settings> = {
  readonly [Key in keyof Settings as CamelCase<Key>]: ValueOf<Settings[Key]>
}

/** An item of a list, as the file contains it. What is missing or wrong is reported and absent. */
export type ItemOf<Settings> = {
  readonly [Key in keyof Settings]?: Settings[Key] extends Kind<infer Written, infer _> ? Written : never
}

/** `--base-url` of `baseUrl`. */
export const flagText = (flag: string): string =>
  `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** The items of a comma-separated list, trimmed, without empty ones. */
export const commaSeparated = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

const unchanged = <A>(value: A): A => value
const toNumber = (text: string): unknown => (Number.isFinite(Number(text)) ? Number(text) : text)
const toBoolean = (text: string): unknown => (text === "true" ? true : text === "false" ? false : text)

const kind = <Written>(
  expected: string,
  schema: Schema.Codec<Written>,
  fromText: (text: string) => unknown = unchanged
): Kind<Written> => ({ expected, schema, fromText, toValue: unchanged })

export const pattern = (expected: string, regex: RegExp) => kind(expected, Schema.String.check(Schema.isPattern(regex)))

const byName = <Value>(schema: Schema.Codec<Value>): Schema.Codec<Readonly<Record<string, Value>>> =>
  Schema.Record(Schema.String, schema)

const listed = (values: ReadonlyArray<string>, conjunction: string): string => {
  const quoted = values.map((value) => `"${value}"`)
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${conjunction} ${quoted.at(-1)}`
}

export const text = kind("a text that is not empty", Schema.String.check(Schema.isNonEmpty()))

/** A path in a file has the folder of the file before it when it is checked. */
const isExpanded = Schema.makeFilter((path: string) => !path.split("/").includes("~"))

/** A path, or an address. In a settings file, a path is relative to that file. */
export const place = {
  ...kind("a path, without ~, which only a shell expands", text.schema.check(isExpanded)),
  isPlace: true
} as const

/** The program gets its absolute path. */
export const folder: Kind<string> & { readonly isPlace: true } = { ...place, toValue: (path) => resolve(path) }

export const absolutePath = pattern("an absolute path", /^\/[^\0\n]*$/)

export const keyId = pattern("1 to 8 lower-case letters and digits", /^[a-z0-9]{1,8}$/)

export const mailAddress = pattern("an address such as operations@example.com", /^(?!-)[^\s@,;<>"]+@[^\s@,;<>"]+$/)

export const httpAddress = kind(
  "an http or https address",
  Schema.String.check(
    Schema.makeFilter((address) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))
  )
)

/** The program gets milliseconds. */
export const duration: Kind<string, number> = {
  ...kind(
    "a duration such as 30m, 26h or 7d",
    Schema.String.check(
      Schema.isPattern(/^\d{1,6}[smhd]$/),
      Schema.makeFilter((text) => durationMs(text) !== undefined)
    )
  ),
  toValue: (text) => durationMs(text) ?? Number.NaN
}

/** The program gets the beginning of the day in UTC, epoch milliseconds. */
export const date: Kind<string, number> = {
  ...kind(
    "a date such as 2027-01-31",
    Schema.String.check(
      Schema.isPattern(/^\d{4}-\d\d-\d\d$/),
      Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)))
    )
  ),
  toValue: Date.parse
}

const aPeriod = '"90 days", "24 months" or "7 years"'
export const period = pattern(`a period such as ${aPeriod}`, /^[1-9]\d{0,3} (days|months|years)$/)

/** Only the file can set it. */
export const periodsByName = kind(`a table whose values are periods such as ${aPeriod}`, byName(period.schema))

export const textList = kind("a list of texts", Schema.Array(Schema.String), commaSeparated)

export const boolean = kind("true or false", Schema.Boolean, toBoolean)

export const positiveNumber = kind("a number greater than 0", Schema.Finite.check(Schema.isGreaterThan(0)), toNumber)

export const numberFrom = (minimum: number) =>
  kind(`a number that is ${minimum} or more`, Schema.Finite.check(Schema.isGreaterThanOrEqualTo(minimum)), toNumber)

export const share = kind(
  "a number from 0 to 1",
  Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  toNumber
)

export const enumeration = <const Value extends string>(values: ReadonlyArray<Value>) =>
  kind(listed(values, "or"), Schema.Literals(values))

/** In text, `none` is the empty list, because an empty variable counts as not set. */
export const anyOf = <const Value extends string>(values: ReadonlyArray<Value>): Kind<ReadonlyArray<Value>> =>
  kind(`a list of ${listed(values, "and")}`, Schema.Array(Schema.Literals(values)), (list) =>
    list === "none" ? [] : commaSeparated(list)
  )

/** Only the file can set it. */
export const oneOfByName = <const Value extends string>(values: ReadonlyArray<Value>) =>
  kind(`a table whose values are ${listed(values, "or")}`, byName(Schema.Literals(values)))
