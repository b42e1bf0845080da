/** A request as the API page shows it, with holes for the parts that change from page to page and run to run. */
import { written } from "./body.ts"

/** A moving part of a request; `extract` fills it. A parameter or list item around an unfilled hole is left out. */
export interface Hole {
  readonly hole: HoleName
  /** How a time is written; `text` sends a number as a string. */
  readonly as?: "iso" | "epochMs" | "date" | "text"
  /** Which part of a cursor made of several values. */
  readonly part?: string
  /** Sent while the hole is unfilled. */
  readonly initial?: Template
}
type HoleName = "location" | "company" | "parent" | "pass" | "size" | "cursor" | "since" | "windowStart" | "windowEnd"

export type Template = string | number | boolean | null | Hole | ReadonlyArray<Template> | Parameters
export interface Parameters {
  readonly [name: string]: Template
}

export interface Request {
  readonly method: "GET" | "POST"
  /** `{location}`, `{company}`, `{parent}` and `{pass}` are filled in. Case and trailing slash are load-bearing. */
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
export const location: Hole = { hole: "location" }
/** The company that owns the location. */
export const company: Hole = { hole: "company" }
/** Row of another table that is read under. */
export const parent: Hole = { hole: "parent" }
/** Records asked for at once. */
export const size: Hole = { hole: "size" }
/** Where the next page begins, or one part of it. */
export const cursor: Hole = { hole: "cursor" }
export const cursorPart = (part: string): Hole => ({ hole: "cursor", part })
export const cursorOr = (initial: Template): Hole => ({ hole: "cursor", initial })
/** Watermark less its overlap. */
export const since = (as: "iso" | "epochMs" | "date"): Hole => ({ hole: "since", as })
/** The window being read: from its start up to, not including, its end. */
export const windowStart = (as: "iso" | "epochMs" | "date"): Hole => ({ hole: "windowStart", as })
export const windowEnd = (as: "iso" | "epochMs" | "date"): Hole => ({ hole: "windowEnd", as })

/** What the holes are filled with; times in epoch milliseconds, UTC. */
export type Filling = { readonly [H in HoleName]?: unknown }

/** Fills the holes of a request: a path and parameters ready to send. */
export const fill = (request: Request, filling: Filling) => ({
  method: request.method,
  path: request.path.replace(/\{(location|company|parent|pass)\}/g, (_, name: HoleName) =>
    // Nothing would make the path that of a list: what stands for it is refused on its way (api.ts).
    encodeURIComponent(written(filling[name]).toWellFormed() || ".")
  ),
  parameters: fillParameters(request.parameters, filling)
})
export type FilledRequest = ReturnType<typeof fill>

const fillParameters = (parameters: Parameters, filling: Filling): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters)
      .map(([name, template]) => [name, fillPart(template, filling)] as const)
      .filter(([, value]) => value !== undefined)
  )

/** `undefined` means that the part depends on a hole nobody filled. */
const fillPart = (template: Template, filling: Filling): unknown => {
  if (typeof template !== "object" || template === null) return template
  if (isHole(template)) return fillHole(template, filling)
  if (Array.isArray(template))
    return template.map((item) => fillPart(item, filling)).filter((item) => item !== undefined)
  const parts = Object.entries(template).map(([name, part]) => [name, fillPart(part, filling)] as const)
  return parts.every(([, part]) => part !== undefined) ? Object.fromEntries(parts) : undefined
}

const isHole = (template: object): template is Hole => "hole" in template

const fillHole = ({ hole, as, part, initial }: Hole, filling: Filling): unknown => {
  const whole = filling[hole]
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
