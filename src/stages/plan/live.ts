/** What a run is expected to take in all, from its plan and from what it has read so far. */
import { itemAt } from "../../catalog/present.ts"
import { type LikelyRange, between, exactly, sumOf } from "../../values/range.ts"
import type { Status } from "../../values/state.ts"
import { type ExpectedList, type ExpectedStep, isSized, requestsOf } from "./expect.ts"

/** What a run has read so far under a label. */
export interface ReadSoFar {
  readonly records: number
  readonly requests: number
  /** The total that the service has reported for a list. */
  readonly total?: number
  /** Once the reading has ended. */
  readonly status?: Status
}

/** The totals of first pages replace what the plan did not know, and the requests of ended readings what it assumed. */
export const liveRequests = (
  expected: ReadonlyArray<ExpectedStep>,
  soFar: (label: string) => ReadSoFar | undefined
): LikelyRange => {
  const known = expected.map((one) => {
    const read = soFar(one.step.resource.table)
    return one.list && read ? { ...one, list: listWith(one.list, one, read) } : one
  })
  const hasLikely = isSized(known)
  return sumOf(
    requestsOf(known).map(({ label, likely, requests }): LikelyRange => {
      const read = soFar(label)
      if (read?.status !== undefined) return { ...exactly(read.requests), ...(hasLikely && { likely: read.requests }) }
      const sent = read?.requests ?? 0
      const range = between(Math.max(requests.min, sent), requests.max && Math.max(requests.max, sent))
      return { ...range, ...(hasLikely && { likely: Math.max(likely, sent) }) }
    })
  )
}

const listWith = (list: ExpectedList, { step }: ExpectedStep, read: ReadSoFar): ExpectedList => {
  // Most records of a list that was read before are unchanged, so they make no children due.
  const isFirst =
    ["unknown", "the resume point"].includes(list.basis) || (list.basis === "total of the API" && step.mode === "full")
  const changedOf = (records: number) => (isFirst ? exactly(records) : list.changed)
  if (read.status !== undefined) return { ...list, requests: exactly(read.requests), changed: changedOf(read.records) }
  if (read.total === undefined || step.mode !== "full" || !isFirst) return list
  const size = step.capabilities.sizes["all"] ?? itemAt(step.resource.full ?? [], 0).pageSize
  const pages = Math.max(1, Math.ceil(read.total / size))
  return { ...list, requests: between(pages, Math.ceil(pages * 1.05) + 1), changed: changedOf(read.total) }
}
