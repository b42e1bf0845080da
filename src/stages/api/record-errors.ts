/**
 * What the error of a request says about the record that it names. A proxy, a gateway and another service answer with the same
 * statuses, so only the words of the service itself about this very record are evidence.
 */
import type { BoundRequest } from "../../catalog/request.ts"

/** A request and the path of its definition, with the names of its parameters. */
export interface Named {
  readonly request: Pick<BoundRequest, "path" | "parameters">
  readonly template: string | undefined
}

/** The error in the form that the service documents: its status and a message. `undefined` for anything else. */
export const ownMessage = (status: number, body: Buffer): string | undefined => {
  const error = parsed(body)
  if (Number(error?.["statusCode"] ?? error?.["status"]) !== status) return undefined
  const message = [error!["message"]].flat()
  return message.every((part) => typeof part === "string") && !isOfRouter.test(message.join(" "))
    ? message.join(" ")
    : undefined
}
/** What routers say of a path that they do not know, in whatever form. */
const isOfRouter = /^cannot (get|post) |no route/i

/** Whether a message of the service says that the record of a request does not exist. */
export const saysNotFound = (message: string, { request, template }: Named): boolean => {
  if (!isNotFound.test(message)) return false
  const [text, kinds] = [words(message), kindsIn(template ?? request.path)]
  // A part of the service that is missing is no record.
  if (partsOfServices.some((part) => text.includes(` ${part} `) && !kinds.some((kind) => kind.includes(part))))
    return false
  const ids = [...idsIn(request.path, template), ...idsAmong(request.parameters)]
  if (ids.some((id) => isNamedIn(message, id))) return true
  // The message names no id, or that of another record.
  return !namesAnId.test(message) && kinds.some((kind) => text.includes(` ${kind} `))
}
const partsOfServices = "service server endpoint route upstream gateway handler index cache database".split(" ")
/** Whether a message has the id, and not only another one of which it is a part. */
const isNamedIn = (message: string, id: string): boolean =>
  message
    .split(id)
    .some((before, n, parts) => n + 1 < parts.length && !/[\w-]$/.test(before) && !/^[\w-]/.test(parts[n + 1]!))
const isNotFound = /not (be )?found|(does|did) ?n[o']t exist|no longer exist|no such|(was|been|is) deleted/i
const namesAnId = /\b(?=\w*\d)[\w-]{8,}\b/

/** Whether the request names a record, and not only the location. */
export const namesRecord = ({ request, template }: Named): boolean => idsIn(request.path, template).length > 0

/** The segments of a path that stand for records. */
const idsIn = (path: string, template: string | undefined): ReadonlyArray<string> => {
  const names = template?.split("/") ?? []
  return path
    .split("/")
    .filter((_, n) => /^\{(?!locationId|companyId).*\}$/.test(names[n] ?? ""))
    .map((segment) => decodeURIComponent(segment))
}

/** The parameters that name records, as a coupon is named by its id and its code. */
const idsAmong = (parameters: BoundRequest["parameters"]): ReadonlyArray<string> =>
  Object.entries(parameters).flatMap(([name, value]) =>
    /^(id|code|(?!alt|location|company)\w+Id)$/.test(name) && typeof value === "string" && value !== "" ? [value] : []
  )

/** What the segments of a path are called in a message: `custom field` for `customFields`. The location has its own errors. */
const kindsIn = (template: string): ReadonlyArray<string> =>
  template
    .replace(/\/(locations|companies)\/\{\w+\}/, "")
    .split("/")
    .filter((segment) => segment !== "" && !segment.startsWith("{"))
    .map((segment) => words(segment.replaceAll(/([a-z])([A-Z])/g, "$1 $2")).trim())
    .map((kind) => kind.replace(/ies$/, "y").replace(/s$/, ""))

/** In lower case, with a blank before and after each word. */
const words = (text: string): string => ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")} `

const parsed = (body: Buffer): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"))
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
