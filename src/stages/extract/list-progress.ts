/** The progress of one partition of a list: where it begins, and the steps a page can lead to. */
import { hash } from "node:crypto"
import { at, unprintable, written } from "../../catalog/json.ts"
import { instantMs } from "../../catalog/timestamps.ts"
import type { Strategy } from "../../catalog/resource.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import { type Detail, type SingleReason, distinct } from "../../values/reason.ts"
import { Duration } from "effect"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import type { Reading } from "./run-context.ts"

/** The fields of a checkpoint that a page changes. */
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
  /** Of the records; see `idOf`. */
  readonly ids: ReadonlyArray<string>
  readonly body: unknown
  /** The requested page size. */
  readonly size: number
  /** Page lengths to which the service has cut other lists. */
  readonly cuts?: ReadonlySet<number>
}

/** Search engines stop counting here by default. */
export const countedMax = 10_000

/** Whether the page is as long as pages that the service cut in other lists. */
export const isCutElsewhere = ({ records: { length }, cuts }: Page): boolean => cuts?.has(length) ?? false

/** The checkpoint after a step. Cursor and ties come from the step alone. */
export const apply = (before: Checkpoint, progress: ListProgress): Checkpoint => ({
  ...before,
  cursor: undefined,
  ties: undefined,
  ...progress
})

/** What follows a page. `failed`: this strategy does not work here. `again`: the same request may work if repeated. */
export type Step =
  | { readonly kind: "next"; readonly progress: ListProgress; readonly cursor?: unknown }
  | { readonly kind: "failed"; readonly reason: Detail; readonly again?: boolean }

export const next = (progress: ListProgress, cursor: unknown): Step => ({
  kind: "next",
  progress: { ...progress, cursor },
  cursor
})
/** A cursor is sent back and stored with every page, so its length is limited. */
export const isCursor = (value: unknown): boolean => {
  const text = written(value)
  return text !== unprintable && text.length <= 10_000
}
export const failed = (message: string): Step => ({ kind: "failed", reason: { message } })
/** A cache may have returned an old page, so the request is repeated before the strategy is given up. */
export const repeated = (message: string): Step => ({ kind: "failed", reason: { message }, again: true })
export const withWarning = (progress: ListProgress, warning: SingleReason): ListProgress => ({
  ...progress,
  warnings: distinct([...progress.warnings, warning])
})

/** Ends the current window, and with the last window the partition. */
export const ended = (progress: ListProgress): Step => {
  const { cursor: _, windows, ...rest } = progress
  if (!windows) return { kind: "next", progress: { ...rest, lastIds: [], done: true } }
  const remaining = windows.slice(1)
  const done = remaining.length === 0
  const counted = (progress.earlier?.total ?? 0) + (progress.total ?? 0)
  const total = done && progress.total !== undefined ? counted : undefined
  const earlier = { count: progress.count, total: counted }
  return { kind: "next", progress: { ...rest, windows: remaining, earlier, total, lastIds: [], done } }
}

export const instantsIn = (records: ReadonlyArray<unknown>, field: string): ReadonlyArray<number> =>
  records.map((record) => instantMs(at(record, field))).filter((value) => value !== undefined)

/** The id of a record, or its JSON where it has none. Checkpoints store it, so long texts are hashed. */
export const idOf = (record: unknown): string => {
  const text = written(at(record, "id") ?? at(record, "_id") ?? record).toWellFormed()
  return text.length > 200 ? hash("sha256", text) : text
}

/** Lists paged by position skip records when others are deleted meanwhile; a cursor does not. */
export const isPositional = ({ paging: { kind } }: Strategy): boolean => kind === "offset" || kind === "pageNumber"

/** The checkpoint a partition starts from: a fresh one, or that of an interrupted run. */
interface Beginning {
  readonly strategy: Strategy
  readonly mode: Reading["mode"]
  readonly since: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly optional: OptionalSettings
}

export const beginning = ({ strategy, mode, since, now, optional }: Beginning): Checkpoint => ({
  version: 1,
  done: false,
  count: 0,
  lastIds: [],
  warnings: [],
  mode,
  since,
  startedAt: now,
  fingerprint: fingerprint(strategy),
  // A sort-value cursor is the value itself, so the list can be read from the watermark on.
  ...(strategy.paging.kind === "sortValue" && !strategy.paging.descending && since !== undefined && { cursor: since }),
  ...(strategy.windows && { windows: windowsOf(strategy.windows, since, now, optional) })
})

const windowsOf = (
  { from, ahead = "2 days", longest }: NonNullable<Strategy["windows"]>,
  since: number | undefined,
  now: number,
  optional: OptionalSettings
): ReadonlyArray<readonly [number, number]> => {
  const beyond = typeof ahead === "object" && "daysOf" in ahead ? Duration.days(Number(optional[ahead.daysOf])) : ahead
  const start = from === "now" ? now : from === "since" ? (since ?? Number.NaN) : Date.parse(from)
  const end = now + Duration.toMillis(beyond)
  const step = longest === undefined ? end - start : Duration.toMillis(longest)
  const windows: Array<readonly [number, number]> = []
  for (let at = start; at < end; at += step) windows.push([at, Math.min(at + step, end)])
  return windows
}

/** The checkpoint of an interrupted run, unless the definition or the mode has changed since. */
export const resumed = (checkpoint: Checkpoint | undefined, fresh: Checkpoint): Checkpoint =>
  checkpoint?.fingerprint === fresh.fingerprint && checkpoint.mode === fresh.mode ? { ...fresh, ...checkpoint } : fresh

export const fingerprint = (strategy: Strategy): string =>
  hash("sha256", JSON.stringify([strategy.request, strategy.paging, strategy.records])).slice(0, 12)
