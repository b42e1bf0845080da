/** Where a pass over a list stands, and the steps it can take. */
import { hash } from "node:crypto"
import { at, unprintable, written } from "../catalog/body.ts"
import { instantMs } from "../catalog/instants.ts"
import type { Parameters } from "../catalog/request.ts"
import type { Way } from "../catalog/resource.ts"

/** Where a pass stands. Stored with every page, so only what survives a restart belongs here: no expiring cursor. */
export interface PassProgress {
  readonly done: boolean
  readonly cursor?: unknown
  /**
   * Windows still to be read, the current one first; epoch milliseconds. `most`: of a window that was cut out of another,
   * records that the service may count up to its end.
   */
  readonly windows?: ReadonlyArray<readonly [start: number, end: number, most?: number]>
  /** Records seen, repetitions at the seams not counted. */
  readonly count: number
  /** What the service counts: in the current window, and at the end in all of them. */
  readonly total?: number | undefined
  /** Of the windows that are read: their records, and what the service counted in them. */
  readonly earlier?: { readonly count: number; readonly total: number }
  /** A page shorter than asked was not the end: the service cuts pages to a size of its own. */
  readonly cut?: boolean
  /** Highest value of the change field seen, epoch milliseconds. */
  readonly highest?: number
  /** Records without a moment of change. */
  readonly undated?: number
  /** Where to begin again when an expiring cursor is gone, epoch milliseconds. */
  readonly anchor?: number
  /** Last ids of the last page: the next one has to touch it, and must not be the same. */
  readonly lastIds: ReadonlyArray<string>
  /** Sort value of the last record. */
  readonly edge?: number
  /** The service does not look at the id beside a sort value, so its cursor is the value alone. */
  readonly byValue?: boolean
  /** Being read in parts: the records that share one sort value, more than a page holds. */
  readonly ties?: Ties | undefined
  /** How often the list moved up under the reading. */
  readonly stepsBack?: number
  readonly doubts: ReadonlyArray<string>
}

export interface Ties {
  readonly value: number
  /** Parameters that are still to be tried. */
  readonly left: ReadonlyArray<{ readonly level: number; readonly parameters: Parameters }>
  readonly ids: ReadonlyArray<string>
  /** Those among them that no part has shown yet. */
  readonly unshown: ReadonlyArray<string>
}

export interface Page {
  readonly records: ReadonlyArray<unknown>
  readonly body: unknown
  /** Records asked for. */
  readonly size: number
  /** Lengths to which the service cut pages of other lists. */
  readonly cuts?: ReadonlySet<number>
}

/** Search engines count no further than this unless they are told to. */
export const countedMax = 10_000

/** Whether the page is as long as those that the service cut in other lists. */
export const isCutElsewhere = ({ records: { length }, cuts }: Page): boolean => cuts?.has(length) ?? false

/** The state behind a step: cursor and ties are those of the step, or none. */
export const behind = <State extends PassProgress>(before: State, progress: PassProgress): State => ({
  ...before,
  cursor: undefined,
  ties: undefined,
  ...progress
})

/** The state after a page; `failed`: this way of reading does not work here, and why; `again`: unless it is asked once more. */
export type Step =
  | { readonly kind: "next"; readonly progress: PassProgress; readonly cursor?: unknown }
  | { readonly kind: "failed"; readonly reason: string; readonly again?: boolean }

export const next = (progress: PassProgress, cursor: unknown): Step => ({
  kind: "next",
  progress: { ...progress, cursor },
  cursor
})
/** It is sent back and kept with every page. */
export const isCursor = (value: unknown): boolean => {
  const text = written(value)
  return text !== unprintable && text.length <= 10_000
}
export const failed = (reason: string): Step => ({ kind: "failed", reason })
/** An old page may come out of a cache, so it is asked for again before the way is left. */
export const repeats = (reason: string): Step => ({ kind: "failed", reason, again: true })
export const doubt = (progress: PassProgress, sentence: string): PassProgress =>
  progress.doubts.includes(sentence) ? progress : { ...progress, doubts: [...progress.doubts, sentence] }

/** The current window, or the whole pass, is read. */
export const ended = (progress: PassProgress): Step => {
  const { cursor: _, windows, ...rest } = progress
  if (!windows) return { kind: "next", progress: { ...rest, lastIds: [], done: true } }
  const left = windows.slice(1)
  const done = left.length === 0
  const counted = (progress.earlier?.total ?? 0) + (progress.total ?? 0)
  const total = done && progress.total !== undefined ? counted : undefined
  const earlier = { count: progress.count, total: counted }
  return { kind: "next", progress: { ...rest, windows: left, earlier, total, lastIds: [], done } }
}

export const instantsIn = (records: ReadonlyArray<unknown>, field: string): ReadonlyArray<number> =>
  records.map((record) => instantMs(at(record, field))).filter((value) => value !== undefined)

/** Records without an id of their own are told apart by their text; it is kept with every page, so it is kept short. */
export const idOf = (record: unknown): string => {
  const text = written(at(record, "id") ?? at(record, "_id") ?? record).toWellFormed()
  return text.length > 200 ? hash("sha256", text) : text
}

/**
 * The records of a page. A lone one is a list of one; an object without an id is none, unless everything comes at once.
 * Nothing: this is no page.
 */
export const listOf = (
  body: unknown,
  path: string,
  once: boolean,
  /** Read under a row, which may have nothing. */
  under: boolean
): ReadonlyArray<unknown> | undefined => {
  const records = at(body, path)
  if (Array.isArray(records)) return records
  if (records === undefined || records === null)
    return once && (under ? typeof body !== "string" : isFields(body)) ? [] : undefined
  return once || at(records, "id") !== undefined || at(records, "_id") !== undefined ? [records] : undefined
}

const isFields = (body: unknown) =>
  typeof body === "object" && body !== null && !Array.isArray(body) && !JSON.isRawJSON(body)

/** Lists that are counted off lose records when they move; a cursor does not. */
export const isCounted = ({ paging: { kind } }: Way): boolean => kind === "offset" || kind === "pageNumber"
