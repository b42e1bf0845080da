/** What a plan is expected to take, from the state in the warehouse and from earlier syncs. Sends no request. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { itemAt } from "../../catalog/present.ts"
import {
  type ChildRequest,
  type Resource,
  type Strategy,
  childRequestOf,
  partitionsOf,
  totalsOf
} from "../../catalog/resource.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import { type LikelyRange, type Range, atLeast, between, exactly, likelyIn, sumOf } from "../../values/range.ts"
import type { ParentsState, Step } from "../../values/step.ts"
import { type PastReading, readingHistory } from "../../stores/warehouse/meta/reading-history.ts"
import { type SyncState, liveCounts, parentsStates } from "../../stores/warehouse/sync-state.ts"

export type Basis =
  | "earlier syncs"
  | "the last full read"
  | "the resume point"
  | "one page per list"
  | "total of the API"
  | "rows that are due"
  | "parents"
  | "rows in the period"
  | "unknown"

export interface Expected {
  readonly requests: Range
  readonly basis: Basis
}

/** `changed`: the rows that the reading adds or changes, whose children and details become due. */
export interface ExpectedList extends Expected {
  readonly changed: LikelyRange
  readonly records?: number
  readonly likely?: number
  /** Live rows of the table: of a list that was read before, most records are known. */
  readonly rows?: number
}

/** The facts from which the requests for children or details follow, once the changes of the parents are known. */
export interface ExpectedChildren {
  readonly childRequest: ChildRequest
  readonly state: ParentsState
  readonly nights: ReadonlyArray<PastReading>
  /** Live rows of the parent table. */
  readonly parents: number
}

export interface ExpectedStep {
  readonly step: Step
  readonly list?: ExpectedList
  readonly children?: ExpectedChildren
}

export const expect = Effect.fn("plan.expect")(function* (
  steps: ReadonlyArray<Step>,
  states: ReadonlyMap<string, SyncState>,
  location: string,
  optional: OptionalSettings
) {
  const history = yield* readingHistory(location)
  const now = yield* Clock.currentTimeMillis
  const requests = steps.flatMap(({ resource, refreshCutoff }) => {
    const childRequest = childRequestOf(resource)
    return childRequest ? [{ location, childRequest, refreshCutoff }] : []
  })
  const tables = [...steps.map(({ resource }) => resource.table), ...requests.map((one) => one.childRequest.table)]
  const rows = yield* liveCounts(location, [...new Set(tables)])
  // A row that the service flags as deleted is no live row, but still a parent.
  const parents = yield* parentsStates(
    requests.filter(({ childRequest: { table, tombstone } }) => rows.has(table) || tombstone !== undefined)
  )
  return steps.map((step) => {
    const { resource } = step
    const { table } = resource
    const facts = { optional, now, rows: rows.get(table) ?? 0 }
    const list =
      resource.kind === "list" && step.mode !== "children"
        ? expectList(step, states.get(table), history.get(table) ?? [], facts)
        : undefined
    const childRequest = childRequestOf(resource)
    const children = childRequest && {
      childRequest,
      state: parents.get(childRequest.label) ?? { due: 0, oldestFetch: undefined },
      // The first reading fetches every parent, later ones what has become due.
      nights: (history.get(childRequest.label) ?? []).filter(({ elapsedMs }) => elapsedMs !== undefined),
      parents: rows.get(childRequest.table) ?? 0
    }
    return { step, ...(list && { list }), ...(children && { children }) }
  })
})

interface ListFacts {
  readonly optional: OptionalSettings
  readonly rows: number
  readonly now: number
}

const expectList = (
  { resource, mode, checkpoints, capabilities, restsSince }: Step,
  state: SyncState | undefined,
  past: ReadonlyArray<PastReading>,
  { optional, rows, now }: ListFacts
): ExpectedList => {
  if (restsSince !== undefined) return { requests: exactly(0), basis: "rows that are due", changed: exactly(0) }
  const strategy = itemAt(resource.full ?? [], 0)
  const partitions = partitionsOf(resource, optional).length
  if (partitions === 0) return { requests: exactly(0), basis: "one page per list", changed: exactly(0) }
  const size = capabilities.sizes["all"] ?? strategy.pageSize
  const unfinished = Object.values(checkpoints)
  if (unfinished.length > 0) {
    const left = sumOf(unfinished.map(recordsLeft))
    const others = Math.max(0, partitions - unfinished.length)
    return {
      requests: sumOf([atLeastOnePage(left, size), others > 0 ? atLeast(others) : exactly(0)]),
      basis: "the resume point",
      changed: left
    }
  }
  const elapsedMs = now - (state?.completeAt ?? now)
  if (mode === "incremental") {
    const forTotal = requestsForTotal(resource, optional)
    const least = resource.changes?.newest ? partitions : partitions + forTotal
    const nights = past.filter((one) => one.mode === "incremental")
    const pages = pagesOfFullRead(strategy, state?.total)
    if (nights.length === 0)
      return {
        requests: between(least, pages === undefined ? undefined : pages + 2 + forTotal),
        basis: "one page per list",
        changed: { ...between(0, state?.total), likely: likelyChanges(state?.total ?? rows, elapsedMs) }
      }
    const base = Math.min(...nights.map(({ requests }) => requests))
    const pagesOf = (one: PastReading) => base + (one.requests - base) * scaleOf(one, elapsedMs)
    return {
      requests: rangeOver(nights.map(pagesOf), partitions),
      basis: "earlier syncs",
      changed: rangeOver(
        nights.map((one) => one.changed * scaleOf(one, elapsedMs)),
        0
      )
    }
  }
  if (strategy.paging.kind === "once" && !strategy.windows)
    return {
      requests: exactly(partitions),
      basis: past.length > 0 ? "one page per list" : "unknown",
      changed: changedIn(past, elapsedMs, rows)
    }
  const full = past.find((one) => one.mode === "full")
  if (full)
    return {
      // The list may have become shorter since: all that is certain is one page of each.
      requests: between(partitions, Math.ceil(full.requests * 1.1) + 1),
      likely: full.requests,
      basis: "the last full read",
      changed: changedIn(past, elapsedMs, rows)
    }
  return { requests: atLeast(partitions), basis: "unknown", changed: atLeast(0), rows }
}

const recordsLeft = ({ total, count, windows, mode }: Checkpoint): Range =>
  total === undefined || mode !== "full" || (windows?.length ?? 0) > 1
    ? atLeast(0)
    : exactly(Math.max(0, total - count))

const atLeastOnePage = ({ min, max }: Range, size: number): Range =>
  between(Math.max(1, Math.ceil(min / size)), max === undefined ? undefined : Math.max(1, Math.ceil(max / size)) + 1)

/** The requests that compare the total of a list with its rows after a reading of changes: one for each partition. */
export const requestsForTotal = (resource: Resource, optional: OptionalSettings): number =>
  totalsOf(resource).length > 0 ? partitionsOf(resource, optional).length : 0

/** Pages of a full reading of the list, without the requests for details and children. `undefined` without a total. */
export const pagesOfFullRead = (strategy: Strategy, total: number | undefined): number | undefined => {
  if (strategy.paging.kind === "once") return 1
  return total === undefined ? undefined : Math.max(1, Math.ceil(total / strategy.pageSize))
}

/** The requests for children or details, given the changes of their parents; `undefined`: the plan does not read these. */
export const expectChildren = (
  { childRequest, state: { due }, nights, parents }: ExpectedChildren,
  changed: Range | undefined
): Expected => {
  if (nights.length > 0) {
    const { min, max } = rangeOver(
      nights.map(({ requests }) => requests),
      0
    )
    return { requests: between(Math.max(due, min), max === undefined ? max : due + max), basis: "earlier syncs" }
  }
  if (changed === undefined) return { requests: exactly(due), basis: "rows that are due" }
  // Only the rows show which parents a condition or a list of ids selects, and an incremental read repeats some rows.
  const isFiltered = childRequest.where !== undefined || childRequest.ids !== undefined
  return {
    requests: between(due + (isFiltered ? 0 : changed.min), changed.max === undefined ? undefined : due + changed.max),
    basis: parents === 0 && changed.max === undefined ? "unknown" : due > 0 ? "rows that are due" : "parents"
  }
}

export interface ExpectedRequests extends Expected {
  /** A number in the range of the requests. */
  readonly likely: number
  /** Whether it follows from a share of the parents. */
  readonly isShare?: boolean
  readonly step: Step
  /** The resource, or the label of its children or details. */
  readonly label: string
  readonly records?: number
}

/** What the plan is expected to take. It has a likely number unless lists are of unknown size. */
export const plannedOf = (expected: ReadonlyArray<ExpectedStep>): LikelyRange => {
  const readings = requestsOf(expected)
  const { likely, ...range } = sumOf(readings.map(({ likely, requests }) => ({ ...requests, likely })))
  return { ...range, ...(isSized(expected) && likely !== undefined && { likely }) }
}

/** Whether the size of each list is known. After a plan it is known of all that report a total, and others are short. */
export const isSized = (expected: ReadonlyArray<ExpectedStep>): boolean =>
  expected.some(({ list }) => list?.basis === "total of the API") ||
  expected.every(({ list }) => list?.basis !== "unknown" || list.requests.max !== undefined)

/** The requests of every reading of the plan. */
export const requestsOf = (expected: ReadonlyArray<ExpectedStep>): ReadonlyArray<ExpectedRequests> => {
  return expected.flatMap(({ step, list, children }): ReadonlyArray<ExpectedRequests> => {
    const { resource } = step
    return [
      ...(list ? [{ step, label: resource.table, ...list, likely: list.likely ?? likelyIn(list.requests) }] : []),
      ...(children ? [{ step, ...childrenOf(children, changesOf(children.childRequest.table, expected)) }] : [])
    ]
  })
}

const childrenOf = (children: ExpectedChildren, changed: LikelyRange | undefined) => {
  const { childRequest, nights, state } = children
  const expected = expectChildren(children, changed)
  const { label, share } = childRequest
  if (nights.length > 0 || changed === undefined) return { label, ...expected, likely: likelyIn(expected.requests) }
  // A first sync knows how many parents there are, and not which of them are requested.
  const likely = Math.round(state.due + (share ?? 1) * likelyIn(changed))
  return { label, ...expected, likely, isShare: share !== undefined && likelyIn(changed) > 0 }
}

/** The changes of a table: of its list or, if it is read as children itself or in other pages, unknown. */
const changesOf = (table: string, expected: ReadonlyArray<ExpectedStep>): LikelyRange | undefined => {
  const own = expected.find(({ step }) => step.resource.table === table)
  if (own?.list) return own.list.changed
  const isRead = own !== undefined || expected.some(({ step }) => step.embedded.some((one) => one.table === table))
  return isRead ? atLeast(0) : undefined
}

/** Readings that followed each other within less are trials, not nights. */
const nightMs = 3_600_000
/** After a long pause, changes of the same row count once. */
const scaleMax = 10

/** How much more or less than in an earlier reading has changed by now. */
const scaleOf = ({ elapsedMs }: PastReading, now: number): number =>
  elapsedMs === undefined || elapsedMs < nightMs ? 1 : Math.min(now / elapsedMs, scaleMax)

/** From the least to the most of earlier readings, a fifth wider; of a single one, from half of it to twice as much. */
const rangeOver = (values: ReadonlyArray<number>, least: number): Range => {
  const [low, high] = values.length === 1 ? [0.5, 2] : [0.8, 1.2]
  const min = Math.max(least, Math.floor(Math.min(...values) * low))
  return between(min, Math.max(min, Math.ceil(Math.max(...values) * high)))
}

/** The share of the records that a day changes, until the first night has shown how much it is. */
const changedADay = 0.02

const likelyChanges = (records: number, elapsedMs: number): number =>
  records * Math.min(1, (changedADay * elapsedMs) / dayMs)

/** What is expected of a list that every sync reads in full. */
const changedIn = (past: ReadonlyArray<PastReading>, elapsedMs: number, rows: number): LikelyRange => {
  const nights = past.filter((one) => one.elapsedMs !== undefined)
  if (nights.length > 0)
    return rangeOver(
      nights.map((one) => one.changed * scaleOf(one, elapsedMs)),
      0
    )
  return past.length > 0 ? { ...between(0, rows), likely: likelyChanges(rows, elapsedMs) } : atLeast(0)
}
