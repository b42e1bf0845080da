/** The JSON Canonicalization Scheme (RFC 8785): one text for one value, so that a checksum stands for the value. */

export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** JavaScript sorts strings by UTF-16 code units and writes numbers as the RFC requires both. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(",")}]`
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value as { readonly [key: string]: Json })
    const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1))
    return `{${sorted.map(([key, member]) => `${canonicalJson(key)}:${canonicalJson(member)}`).join(",")}}`
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${value} is not a number of JSON`)
  if (typeof value === "string" && !value.isWellFormed())
    throw new Error("A text with half a surrogate pair has no UTF-8")
  return JSON.stringify(value)
}
