/** Lists whose cursor is the sort value of the last record: records may share it, more of them than a page holds. */
import { at } from "../catalog/body.ts"
import { instantMs } from "../catalog/instants.ts"
import type { Way } from "../catalog/resource.ts"
import {
  type Page,
  type PassProgress,
  type Step,
  type Ties,
  doubt,
  ended,
  failed,
  idOf,
  instantsIn,
  next
} from "./progress.ts"

/** The cursor stands one before the last value, so that its ties come again. */
export const sorted = (
  { field, descending, parts }: Extract<Way["paging"], { kind: "sortValue" }>,
  before: PassProgress,
  seen: PassProgress,
  page: Page,
  same: boolean,
  short: boolean
): Step => {
  const forward = descending ? -1 : 1
  const values = instantsIn(page.records, field).map((value) => value * forward)
  const cursor = before.cursor === undefined ? Number.NEGATIVE_INFINITY : Number(before.cursor) * forward
  if (values.some((value, index) => value < cursor || value < (values[index - 1] ?? cursor)))
    return failed(`the service does not sort by ${field}`)
  if (short) return ended(seen)
  const last = values.at(-1)
  if (last === undefined) return failed(`records carry no ${field}`)
  if (!same) return next(seen, (last - 1) * forward)
  if (!parts) return next(doubt(seen, manyShare(field)), last * forward)
  const left = parts[0]!.map((parameters) => ({ level: 0, parameters }))
  // The cursor stays one before the value until every part is read.
  return next({ ...seen, ties: { value: last * forward, left, ids: page.records.map(idOf) } }, before.cursor)
}

const manyShare = (field: string) => `more records share one ${field} than a page holds; some may be missing`

/** A page of one part of the records that share a sort value. */
export const tied = (way: Way, before: PassProgress, { value, left, ids }: Ties, page: Page): Step => {
  const { field, parts = [] } = way.paging as Extract<Way["paging"], { kind: "sortValue" }>
  const here = page.records.filter((record) => instantMs(at(record, field)) === value).map(idOf)
  const known = new Set(ids)
  const fresh = here.filter((id) => !known.has(id))
  const [part, ...others] = left
  const isFull = here.length >= page.size
  const finer = isFull ? parts[part!.level + 1] : []
  const seen = { ...before, count: before.count + fresh.length }
  const rest = [
    ...(finer ?? []).map((parameters) => ({
      level: part!.level + 1,
      parameters: { ...part!.parameters, ...parameters }
    })),
    ...others
  ]
  const progress = finer === undefined ? doubt(seen, manyShare(field)) : seen
  if (rest.length > 0) return next({ ...progress, ties: { value, left: rest, ids: [...ids, ...fresh] } }, before.cursor)
  const { ties: _, ...rested } = progress
  return next({ ...rested, lastIds: [...ids, ...fresh].slice(-100) }, value)
}
