/** Takes out of records what would open something for whoever reads it: no store has it, whatever the settings say. */
import { type Fields, fieldNamed } from "./fields.ts"
import { isObject } from "./json.ts"
import { type Resource, fieldsOf } from "./resource.ts"

/** `undefined` if the definition names no secret. Of records with secrets, pictures inside texts go too: they are signatures. */
export const secretRemover = (resource: Resource): ((record: unknown) => unknown) | undefined =>
  hasSecret(fieldsOf(resource)) ? (record) => without(record, fieldsOf(resource)) : undefined

const hasSecret = (fields: Fields): boolean =>
  Object.values(fields).some((field) =>
    field.kind === "transport" ? field.isSecret === true : "fields" in field && hasSecret(field.fields)
  )

const without = (sent: unknown, fields: Fields): unknown => {
  if (Array.isArray(sent)) return sent.map((one) => without(one, fields))
  if (!isObject(sent)) return sent
  return Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) => {
      const field = fieldNamed(fields, {}, name)?.field
      if (field?.kind === "transport" && field.isSecret) return []
      if (typeof value === "string" && value.startsWith("data:image/")) return []
      return [[name, field && "fields" in field ? without(value, field.fields) : value]]
    })
  )
}
