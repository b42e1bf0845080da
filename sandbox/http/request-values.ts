import type { Data } from "../account/collection.ts"
import type { Field, Shape } from "./shape.ts"

/** Converts the values of a checked request to those that the handlers of routes receive. */

/** The parameters that the shape describes and the query contains, each in the type of its field. */
export const queryValues = (shape: Shape, query: URLSearchParams): Data => {
  const values = Object.entries(shape).map(([name, field]) => [name, queryValue(field, name, query)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

const queryValue = ({ type }: Field, name: string, query: URLSearchParams): unknown => {
  if (type === "array" || type === "any") {
    const sent = [...query.getAll(name), ...query.getAll(`${name}[]`)]
    if (type === "any") return sent.length > 1 ? sent : sent[0]
    return sent.length === 0 ? undefined : sent.flatMap((item) => item.split(",")).map((item) => item.trim())
  }
  const sent = query.get(name) ?? ""
  if (sent === "") return undefined
  return type === "integer" || type === "number" ? Number(sent) : type === "boolean" ? sent === "true" : sent
}

/** Removes the nulls of a body, except in members of the type `any`. */
export const withoutNulls = (shape: Shape, body: Data): Data => {
  const members = Object.entries(body).filter(([name, value]) => value !== null || shape[name]?.type === "any")
  return Object.fromEntries(
    members.map(([name, value]) => [name, shape[name]?.type === "any" ? value : withoutInnerNulls(value)])
  )
}

const withoutInnerNulls = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(withoutInnerNulls)
  const members = Object.entries(value).filter(([, own]) => own !== null)
  return Object.fromEntries(members.map(([name, own]) => [name, withoutInnerNulls(own)]))
}

/** Limits the requested page length to `maxLength`; 0 means no limit. */
export const cutPages = (values: Data, maxLength: number): Data => {
  if (maxLength === 0) return values
  const cut = Object.entries(values).map(([name, value]) => {
    const isLong = (name === "limit" || name === "pageLimit") && Number(value) > maxLength
    return [name, isLong ? (typeof value === "string" ? String(maxLength) : maxLength) : value]
  })
  return Object.fromEntries(cut)
}
