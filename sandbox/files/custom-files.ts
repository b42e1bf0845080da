import type { Data } from "../account/collection.ts"
import type { AccountContext } from "../account/context.ts"
import { type Drawing, type Drawn, draw, drawAll } from "./drawing.ts"

/** The values of custom fields for files and signatures, in the shapes of the live service. */
export const fileValues = (sent: unknown, drawing: Drawing, member: "value" | "fieldValue"): unknown => {
  if (!Array.isArray(sent)) return sent
  return sent.map((item: Data) => {
    const dataType = fileTypes(drawing.context).get(String(item["id"]))
    if (dataType === undefined) return item
    const id = String(item["id"])
    if (member === "value") {
      // A malformed value stays.
      const isUsual = typeof item["value"] === "string" || isObject(item["value"])
      return isUsual ? { ...item, value: valueOf(dataType, id, drawing) } : item
    }
    if (dataType === "FILE_UPLOAD" && drawing.random.chance(0.7)) {
      return { id, fieldValueFiles: filesOf(id, drawing).map((file) => inner(file, id)) }
    }
    return { id, fieldValue: valueOf(dataType, id, drawing) }
  })
}

/** The same values among the answers to a form. */
export const fileAnswers = (others: Data, drawing: Drawing): Data =>
  Object.fromEntries(
    Object.entries(others).map(([id, answer]) => {
      const dataType = fileTypes(drawing.context).get(id)
      return [id, dataType === undefined ? answer : valueOf(dataType, id, drawing)]
    })
  )

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

const valueOf = (dataType: string, id: string, drawing: Drawing): unknown => {
  if (dataType === "FILE_UPLOAD") {
    return Object.fromEntries(filesOf(id, drawing).map((file) => [file.id, inner(file, id)]))
  }
  const signature = draw(drawing, id, { isImage: true, isReadSingly: isReadSingly(drawing) })
  return drawing.random.chance(0.3) ? signature.url : inner(signature, id)
}

const filesOf = (id: string, drawing: Drawing): ReadonlyArray<Drawn> =>
  drawAll(drawing, id, drawing.random.pick([1, 1, 2, 3]), {
    mayBeDocument: true,
    isReadSingly: isReadSingly(drawing)
  })

/** No operation reads a single submission. */
const isReadSingly = ({ at }: Drawing): boolean => /^(contacts|opportunities)\//.test(at)

const inner = ({ id, name, size, type, url }: Drawn, fieldId: string): Data => ({
  meta: { fieldname: fieldId, originalname: name, encoding: "7bit", mimetype: type, size, uuid: id },
  url,
  documentId: /\/(d\d\d[^/]+)\//.exec(url)?.[1] ?? id
})

/** The data types of the fields for files, by id. */
const fileTypes = (context: AccountContext): ReadonlyMap<string, string> => {
  const known = typesOf.get(context)
  if (known !== undefined) return known
  const files = context.customFields.filter(({ dataType }) => dataType === "FILE_UPLOAD" || dataType === "SIGNATURE")
  const types = new Map(files.map(({ dataType, id }) => [id, dataType]))
  typesOf.set(context, types)
  return types
}

const typesOf = new WeakMap<AccountContext, ReadonlyMap<string, string>>()
