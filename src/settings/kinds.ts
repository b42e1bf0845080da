/** The kinds of values that settings have: what the file may hold, and how a flag or the environment writes it as text. */
import * as Schema from "effect/Schema"

export interface Kind<A> {
  readonly schema: Schema.Codec<A>
  /** Completes "expected …" in an error message. */
  readonly expected: string
  /** The value that a text stands for. A text that stands for none is returned as it is, and the schema rejects it. */
  readonly fromText: (text: string) => unknown
}

const asItIs = (text: string): unknown => text
const toNumber = (text: string): unknown => (Number.isFinite(Number(text)) ? Number(text) : text)
const toBoolean = (text: string): unknown => (text === "true" ? true : text === "false" ? false : text)

/** The items of a comma-separated list; blanks around them do not count, and neither do empty ones. */
export const commaSeparated = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

export const text: Kind<string> = {
  schema: Schema.String.check(Schema.isNonEmpty()),
  expected: "a text that is not empty",
  fromText: asItIs
}

export const httpAddress: Kind<string> = {
  schema: Schema.String.check(
    Schema.makeFilter((address) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))
  ),
  expected: "an http or https address",
  fromText: asItIs
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

export const enumeration = <const Word extends string>(words: ReadonlyArray<Word>): Kind<Word> => ({
  schema: Schema.Literals(words),
  expected: listed(words, "or"),
  fromText: asItIs
})

/** In text, `none` is the empty list: an empty variable counts as not set. */
export const anyOf = <const Word extends string>(words: ReadonlyArray<Word>): Kind<ReadonlyArray<Word>> => ({
  schema: Schema.Array(Schema.Literals(words)),
  expected: `a list of ${listed(words, "and")}`,
  fromText: (list) => (list === "none" ? [] : commaSeparated(list))
})

/** The file alone can write it. */
export const oneOfByName = <const Word extends string>(
  words: ReadonlyArray<Word>
): Kind<Readonly<Record<string, Word>>> => ({
  schema: Schema.Record(Schema.String, Schema.Literals(words)),
  expected: `a table whose values are ${listed(words, "or")}`,
  fromText: asItIs
})

const listed = (words: ReadonlyArray<string>, conjunction: string): string => {
  const quoted = words.map((word) => `"${word}"`)
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${conjunction} ${quoted.at(-1)}`
}
