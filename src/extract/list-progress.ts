/** Where a pass over a list stands, and the steps it can take. */
import { hash } from "node:crypto"
import { at, unprintable, written } from "../catalog/json.ts"
import { instantMs } from "../catalog/timestamps.ts"
import type { Strategy } from "../catalog/resource.ts"
import type { Checkpoint } from "../values/checkpoint.ts"

/** What one page changes of a checkpoint. */
export type ListProgress = Omit<
  Checkpoint,
  | "version"
  | "mode"
  | "since"
  | "startedAt"
  | "servedAt"
  | "fingerprint"
  | "again"
  | "window"
  | "firstPageIds"
  | "ignored"
>

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
export const behind = (before: Checkpoint, checkpoint: ListProgress): Checkpoint => ({
  ...before,
  cursor: undefined,
  ties: undefined,
  ...checkpoint
})

/** The state after a page; `failed`: this way of reading does not work here, and why; `again`: unless it is asked once more. */
export type Step =
  | { readonly kind: "next"; readonly checkpoint: ListProgress; readonly cursor?: unknown }
  | { readonly kind: "failed"; readonly reason: string; readonly again?: boolean }

export const next = (checkpoint: ListProgress, cursor: unknown): Step => ({
  kind: "next",
  checkpoint: { ...checkpoint, cursor },
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
export const withWarning = (checkpoint: ListProgress, sentence: string): ListProgress =>
  checkpoint.warnings.includes(sentence) ? checkpoint : { ...checkpoint, warnings: [...checkpoint.warnings, sentence] }

/** The current window, or the whole pass, is read. */
export const ended = (checkpoint: ListProgress): Step => {
  const { cursor: _, windows, ...rest } = checkpoint
  if (!windows) return { kind: "next", checkpoint: { ...rest, lastIds: [], done: true } }
  const left = windows.slice(1)
  const done = left.length === 0
  const counted = (checkpoint.earlier?.total ?? 0) + (checkpoint.total ?? 0)
  const total = done && checkpoint.total !== undefined ? counted : undefined
  const earlier = { count: checkpoint.count, total: counted }
  return { kind: "next", checkpoint: { ...rest, windows: left, earlier, total, lastIds: [], done } }
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
export const isCounted = ({ paging: { kind } }: Strategy): boolean => kind === "offset" || kind === "pageNumber"
