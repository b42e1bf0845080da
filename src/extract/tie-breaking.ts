/** Lists whose cursor is the sort value of the last record: records may share it, more of them than a page holds. */
import { at } from "../catalog/json.ts"
import { instantMs } from "../catalog/timestamps.ts"
import type { Strategy } from "../catalog/resource.ts"
import type { Ties } from "../values/checkpoint.ts"
import {
  type Page,
  type ListProgress,
  type Step,
  withWarning,
  ended,
  failed,
  idOf,
  instantsIn,
  next
} from "./list-progress.ts"

type SortValue = Extract<Strategy["paging"], { kind: "sortValue" }>

/**
 * The cursor is the sort value and the id of the last record but one, so that the next page begins with the last one. A
 * service that looks at the value alone has the cursor one before the last value, so that its ties come again.
 */
export const sorted = (
  { field, descending, splitBy }: SortValue,
  before: ListProgress,
  seen: ListProgress,
  page: Page,
  same: boolean,
  short: boolean
): Step => {
  const forward = descending ? -1 : 1
  const values = instantsIn(page.records, field).map((value) => value * forward)
  const [begin] = [before.cursor].flat()
  const cursor = begin === undefined ? Number.NEGATIVE_INFINITY : Number(begin) * forward
  if (values.some((value, index) => value < cursor || value < (values[index - 1] ?? cursor)))
    return failed(`the service does not sort by ${field}`)
  if (short) return ended(seen)
  const last = values.at(-1)
  if (last === undefined) return failed(`records carry no ${field}`)
  const edge = last * forward
  const pair = before.byValue ? undefined : pairOf(page.records.at(-2), field)
  if (pair) return next({ ...seen, edge }, pair)
  if (!same) return next({ ...seen, edge }, edge - forward)
  if (!splitBy) return next(withWarning(seen, manyShare(field)), edge)
  const left = splitBy[0]!.map((parameters) => ({ level: 0, parameters }))
  const ids = page.records.map(idOf)
  // The cursor stays one before the value until every part is read.
  return next({ ...seen, ties: { value: edge, left, ids, unshown: ids } }, before.cursor)
}

/** What leads to the record behind this one: as the record shows it, or its sort value and id. */
const pairOf = (record: unknown, field: string): readonly [unknown, unknown] | undefined => {
  const shown = at(record, "sort")
  if (Array.isArray(shown) && shown.length === 2) return [shown[0], shown[1]]
  const [value, id] = [instantMs(at(record, field)), at(record, "id")]
  return value === undefined || typeof id !== "string" ? undefined : [value, id]
}

/** Whether the next page is asked for by a sort value and an id. */
export const isPair = ({ paging }: Strategy, { cursor }: ListProgress): boolean =>
  paging.kind === "sortValue" && Array.isArray(cursor)

/** Whether a page asked for by sort value and id does not begin with the last record. */
export const isBesidePair = (strategy: Strategy, before: ListProgress, first: string | undefined): boolean =>
  isPair(strategy, before) && first !== before.lastIds.at(-1)

/** The same place by the sort value alone. */
export const withoutPair = ({ descending }: SortValue, before: ListProgress): Step =>
  next({ ...before, byValue: true }, before.edge! - (descending ? -1 : 1))

const manyShare = (field: string) => `more records share one ${field} than a page holds; some may be missing`

/** A page of one part of the records that share a sort value. */
export const tied = (
  strategy: Strategy,
  before: ListProgress,
  { value, left, ids, unshown }: Ties,
  page: Page
): Step => {
  const { field, splitBy = [] } = strategy.paging as SortValue
  const here = page.records.filter((record) => instantMs(at(record, field)) === value).map(idOf)
  const known = new Set(ids)
  const fresh = here.filter((id) => !known.has(id))
  const [part, ...others] = left
  const isFull = here.length >= page.size
  const finer = isFull ? splitBy[part!.level + 1] : []
  const seen = { ...before, count: before.count + fresh.length }
  const rest = [
    ...(finer ?? []).map((parameters) => ({
      level: part!.level + 1,
      parameters: { ...part!.parameters, ...parameters }
    })),
    ...others
  ]
  // Of a part that is read in parts itself, its own parts have to show what it showed.
  const shown = new Set(here)
  const missing = isFull && finer ? [...new Set([...unshown, ...here])] : unshown.filter((id) => !shown.has(id))
  const all = [...ids, ...fresh]
  const incomplete = finer === undefined || (rest.length === 0 && missing.length > 0)
  const checkpoint = incomplete ? withWarning(seen, manyShare(field)) : seen
  if (rest.length > 0)
    return next({ ...checkpoint, ties: { value, left: rest, ids: all, unshown: missing } }, before.cursor)
  const { ties: _, ...rested } = checkpoint
  return next({ ...rested, lastIds: all.slice(-100) }, value)
}
