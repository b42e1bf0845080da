/** Answers that are wrong although they arrive whole: each a function of the right answer. */
import { randomFrom } from "../support/random.ts"
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

type Random = () => number
const pick = <A>(random: Random, of: ReadonlyArray<A>): A => of[Math.floor(random() * of.length)]!
const some = <A>(random: Random, most: number, one: () => A): ReadonlyArray<A> =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, one)

const suggestive = "failedShards partial warning success status error ok degraded hint code message data state".split(
  " "
)
/** A name that no documented answer has, whatever it suggests. */
const drawnName = (random: Random, taken: object): string => {
  const name = random() < 0.5 ? pick(random, suggestive) : Math.floor(random() * 1e9).toString(36)
  return Object.hasOwn(taken, name) ? `${name}X` : name
}
/** Any value of JSON. */
const drawnValue = (random: Random, depth = 2): unknown =>
  pick<() => unknown>(random, [
    () => null,
    () => random() < 0.5,
    () => Math.floor(random() * 4) - 1,
    () => drawnSentence(random),
    () => some(random, depth, () => drawnValue(random, depth - 1)),
    () => Object.fromEntries(some(random, depth, () => [drawnName(random, {}), drawnValue(random, depth - 1)]))
  ])()
const words =
  "contact owner record item not found deleted gone exist no such longer invalid token scope location access limit date".split(
    " "
  )
const drawnSentence = (random: Random): string => some(random, 6, () => pick(random, words)).join(" ")

/** Any refusal: of the service, of something between, or cut off. */
const drawnRefusal = (random: Random): Answered => {
  const status = pick(random, [400, 400, 401, 401, 401, 403, 403, 403, 404, 404, 404, 404, 405, 409, 410, 422])
  const message = drawnSentence(random)
  const own = () => ({ status, text: JSON.stringify({ statusCode: status, message }) })
  return pick<() => Answered>(random, [
    own,
    own,
    own,
    () => ({ status, text: JSON.stringify({ statusCode: status, message, error: drawnSentence(random) }) }),
    () => ({ status, text: JSON.stringify({ status, message: [message], traceId: String(random()) }) }),
    () => ({ status, text: JSON.stringify({ [drawnName(random, {})]: drawnValue(random), message }) }),
    () => ({ status, text: JSON.stringify({ statusCode: status, message }), contentType: "text/html" }),
    () => ({ status, text: `<html>${message}</html>`, contentType: "text/html" }),
    () => ({ status, text: message, contentType: "text/plain" }),
    () => ({ status, text: "" }),
    () => ({ status, text: `{"statusCode":${status},"mess` })
  ])()
}

/** The answer about a record with its members changed. */
const withRecord = (text: string, path: string, change: (record: Record<string, unknown>) => unknown): Answered => {
  const body = JSON.parse(text) as Record<string, unknown>
  return path === "" ? ok(change(body)) : ok({ ...body, [path]: change(body[path] as Record<string, unknown>) })
}

export const glitchKinds = {
  "empty list beside anything": {
    of: lists,
    isPlain: true,
    alter: (text, { records }, random) => {
      const body = JSON.parse(text) as Record<string, unknown>
      const drawn = { [drawnName(random, body)]: drawnValue(random) }
      const { meta = {} } = body
      // Also inside the object that many lists have beside them.
      const inMeta = {
        meta: { ...(meta as object), [drawnName(random, meta as object)]: 1 + Math.floor(random() * 9) }
      }
      return withList(text, records, () => [], random() < 0.5 ? drawn : inMeta)
    }
  },
  "empty list with any status": {
    of: lists,
    isPlain: true,
    alter: (text, { records }, random) => {
      const empty = withList(text, records, () => [])
      return empty && { ...empty, status: pick(random, [202, 203, 206, 207, 226, 250, 299]) }
    }
  },
  "any refusal": { of: lists, isPlain: true, alter: (_, _route, random) => drawnRefusal(random) },
  "any refusal of a record": { of: ["record"], isPlain: false, alter: (_, _route, random) => drawnRefusal(random) },
  "another id": {
    of: ["record"],
    isPlain: false,
    alter: (text, { records }, random) => {
      const id = pick(random, [Math.floor(random() * 1e12).toString(36), "SurvivorOfAMerge0001", "", null])
      return withRecord(text, records, (record) => ({ ...record, ...("_id" in record ? { _id: id } : { id }) }))
    }
  },
  "another wrapper": {
    of: ["record"],
    isPlain: false,
    alter: (text, { records }, random) => {
      const body = JSON.parse(text) as Record<string, unknown>
      return ok({ [drawnName(random, {})]: records === "" ? body : body[records] })
    }
  },
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

/** Those whose content is drawn anew for each answer, or each night. */
export const drawnGlitches = [
  "empty list beside anything",
  "empty list with any status",
  "any refusal",
  "any refusal of a record",
  "another id",
  "another wrapper"
] as const satisfies ReadonlyArray<GlitchName>

/** A glitch of one night. */
export interface Glitch {
  readonly name: GlitchName
  readonly of: Route["kind"]
  /** One collection, or all. */
  readonly collection?: string
  /** The share of the answers. */
  readonly rate: number
  /** What is drawn is the same in all answers of the night, drawn from this; else each has its own. */
  readonly seed?: number
}

export const isPlain = ({ name }: Glitch): boolean => glitchKinds[name].isPlain

export const glitched = (
  answered: Answered,
  { collection, name, of, rate, seed }: Glitch,
  route: Route | undefined,
  random: () => number
): Answered => {
  if (route === undefined || answered.status !== 200 || route.kind !== of) return answered
  if (collection !== undefined && route.collection !== collection) return answered
  if (random() >= rate) return answered
  const kind: GlitchKind = glitchKinds[name]
  return kind.alter(answered.text, route, seed === undefined ? random : randomFrom(seed)) ?? answered
}
