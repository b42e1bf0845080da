/**
 * What a response with the status of a success is: data, which may be empty; a list in another place; or no answer, because it
 * says that it failed, or has nothing of what the definition names. This is decided here alone, before anything counts,
 * stores or trusts a response.
 */
import { type Fields, fieldNamed, isScalar } from "./fields.ts"
import { at, written } from "./json.ts"
import { type Resource, transformed, fieldsOf } from "./resource.ts"
import type { Strategy } from "./strategy.ts"

export type Answer =
  | { readonly kind: "data"; readonly records: ReadonlyArray<unknown> }
  /** There are other members, but no list where the definition has it. Another strategy may find it. */
  | { readonly kind: "no list"; readonly reason: string }
  | { readonly kind: "none"; readonly reason: string }

/** A request and what its response is expected to have. */
export interface Expected extends Pick<Strategy, "paging" | "hasList" | "beside" | "total" | "more"> {
  readonly resource: Resource
  /** Dotted path of the records, or of the record. */
  readonly records: string
  /** The id of the record that is requested, if it is a single one. */
  readonly id?: unknown
  /** Members that responses with records had beside the list. */
  readonly seen?: ReadonlySet<string>
}

export const answerOf = (body: unknown, expected: Expected): Answer => {
  const { hasList = () => true, id, paging, records: path, resource } = expected
  const found = at(body, path)
  if (envelopesOf(body, path).some((envelope) => saysFailed(envelope, {})))
    return { kind: "none", reason: "the response is an error" }
  const isOfRecords = Array.isArray(found) && found.some((item) => isRecord(item, resource))
  if (Array.isArray(found) && (path !== "" || found.length === 0 || isOfRecords)) {
    if (isOfRecords) return { kind: "data", records: found }
    if (found.length > 0) return { kind: "none", reason: "nothing in the list is a record" }
    const strange = membersBeside(body, path).find((name) => !isExpected(name, expected))
    if (strange !== undefined)
      return { kind: "none", reason: `the list is empty, and no response with records has the member ${strange}` }
    return envelopesOf(body, path).some(isDoubtful)
      ? { kind: "none", reason: "the list is empty, and the response does not say that it succeeded" }
      : { kind: "data", records: found }
  }
  if (isObject(found) && (hasId(found) || (path === "" && paging.kind === "once")))
    return hasList(found) && isRecord(found, resource, id)
      ? { kind: "data", records: [found] }
      : { kind: "none", reason: "the response is an error, or has no field of the record" }
  const isOther = path !== "" && isObject(body) && Object.entries(body).some(isNoErrorMember)
  return { kind: isOther ? "no list" : "none", reason: `the response has no list ${path}`.trimEnd() }
}

/** Why a response is no answer; `undefined` if it may be one. */
export const failureIn =
  (expected: Expected) =>
  (body: unknown): string | undefined => {
    const answer = answerOf(body, expected)
    return answer.kind === "none" ? answer.reason : undefined
  }

/** What the response to a request of a strategy has to have. `id`: of the row that the request is for, if it names one. */
export const expectedOf = (resource: Resource, strategy: Strategy, partition: string, id?: unknown): Expected => ({
  ...strategy,
  resource,
  records: strategy.records.replace("{partition}", partition),
  // A detail, or a child whose id the parent holds.
  ...(strategy.request === resource.getOne?.request && { id })
})

/** The single record of a row, as `GetOne` requests it. */
export const singleRecord = (resource: Resource, id: unknown): Expected => ({
  resource,
  records: resource.getOne!.record,
  paging: { kind: "once" },
  id
})

/** The members with content in the objects around the records. What an object beside the records has is named `meta.partial`. */
export const membersBeside = (body: unknown, path: string): ReadonlyArray<string> => {
  const onPath = path.split(".")
  return envelopesOf(body, path).flatMap((envelope, depth) =>
    Object.entries(envelope).flatMap(([name, value]) => {
      if (name === onPath[depth] || isVoid(value)) return []
      return isObject(value) ? [name, ...statedIn(value).map((inner) => `${name}.${inner}`)] : [name]
    })
  )
}

/** The members that state something: a number beside an empty list is a count or a position. */
const statedIn = (members: Members): ReadonlyArray<string> =>
  Object.entries(members).flatMap(([name, value]) => (isVoid(value) || typeof value === "number" ? [] : [name]))

const isVoid = (value: unknown): boolean => ["", "null", "false", "0", "[]", "{}"].includes(written(value))

/** An empty list proves that there are no records only in a response that looks like those that had some. */
const isExpected = (path: string, { beside, more, paging, seen, total }: Expected): boolean => {
  const name = path.split(".").at(-1)!
  const parts = paging.kind === "body" ? Object.values(paging.parts) : []
  const own = [total, more, ...parts, "field" in paging ? paging.field : undefined]
  return (
    besideAnyList.has(name) ||
    seen?.has(path) === true ||
    beside?.includes(path) === true ||
    own.some((place) => place?.split(".").includes(name))
  )
}

/** What the documents name beside lists: the success, the request, and the position in the list. */
const besideAnyList: ReadonlySet<string> = new Set(
  (
    "success succeeded ok status statusCode traceId requestId locationId companyId altId altType " +
    "total totalCount count meta limit skip offset page pageSize currentPage nextPage prevPage nextPageUrl prevPageUrl " +
    "startAfter startAfterId nextCursor nextPageToken order orderBy sort sortBy"
  ).split(" ")
)

type Members = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The objects around the records. */
const envelopesOf = (body: unknown, path: string): ReadonlyArray<Members> => {
  const names = path === "" ? [] : path.split(".")
  return names.map((_, depth) => at(body, names.slice(0, depth).join("."))).filter(isObject)
}

const idOf = (record: unknown): unknown => at(record, "id") ?? at(record, "_id")
const hasId = (record: unknown): boolean => (idOf(record) ?? undefined) !== undefined

/**
 * Whether a value is a record of the resource. What an error may have is no evidence, unless the record is the one that was
 * requested: an email may well have the status `failed` and an `error`.
 */
const isRecord = (value: unknown, resource: Resource, requested?: unknown): boolean => {
  const fields = fieldsOf(resource)
  const parts = resource.isReshaped ? transformed(resource, value) : [value]
  const isMade = parts.length === 0 || parts.some((part) => hasField(part, fields))
  if (!isObject(value)) return isMade
  const isNamed = hasId(value) && (requested === undefined || written(idOf(value)) === written(requested))
  return saysFailed(value, fields) ? isNamed && isMade : isNamed || isMade
}

const hasField = (part: unknown, fields: Fields): boolean =>
  isObject(part)
    ? Object.entries(part).some(
        (member) => isNoErrorMember(member) && !/^_?id$/.test(member[0]) && fieldNamed(fields, {}, member[0])
      )
    : isScalar(fields) && part !== null

/** Whether a member that the definition does not name says so, in any of the usual ways. */
const saysFailed = (members: Members, fields: Fields): boolean =>
  Object.entries(members).some(([name, value]) => !Object.hasOwn(fields, name) && isFailure(name, value))

const isFailure = (name: string, value: unknown): boolean => signs.get(name.toLowerCase())?.(value) ?? false

const wordOf = (value: unknown): string => written(value).toLowerCase()
const isFalse = (value: unknown): boolean => wordOf(value) === "false"
const isAnError = (value: unknown): boolean => !["", "false", "null", "none", "0", "[]", "{}"].includes(wordOf(value))
const isErrorStatus = (value: unknown): boolean =>
  Number(wordOf(value)) >= 400 || ["false", "error", "err", "fail", "failed", "failure"].includes(wordOf(value))

/** Members by which an error says that it is one. */
const signs: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...["success", "succeeded", "ok"].map((name) => [name, isFalse] as const),
  ...["error", "errors", "fault", "exception"].map((name) => [name, isAnError] as const),
  ...["status", "statuscode", "code"].map((name) => [name, isErrorStatus] as const)
])

/** Whether what an empty list has beside it says anything but success: a word of another state, or an error further inside. */
const isDoubtful = (envelope: Members): boolean =>
  [envelope, ...Object.values(envelope).filter(isObject)].some((members) =>
    Object.entries(members).some(
      ([name, value]) =>
        isFailure(name, value) || (signs.has(name.toLowerCase()) && !isVoid(value) && !isSuccess.test(wordOf(value)))
    )
  )
const isSuccess = /^(true|ok|yes|1|2\d\d|succe\w+|done|complete\w*)$/

const isNoErrorMember = ([name, value]: readonly [string, unknown]): boolean =>
  value !== null && !wordsOfErrors.has(name)

/** Members that errors have in one format or another, or that repeat the request. */
const wordsOfErrors: ReadonlySet<string> = new Set(
  (
    "success succeeded ok error errors fault exception status statusCode code message msg name type title detail details " +
    "description reason options path timestamp traceId requestId locationId companyId altId altType"
  ).split(" ")
)
