import type { Route } from "../http/route.ts"
import type { Field, Shape } from "../http/shape.ts"
import type { Data } from "../account/collection.ts"

/** The JSON Schema of a field. */
export const schemaOf = (field: Field): Data => {
  if (field.record !== undefined) return { $ref: `#/components/schemas/${field.record}` }
  const { choices, format, items, minimum, maxLength, maximum, description, type } = field
  return {
    ...(type !== "any" && { type }),
    ...(description !== undefined && { description: description }),
    ...(choices !== undefined && { enum: choices }),
    ...(format === "phone" ? { pattern: "^\\+\\d{5,15}$" } : format !== undefined && { format }),
    ...(minimum !== undefined && { minimum: minimum }),
    ...(maximum !== undefined && { maximum: maximum }),
    ...(maxLength !== undefined && { maxLength: maxLength }),
    ...(items !== undefined && { items: schemaOf(items) }),
    ...(field.fields !== undefined && Object.keys(field.fields).length > 0 && membersOf(field.fields))
  }
}

export const objectSchema = (shape: Shape): Data => ({ type: "object", ...membersOf(shape) })

/** The JSON Schema of a successful response. */
export const returnSchema = (returns: NonNullable<Route["returns"]>): Data =>
  isField(returns) ? schemaOf(returns) : objectSchema(returns)

/** The names of the resources to which a description refers. */
export const recordsIn = (schema: unknown, found = new Set<string>()): Set<string> => {
  if (typeof schema !== "object" || schema === null) return found
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$ref" && typeof value === "string") found.add(value.split("/").at(-1)!)
    else recordsIn(value, found)
  }
  return found
}

const membersOf = (shape: Shape): Data => {
  const members = Object.entries(shape).filter(([, field]) => !field.forbidden)
  const required = members.flatMap(([name, field]) => (field.required ? [name] : []))
  return {
    properties: Object.fromEntries(members.map(([name, field]) => [name, schemaOf(field)])),
    ...(required.length > 0 && { required })
  }
}

const isField = (returns: NonNullable<Route["returns"]>): returns is Field => typeof returns["type"] === "string"
