/** A request as the API page shows it, with holes for the parts that change from page to page and run to run. */
import { written } from "./json.ts"

/** A moving part of a request; `extract` fills it. A parameter or list item around an unfilled hole is left out. */
export interface Placeholder {
  readonly placeholder: PlaceholderName
  /** How a time is written; `text` sends a number as a string. */
  readonly as?: "iso" | "epochMs" | "date" | "text"
  /** Which part of a cursor made of several values. */
  readonly part?: string
  /** Sent while the hole is unfilled. */
  readonly initial?: Template
}
type PlaceholderName =
  | "location"
  | "company"
  | "parent"
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
  /** `{location}`, `{company}`, `{parent}` and `{partition}` are filled in. Case and trailing slash are load-bearing. */
  readonly path: `/${string}`
  readonly parameters: Parameters
}

/** Parameters travel in the query string. */
export const get = (path: Request["path"], parameters: Parameters = {}): Request => ({
  method: "GET",
  path,
  parameters
})
/** Parameters travel in the JSON body. */
export const post = (path: Request["path"], parameters: Parameters = {}): Request => ({
  method: "POST",
  path,
  parameters
})

/** The location the run reads. */
export const location: Placeholder = { placeholder: "location" }
/** The company that owns the location. */
export const company: Placeholder = { placeholder: "company" }
/** Row of another table that is read under. */
export const parent: Placeholder = { placeholder: "parent" }
/** Records asked for at once. */
export const size: Placeholder = { placeholder: "size" }
/** Where the next page begins, or one part of it. */
export const cursor: Placeholder = { placeholder: "cursor" }
export const cursorPart = (part: string): Placeholder => ({ placeholder: "cursor", part })
export const cursorOr = (initial: Template): Placeholder => ({ placeholder: "cursor", initial })
/** Watermark less its overlap. */
export const since = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "since", as })
/** The window being read: from its start up to, not including, its end. */
export const windowStart = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "windowStart", as })
export const windowEnd = (as: "iso" | "epochMs" | "date"): Placeholder => ({ placeholder: "windowEnd", as })

/** What the holes are filled with; times in epoch milliseconds, UTC. */
export type Bindings = { readonly [H in PlaceholderName]?: unknown }

/** Fills the holes of a request: a path and parameters ready to send. */
export const bind = (request: Request, bindings: Bindings) => ({
  method: request.method,
  path: request.path.replace(/\{(location|company|parent|partition)\}/g, (_, name: PlaceholderName) =>
    // Nothing would make the path that of a list: what stands for it is refused on its way (api.ts).
    encodeURIComponent(written(bindings[name]).toWellFormed() || ".")
  ),
  parameters: bindParameters(request.parameters, bindings)
})
export type BoundRequest = ReturnType<typeof bind>

const bindParameters = (parameters: Parameters, bindings: Bindings): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters)
      .map(([name, template]) => [name, bindPart(template, bindings)] as const)
      .filter(([, value]) => value !== undefined)
  )

/** `undefined` means that the part depends on a hole nobody filled. */
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
