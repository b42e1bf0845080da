/** Lists whose cursor is the sort value of the last record. More records may share that value than fit on a page. */
import { at } from "../../catalog/json.ts"
import { itemAt, present } from "../../catalog/present.ts"
import { instantMs } from "../../catalog/timestamps.ts"
import type { Strategy } from "../../catalog/resource.ts"
import type { Ties } from "../../values/checkpoint.ts"
import type { Limits } from "../../values/limits.ts"
import {
  type Page,
  type ListProgress,
  type Step,
  withWarning,
  ended,
  failed,
  repeated,
  idOf,
  instantsIn,
  next
} from "./list-progress.ts"

type SortValue = Extract<Strategy["paging"], { kind: "sortValue" }>

/**
 * The cursor is the sort value and id of the last record but one, so that the next page starts with the last record. A
 * service that compares the value alone gets a cursor one below the last value, so that the next page repeats its ties.
 */
export const sorted = (
  { field, descending, splitBy }: SortValue,
  before: ListProgress,
  progress: ListProgress,
  page: Page,
  isSameEnd: boolean,
  isShort: boolean
): Step => {
  // A page that is the whole list needs no order.
  if (isShort && before.count === 0) return ended(progress)
  const forward = descending ? -1 : 1
  const values = instantsIn(page.records, field).map((value) => value * forward)
  const [begin] = [before.cursor].flat()
  const cursor = begin === undefined ? Number.NEGATIVE_INFINITY : Number(begin) * forward
  const isBeforeLast = (value: number, index: number) => value < (values[index - 1] ?? value)
  const misplaced = values.filter((value, index) => value < cursor || isBeforeLast(value, index)).length
  if (misplaced > values.length / 2)
    return values.some(isBeforeLast)
      ? failed(`the service does not sort by ${field}`)
      : repeated("the list returned an earlier page again")
  const read = misplaced === 0 ? progress : withWarning(progress, { _tag: "OutOfOrder", field })
  if (isShort) return ended(read)
  const last = values.at(-1)
  if (last === undefined) return failed(`records have no ${field}`)
  if (misplaced > 0) {
    // At most one of the last three records is expected to be out of order.
    const sorted = values.slice(-3).toSorted((a, b) => a - b)
    const edge = itemAt(sorted, sorted.length - 2) * forward
    return next({ ...read, edge }, edge - forward)
  }
  const edge = last * forward
  const pair = before.byValue ? undefined : pairOf(page.records.at(-2), field)
  if (pair) return next({ ...progress, edge }, pair)
  if (!isSameEnd) return next({ ...progress, edge }, edge - forward)
  if (!splitBy) return next(withWarning(progress, { _tag: "TiesLimited", field }), edge)
  const left = (splitBy[0] ?? []).map((parameters) => ({ level: 0, parameters }))
  const { ids } = page
  // The cursor stays below the value until every part is read.
  return next({ ...progress, ties: { value: edge, left, ids, unshown: ids } }, before.cursor)
}

/** The cursor that returns the record after this one: its `sort` field, or its sort value and id. */
const pairOf = (record: unknown, field: string): readonly [unknown, unknown] | undefined => {
  const sort = at(record, "sort")
  if (Array.isArray(sort) && sort.length === 2) return [sort[0], sort[1]]
  const [value, id] = [instantMs(at(record, field)), at(record, "id")]
  return value === undefined || typeof id !== "string" ? undefined : [value, id]
}

/** Whether the cursor is a sort value and an id. */
export const isPair = ({ paging }: Strategy, { cursor }: ListProgress): boolean =>
  paging.kind === "sortValue" && Array.isArray(cursor)

/** Whether the page after such a cursor does not start with the last record, as it should. */
export const missesPair = (strategy: Strategy, before: ListProgress, first: string | undefined): boolean =>
  isPair(strategy, before) && first !== before.lastIds.at(-1)

/** Continues at the same position by the sort value alone. */
export const withoutPair = ({ descending }: SortValue, before: ListProgress): Step =>
  next({ ...before, byValue: true }, present(before.edge, "sort value") - (descending ? -1 : 1))

/** The step after a page of one part of the records that share a sort value. */
export const tied = (
  strategy: Strategy,
  before: ListProgress,
  { value, left, ids, unshown }: Ties,
  page: Page,
  { lastIds }: Limits["extract"]
): Step => {
  const { field, splitBy = [] } = strategy.paging as SortValue
  const tiedIds = page.records.filter((record) => instantMs(at(record, field)) === value).map(idOf)
  const known = new Set(ids)
  const newIds = tiedIds.filter((id) => !known.has(id))
  const [part, ...others] = left
  const { level, parameters: own } = present(part, `part of ${field}`)
  const isFull = tiedIds.length >= page.size
  const subparts = isFull ? splitBy[level + 1] : []
  const counted = { ...before, count: before.count + newIds.length }
  const rest = [
    ...(subparts ?? []).map((parameters) => ({ level: level + 1, parameters: { ...own, ...parameters } })),
    ...others
  ]
  // The subparts of a part must together return all the records that it returned.
  const returned = new Set(tiedIds)
  const missing =
    isFull && subparts ? [...new Set([...unshown, ...tiedIds])] : unshown.filter((id) => !returned.has(id))
  const all = [...ids, ...newIds]
  const isIncomplete = subparts === undefined || (rest.length === 0 && missing.length > 0)
  const progress = isIncomplete ? withWarning(counted, { _tag: "TiesLimited", field }) : counted
  if (rest.length > 0)
    return next({ ...progress, ties: { value, left: rest, ids: all, unshown: missing } }, before.cursor)
  const { ties: _, ...untied } = progress
  return next({ ...untied, lastIds: lastIds.last(all) }, value)
}
