/** Answers that are wrong although they arrive whole: each a function of the right answer. */
import type { Route } from "./routes.ts"

export interface Answered {
  readonly status: number
  readonly text: string
  readonly contentType?: string
}

interface GlitchKind {
  /** What the answer is about. */
  readonly of: ReadonlyArray<Route["kind"]>
  readonly alter: (text: string, route: Route, random: () => number) => Answered | undefined
  /** Whether nobody could take the answer for a right one, so that what it was about must not be called complete. */
  readonly isPlain: boolean
}

const ok = (body: unknown): Answered => ({ status: 200, text: JSON.stringify(body) })
const lists = ["list", "children"] as const
const page = "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body><h1>404 Not Found</h1></body>\r\n</html>\r\n"

/** A copy of the answer with another list; `undefined` if the answer has none. */
const withList = (
  text: string,
  path: string,
  change: (list: ReadonlyArray<unknown>) => unknown,
  more: Record<string, unknown> = {}
): Answered | undefined => {
  const body = JSON.parse(text) as Record<string, unknown>
  const names = path.split(".")
  let inner: Record<string, unknown> = body
  for (const name of names.slice(0, -1)) inner = inner[name] as Record<string, unknown>
  let last = names.at(-1)!
  // The redirects come in `data` or one level deeper.
  if (!Array.isArray(inner?.[last]) && Array.isArray((inner?.[last] as Record<string, unknown>)?.["data"])) {
    inner = inner[last] as Record<string, unknown>
    last = "data"
  }
  if (!Array.isArray(inner?.[last])) return undefined
  inner[last] = change(inner[last] as ReadonlyArray<unknown>)
  return ok({ ...body, ...more })
}

const totals = new Set(["total", "totalCount", "count"])
/** A copy in which every total is changed, wherever it is. */
const withTotals = (value: unknown, change: (total: number) => number): unknown => {
  if (Array.isArray(value)) return value.map((one) => withTotals(one, change))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      totals.has(name) && typeof one === "number"
        ? change(one)
        : name === "meta" || name === "total"
          ? withTotals(one, change)
          : one
    ])
  )
}

export const glitchKinds = {
  "error in a 200": {
    of: [...lists, "record"],
    isPlain: true,
    alter: () => ok({ success: false, message: "Upstream timed out" })
  },
  "status in a 200": {
    of: [...lists, "record"],
    isPlain: true,
    alter: () => ok({ statusCode: 500, message: "internal", error: "Internal Server Error" })
  },
  "no list": { of: lists, isPlain: true, alter: () => ok({}) },
  "null list": { of: lists, isPlain: true, alter: (text, { records }) => withList(text, records, () => null) },
  "404 for lists": {
    of: lists,
    isPlain: true,
    alter: () => ({ status: 404, text: JSON.stringify({ statusCode: 404, message: "Not Found" }) })
  },
  "404 page for lists": {
    of: lists,
    isPlain: true,
    alter: () => ({ status: 404, text: page, contentType: "text/html" })
  },
  "empty list": { of: lists, isPlain: false, alter: (text, { records }) => withList(text, records, () => []) },
  "short list": {
    of: lists,
    isPlain: false,
    alter: (text, { records }, random) => withList(text, records, (list) => list.filter(() => random() < 0.5))
  },
  "high total": {
    of: ["list"],
    isPlain: false,
    alter: (text) => ok(withTotals(JSON.parse(text), (total) => total + 1))
  },
  "low total": {
    of: ["list"],
    isPlain: false,
    alter: (text) => ok(withTotals(JSON.parse(text), (total) => Math.max(0, total - 1)))
  },
  "empty list beside an error": {
    of: lists,
    isPlain: true,
    alter: (text, { records }) => withList(text, records, () => [], { message: "Upstream timed out" })
  },
  "empty list beside a flag": {
    of: lists,
    isPlain: true,
    alter: (text, { records }) => withList(text, records, () => [], { meta: { total: 0, partial: true } })
  },
  "404 page for records": {
    of: ["record"],
    isPlain: false,
    alter: () => ({ status: 404, text: page, contentType: "text/html" })
  },
  "404 of a gateway for records": {
    of: ["record"],
    isPlain: false,
    alter: () => ({ status: 404, text: JSON.stringify({ message: "no Route matched with those values" }) })
  },
  "404 about another record": {
    of: ["record", "children"],
    isPlain: false,
    alter: () => ({ status: 404, text: JSON.stringify({ statusCode: 404, message: "Session s-1234567890 not found" }) })
  },
  "empty 404 for records": { of: ["record"], isPlain: false, alter: () => ({ status: 404, text: "" }) },
  "403 for a record": {
    of: ["record", "children"],
    isPlain: true,
    alter: (_, { namesRecord }) =>
      namesRecord
        ? { status: 403, text: JSON.stringify({ statusCode: 403, message: "No access to this location." }) }
        : undefined
  }
} as const satisfies Record<string, GlitchKind>

export type GlitchName = keyof typeof glitchKinds

/** A glitch of one night. */
export interface Glitch {
  readonly name: GlitchName
  readonly of: Route["kind"]
  /** One collection, or all. */
  readonly collection?: string
  /** The share of the answers. */
  readonly rate: number
}

export const isPlain = ({ name }: Glitch): boolean => glitchKinds[name].isPlain

export const glitched = (
  answered: Answered,
  { collection, name, of, rate }: Glitch,
  route: Route | undefined,
  random: () => number
): Answered => {
  if (route === undefined || answered.status !== 200 || route.kind !== of) return answered
  if (collection !== undefined && route.collection !== collection) return answered
  if (random() >= rate) return answered
  const kind: GlitchKind = glitchKinds[name]
  return kind.alter(answered.text, route, random) ?? answered
}
