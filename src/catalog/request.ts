/** A request as in the API documents, with placeholders for the parts that differ from page to page or from run to run. */
import { membersOf, written } from "./json.ts"

/** A part of a request that `bind` replaces with a value. A parameter or list item without a value is omitted. */
export interface Placeholder {
  readonly placeholder: PlaceholderName
  /** The format of a timestamp; `text` sends a number as a string. */
  readonly as?: "iso" | "epochMs" | "date" | "text"
  /** The part of a cursor with several values, or the column of a row. */
  readonly part?: string
  /** Sent while the placeholder has no value, for example as the cursor of the first page. */
  readonly initial?: Template
}
type PlaceholderName =
  | "location"
  | "company"
  | "id"
  | "row"
  | "partition"
  | "size"
  | "cursor"
  | "since"
  | "windowStart"
  | "windowEnd"

export type Template = string | number | boolean | null | Placeholder | ReadonlyArray<Template> | Parameters
export interface Parameters {
  readonly [name: string]: Template
}

export interface Request {
  readonly method: "GET" | "POST"
  /**
   * As in the API documents: `{locationId}` and `{companyId}` are those of the run, `{partition}` is the name of the
   * partition, and any other name, for example `{contactId}`, is the id of the row that the request is for: the parent row
   * or the record itself. Only the request that reads a single record may name both. Case and a trailing slash matter.
   */
  readonly path: `/${string}`
  readonly parameters: Parameters
}

/** Sends its parameters in the query string. */
export const get = (path: Request["path"], parameters: Parameters = {}): Request => ({
  method: "GET",
  path,
  parameters
})
/** Sends its parameters in the JSON body. */
export const post = (path: Request["path"], parameters: Parameters = {}): Request => ({
  method: "POST",
  path,
  parameters
})

/** The location that the run reads. */
export const location: Placeholder = { placeholder: "location" }
/** The same, as payments, invoices and products name it. */
export const altLocation: Parameters = { altId: location, altType: "location" }
/** The company that owns the location. */
export const company: Placeholder = { placeholder: "company" }
/** The id of the parent row, if it is a parameter. */
export const parent: Placeholder = { placeholder: "id" }
/** The id of the record, in the request that reads a single record. */
export const recordId: Placeholder = { placeholder: "id" }
/** Another column of the record, in the request that reads a single record. */
export const column = (name: string): Placeholder => ({ placeholder: "row", part: name })
/** The page size. */
export const size: Placeholder = { placeholder: "size" }
/** Whether the client chooses the size of a page. */
export const asksForSize = ({ parameters }: Request): boolean =>
  JSON.stringify(parameters).includes(JSON.stringify(size))
/** The cursor; omitted from the request for the first page, unless it has an initial value. */
export const cursor: Placeholder = { placeholder: "cursor" }
export const cursorPart = (part: string): Placeholder => ({ placeholder: "cursor", part })
export const cursorOr = (initial: Template): Placeholder => ({ placeholder: "cursor", initial })
/** The watermark minus the overlap. */
export const since = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "since", as })
/** The current window, without its end. */
export const windowStart = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "windowStart", as })
export const windowEnd = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "windowEnd", as })

/** The values of the placeholders; timestamps are in epoch milliseconds. */
export type Bindings = { readonly [Name in PlaceholderName]?: unknown } & {
  /** The id of the parent row and its name in the path, if the path also names the record. */
  readonly parent?: { readonly name: string; readonly id: unknown } | undefined
}

const runParameters: ReadonlyMap<string, PlaceholderName> = new Map([
  ["locationId", "location"],
  ["companyId", "company"],
  ["partition", "partition"]
])
const pathParameter = /\{(\w+)\}/g

/** Replaces the placeholders of a request with their values. Throws if the path names more than one row besides the parent. */
export const bind = (request: Request, bindings: Bindings) => {
  const { parent } = bindings
  const names = rowParameters(request).filter((name) => name !== parent?.name)
  if (names.length > 1) throw new Error(`${request.path} names more than one row: ${names.join(", ")}`)
  const valueOf = (name: string) => (name === parent?.name ? parent.id : bindings[runParameters.get(name) ?? "id"])
  return {
    method: request.method,
    path: request.path.replace(pathParameter, (_, name: string) =>
      // An empty value would turn the path into that of a list; the API client rejects a path with a dot segment.
      encodeURIComponent(written(valueOf(name)).toWellFormed() || ".")
    ),
    parameters: bindParameters(request.parameters, bindings)
  }
}
export type BoundRequest = ReturnType<typeof bind>

/** The names in the path that stand for the id of a row. */
export const rowParameters = ({ path }: Request): ReadonlyArray<string> => [
  ...new Set(
    Array.from(path.matchAll(pathParameter), ([, name = ""]) => name).filter((name) => !runParameters.has(name))
  )
]

/** The columns of the record, besides its id, that the parameters contain. */
export const rowColumns = ({ parameters }: Request): ReadonlyArray<string> =>
  Object.values(parameters).flatMap((template) =>
    typeof template === "object" && template !== null && isPlaceholder(template) && template.placeholder === "row"
      ? (template.part ?? [])
      : []
  )

const bindParameters = (parameters: Parameters, bindings: Bindings): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters)
      .map(([name, template]) => [name, bindPart(template, bindings)] as const)
      .filter(([, value]) => value !== undefined)
  )

/** `undefined` if the part contains a placeholder without a value. */
const bindPart = (template: Template, bindings: Bindings): unknown => {
  if (typeof template !== "object" || template === null) return template
  if (isPlaceholder(template)) return bindPlaceholder(template, bindings)
  if (Array.isArray(template))
    return template.map((item) => bindPart(item, bindings)).filter((item) => item !== undefined)
  const parts = Object.entries(template).map(([name, part]) => [name, bindPart(part, bindings)] as const)
  return parts.every(([, part]) => part !== undefined) ? Object.fromEntries(parts) : undefined
}

const isPlaceholder = (template: object): template is Placeholder => "placeholder" in template

const bindPlaceholder = ({ placeholder, as, part, initial }: Placeholder, bindings: Bindings): unknown => {
  const whole = bindings[placeholder]
  const value = part === undefined ? whole : membersOf(whole)[part]
  if (value === undefined) return initial
  switch (as) {
    case "iso":
      return new Date(Number(value)).toISOString()
    case "date":
      return new Date(Number(value)).toISOString().slice(0, 10)
    case "text":
      return written(value)
    default:
      return value
  }
}
