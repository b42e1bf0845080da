/** What may be shown of texts that the service sent: their shape, because the report has readers who may not see personal data. */
import { type Reason, sentenceOf } from "../../values/reason.ts"

/** `jane@example.com` becomes `aaa@aaa.aaa`, `+1817555` becomes `+00000`. Runs are cut, so lengths do not identify anyone. */
export const shape = (value: string): string => {
  const sent = value.slice(0, inspectedMax)
  const text = sent
    .replaceAll(/\p{Lu}+/gu, (run) => "A".repeat(Math.min([...run].length, 3)))
    .replaceAll(/[\p{L}\p{M}]+/gu, (run) => (/^A+$/.test(run) ? run : lowerOf(run)))
    .replaceAll(/\p{N}+/gu, (run) => "0".repeat(Math.min([...run].length, 5)))
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[^\u0020-\u007e]+/gu, "?")
  return text.length > shownMax || value.length > inspectedMax ? `${text.slice(0, shownMax)}…` : text
}
const inspectedMax = 200
const shownMax = 40

/** Upper-case letters are `A` already. */
const lowerOf = (run: string): string => {
  const [leading = ""] = /^A*/.exec(run) ?? []
  const rest = Math.min([...run].length - leading.length, 3)
  return leading + "a".repeat(rest)
}

/** A name that the account has chosen, such as that of a pipeline. It is no personal data, unless somebody put some in. */
export const ownName = (name: unknown): string => {
  const clean = withoutContacts(String(name ?? "unknown"))
    .replaceAll(/\s+/g, " ")
    .trim()
  return clean.length > 60 ? `${clean.slice(0, 60)}…` : clean
}

const withoutContacts = (text: string): string =>
  text.replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;]+/g, shape).replaceAll(/\+?\d[\d\s()/-]{6,}\d/g, shape)

/** The name of a field, or its shape if it is not a name that a programmer would choose. */
export const fieldName = (name: string): string => (/^[A-Za-z_$][\w$.-]{0,63}$/.test(name) ? name : shape(name))

/** A reason why a resource is not complete, without the texts of the service that it may quote. */
export const cleanReason = (reason: Reason): string => {
  const clean = withoutContacts(ownSentence(reason)).replaceAll(/\s+/g, " ")
  return clean.length > reasonMax ? `${clean.slice(0, reasonMax)}…` : clean
}
const reasonMax = 240

const ownSentence = (reason: Reason): string => {
  switch (reason._tag) {
    case "SchemaFrozen":
      return "the schema is frozen, and the service sent new fields or values; ./sluice status names them"
    case "Text":
      return ownCount.test(reason.text) ? reason.text : reason.text.replace(answer, "$1the service answered $2")
    default:
      return sentenceOf(reason, ({ answered, message }) =>
        answered === undefined ? message : `the service answered ${answered}`
      )
  }
}

/** In a text that was stored without its facts: a count at its beginning, which is no HTTP status. */
const ownCount = /^\d+ (records have|of the records|\w+ were not read)/
/** In such a text: an HTTP status, and the message of the service. */
const answer = /(^|: )([1-5]\d\d) .*$/s
