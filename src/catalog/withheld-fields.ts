/** Custom fields whose values are kept out: they are named by an id, or by a key with or without its model. */
import { type Withheld, type WithheldCustomFields, isFieldWithheld, shortKey } from "./withheld.ts"

export interface WithheldFields {
  /** Whether what names the field of a value says that it is kept out. A field that is not known may be any. */
  readonly isOut: (texts: ReadonlyArray<string>) => boolean
  /** Whether a name is the id of a field that is kept out. */
  readonly isId: (name: string) => boolean
  /** Whether an object that no definition knows names such a field, and has a value. */
  readonly isValue: (sent: unknown) => boolean
}

/** `keys`: of the fields of the location by their ids; `undefined` while they are not known. */
export const withheldFields = (
  customFields: WithheldCustomFields | undefined,
  keys: ReadonlyMap<string, string> | undefined
): WithheldFields => {
  if (customFields === undefined) return { isOut: () => false, isId: () => false, isValue: () => false }
  const isFieldOut = (text: string): boolean => {
    const own = text.replaceAll(/[{}\s]/g, "")
    const isNamed = (full: string) => full === own || shortKey(full) === own
    const known = keys?.get(text) ?? keys?.values().find(isNamed)
    if (known === undefined && looksLikeId(text)) return true
    return isFieldWithheld(customFields, known ?? own) || customFields.keys.values().some(isNamed)
  }
  const isOut = (texts: ReadonlyArray<string>) => keys === undefined || texts.length === 0 || texts.some(isFieldOut)
  return {
    isOut,
    isId: (name) => keys?.has(name) === true && isFieldOut(name),
    isValue: (sent) => {
      const texts = fieldTexts(sent)
      return texts.length > 0 && Object.keys(sent as object).some((name) => /value/i.test(name)) && isOut(texts)
    }
  }
}

/** What may name the custom field of a value. */
export const fieldTexts = (sent: unknown): ReadonlyArray<string> =>
  typeof sent === "object" && sent !== null && !Array.isArray(sent)
    ? Object.entries(sent).flatMap(([name, one]) =>
        /^(_?id|key|field_?key|(custom_?)?field_?id)$/i.test(name) && typeof one === "string" && one !== "" ? [one] : []
      )
    : []

/** The keys of those that are kept out, with and without their models. */
export const fieldNames = ({ customFields }: Withheld): ReadonlyArray<string> =>
  customFields === undefined
    ? []
    : [...customFields.keys, ...Object.keys(customFields.classOf)]
        .filter((key) => isFieldWithheld(customFields, key))
        .flatMap((key) => [key, shortKey(key)])

/** Whether a text looks like an id of the service, and not like the key of a field of a form. */
const looksLikeId = (text: string): boolean => /^[A-Za-z0-9]{15,}$/.test(text)
