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
  /** Windows still to be read, the current one first; epoch milliseconds. */
  readonly windows?: ReadonlyArray<readonly [start: number, end: number]>
  /** Records seen, repetitions at the seams not counted. */
  readonly count: number
  readonly total?: number
  /** Highest value of the change field seen, epoch milliseconds. */
  readonly highest?: number
  /** Where to begin again when an expiring cursor is gone, epoch milliseconds. */
  readonly anchor?: number
  /** Last ids of the last page: the next one has to touch it, and must not be the same. */
  readonly lastIds: ReadonlyArray<string>
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
}

export interface Page {
  readonly records: ReadonlyArray<unknown>
  readonly body: unknown
  /** Records asked for. */
  readonly size: number
}
/** The state behind a step: cursor and ties are those of the step, or none. */
export const behind = <State extends PassProgress>(before: State, progress: PassProgress): State => ({
  ...before,
  cursor: undefined,
  ties: undefined,
  ...progress
})

/** The state after a page; `failed`: this way of reading does not work here, and why. */
export type Step =
  | { readonly kind: "next"; readonly progress: PassProgress; readonly cursor?: unknown }
  | { readonly kind: "failed"; readonly reason: string }

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
export const doubt = (progress: PassProgress, sentence: string): PassProgress =>
  progress.doubts.includes(sentence) ? progress : { ...progress, doubts: [...progress.doubts, sentence] }

/** The current window, or the whole pass, is read. */
export const ended = (progress: PassProgress): Step => {
  const windows = progress.windows?.slice(1)
  const { cursor: _, ...rest } = progress
  return {
    kind: "next",
    progress: { ...rest, ...(windows && { windows }), lastIds: [], done: !windows || windows.length === 0 }
  }
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
