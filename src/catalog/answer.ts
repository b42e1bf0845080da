/**
 * What a response with the status of a success is: data, which may be empty; another record than the one that was requested; or
 * no answer. This is decided here alone, by shapes, before anything counts, stores or trusts a response.
 */
import { type Shapes, isNamedKind, membersBeside, namedBeside } from "./beside.ts"
import { type Fields, commonFields, fieldNamed, isScalar } from "./fields.ts"
import { at, isObject, written } from "./json.ts"
import { type Resource, transformed, fieldsOf } from "./resource.ts"
import type { Strategy } from "./strategy.ts"

export type Answer =
  /** `path`: of the records. */
  | { readonly kind: "data"; readonly records: ReadonlyArray<unknown>; readonly path: string }
  /** Another record than the one that was requested. */
  | { readonly kind: "another"; readonly reason: string }
  | { readonly kind: "none"; readonly reason: string }

/** A request and what its response is expected to have. */
export interface Expected extends Pick<Strategy, "paging" | "hasList" | "beside" | "elsewhere" | "total" | "more"> {
  readonly resource: Resource
  /** Dotted path of the records, or of the record. */
  readonly records: string
  /** The id of the record that is requested, if it is a single one. */
  readonly id?: unknown
  readonly request?: Strategy["request"]
  /** What answers of this route have shown. Absent: an empty list is taken as it is, because nothing follows from it. */
  readonly shapes?: Shapes
  /** Whether no page of the list was read before, so that a position after this one means records. */
  readonly isFirst?: () => boolean
  /** Of one request with its repetitions. */
  readonly question?: object
  /** Whether the total counts what is requested. */
  readonly isCounted?: boolean
}

export const answerOf = (body: unknown, expected: Expected, status = 200): Answer => {
  const { elsewhere = [], hasList = () => true, id, paging, records: path, resource } = expected
  if (id !== undefined) return answerAbout(id, body, expected)
  const places = [path, ...elsewhere]
  const isOne = (place: string) => elsewhere.length > 0 && resource.kind === "list" && hasId(at(body, place))
  // A list of one record may be the record.
  const place = places.find((one) => Array.isArray(at(body, one))) ?? places.find(isOne) ?? path
  const found = at(body, place)
  const isOfRecords = Array.isArray(found) && found.some((item) => isRecord(item, resource))
  if (Array.isArray(found) && (place !== "" || found.length === 0 || isOfRecords)) {
    if (found.length > 0 && !isOfRecords) return { kind: "none", reason: "nothing in the list is a record" }
    const contradiction = contradictionIn(body, place, found.length === 0, status, expected)
    return contradiction === undefined
      ? { kind: "data", records: found, path: place }
      : { kind: "none", reason: contradiction }
  }
  if (isObject(found) && (hasId(found) || (path === "" && paging.kind === "once")))
    return hasList(found) && isRecord(found, resource) && (hasId(found) || isMostlyOf(found, resource))
      ? { kind: "data", records: [found], path: place }
      : { kind: "none", reason: "the response has no field of the record" }
  return { kind: "none", reason: `the response has no list ${path}`.trimEnd() }
}

/** The answer to a request for one record is the record with this id, in whatever wrapper. */
const answerAbout = (id: unknown, body: unknown, { records: path, resource }: Expected): Answer => {
  const one = recordIn(body, path, id)
  if (one !== undefined && isRecord(one.record, resource))
    return { kind: "data", records: [one.record], path: one.path }
  const found = at(body, path)
  return one === undefined && isObject(found) && hasId(found) && isRecord(found, resource)
    ? { kind: "another", reason: `the response has another record (${written(idOf(found)).slice(0, 100)})` }
    : { kind: "none", reason: "the response does not have the record" }
}

/** Why the members beside a list contradict it, or, beside an empty one, say more than anything has allowed. */
const contradictionIn = (
  body: unknown,
  path: string,
  isEmpty: boolean,
  status: number,
  expected: Expected
): string | undefined => {
  const { isCounted, isFirst = () => true, more, paging, question, shapes, total } = expected
  if (shapes === undefined) return undefined
  const members = membersBeside(body, path)
  const named = namedBeside(expected)
  const seen = isFirst() ? shapes.required.filter((name) => named[name] === undefined) : []
  const required = [...Object.keys(named).filter((name) => named[name] === "true"), ...seen]
  if (!isEmpty) return void shapes.filled(members, status, question)
  const missing = required.find((name) => at(body, name) !== true)
  if (missing !== undefined) return `the list is empty, and ${missing} is not true`
  const cursors =
    paging.kind === "body" ? Object.values(paging.parts) : paging.kind === "expiring" ? [paging.field] : []
  const next = [...(more === undefined ? [] : [more]), ...cursors].find((name) => !isVoid(at(body, name)))
  if (isFirst() && next !== undefined) return `the list is empty, and ${next} says that more follow`
  if (isFirst() && isCounted && total !== undefined && Number(at(body, total)) > 0)
    return `the list is empty, and ${total} is not 0`
  // A search by POST is answered as if it made something.
  const isSuccess = shapes.statuses.has(status) || (status === 201 && expected.request?.method === "POST")
  if (!isSuccess) return `the list is empty, and the status is ${status}`
  const strange = members.filter(
    ([name, value]) => !isNamedKind(named[name], value) && !shapes.allows(name, value, isFirst())
  )
  if (shapes.empty(strange, question) || strange.length === 0) return undefined
  return `the list is empty, and no response with records has the member ${strange
    .map(([name]) => name)
    .join(", ")
    .slice(0, 100)} so`
}

const isVoid = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === "" || value === 0

/**
 * The record with this id in the response to a request for it: where the definition has it, or in another wrapper.
 */
export const recordIn = (
  body: unknown,
  path: string,
  id: unknown
): { readonly record: unknown; readonly path: string } | undefined =>
  [path, "", ...(isObject(body) ? Object.keys(body) : [])]
    .map((place) => ({ record: at(body, place), path: place }))
    .find(({ record }) => isObject(record) && written(idOf(record)) === written(id))

/** Why a response is no answer; `undefined` if it may be one. */
export const failureIn =
  (expected: Expected) =>
  (body: unknown, status: number): string | undefined => {
    const answer = answerOf(body, expected, status)
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

const idOf = (record: unknown): unknown => at(record, "id") ?? at(record, "_id")
const hasId = (record: unknown): boolean => (idOf(record) ?? undefined) !== undefined

/** Whether a value is a record of the resource: it has a field of it, or an id and nothing that is none. */
const isRecord = (value: unknown, resource: Resource): boolean => {
  const fields = fieldsOf(resource)
  const parts = resource.isReshaped ? transformed(resource, value) : [value]
  const isMade = parts.length === 0 || parts.some((part) => hasField(part, fields))
  return isMade || (isObject(value) && hasId(value) && Object.keys(value).every((name) => isIdName.test(name)))
}
const isIdName = /^_?id$/

/** Whether at least half of what an object without an id has is of the resource, and not only some name in common. */
const isMostlyOf = (value: object, resource: Resource): boolean => {
  const names = Object.keys(value)
  const own = names.filter((name) => fieldNamed(fieldsOf(resource), {}, name) !== undefined)
  return resource.isReshaped === true || own.length * 2 >= names.length
}

const hasField = (part: unknown, fields: Fields): boolean =>
  isObject(part)
    ? Object.entries(part).some(
        ([name, value]) =>
          value !== null && !isIdName.test(name) && !Object.hasOwn(commonFields, name) && fieldNamed(fields, {}, name)
      )
    : isScalar(fields) && part !== null
