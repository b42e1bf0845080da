/** A request as the API's document shows it, with placeholders for the parts that change from page to page and from run to run. */
import { written } from "./json.ts"

/** A part of a request that `bind` fills in. A parameter or list item with an unbound placeholder is left out. */
export interface Placeholder {
  readonly placeholder: PlaceholderName
  /** How a time is sent; `text` sends a number as a string. */
  readonly as?: "iso" | "epochMs" | "date" | "text"
  /** One part of a cursor that has several values, or one column of a row. */
  readonly part?: string
  /** Sent while the placeholder is unbound. */
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
   * As in the API's document: `{locationId}` and `{companyId}` are those of the run, `{partition}` is the name of the
   * partition, and any other name, for example `{contactId}`, is the id of the row that the request is for: the parent row
   * or the record itself. Only the request that reads one record alone may name both. Case and a trailing slash matter.
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

/** Location that the run reads. */
export const location: Placeholder = { placeholder: "location" }
/** Company that owns the location. */
export const company: Placeholder = { placeholder: "company" }
/** Id of the parent row, where the request has it among its parameters. */
export const parent: Placeholder = { placeholder: "id" }
/** Id of the record, in the request that reads it alone. */
export const recordId: Placeholder = { placeholder: "id" }
/** Value of another column of the record, in the request that reads it alone. */
export const column = (name: string): Placeholder => ({ placeholder: "row", part: name })
/** Page size. */
export const size: Placeholder = { placeholder: "size" }
/** Where the next page begins, or one part of it. */
export const cursor: Placeholder = { placeholder: "cursor" }
export const cursorPart = (part: string): Placeholder => ({ placeholder: "cursor", part })
export const cursorOr = (initial: Template): Placeholder => ({ placeholder: "cursor", initial })
/** Watermark minus the overlap. */
export const since = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "since", as })
/** The window being read: from its start up to, but not including, its end. */
export const windowStart = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "windowStart", as })
export const windowEnd = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "windowEnd", as })

/** The values of the placeholders; times are in epoch milliseconds, UTC. */
export type Bindings = { readonly [Name in PlaceholderName]?: unknown } & {
  /** The id of the parent row, by its name in the path, where the path names the record as well. */
  readonly parent?: { readonly name: string; readonly id: unknown } | undefined
}

const runParameters: ReadonlyMap<string, PlaceholderName> = new Map([
  ["locationId", "location"],
  ["companyId", "company"],
  ["partition", "partition"]
])
const pathParameter = /\{(\w+)\}/g

/** Replaces the placeholders of a request with their values. */
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

/** Names in the path that stand for a row. */
export const rowParameters = ({ path }: Request): ReadonlyArray<string> => [
  ...new Set([...path.matchAll(pathParameter)].map(([, name]) => name!).filter((name) => !runParameters.has(name)))
]

const bindParameters = (parameters: Parameters, bindings: Bindings): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters)
      .map(([name, template]) => [name, bindPart(template, bindings)] as const)
      .filter(([, value]) => value !== undefined)
  )

/** `undefined` where the part has an unbound placeholder. */
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
  const value = part === undefined ? whole : (whole as Record<string, unknown> | undefined)?.[part]
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
