/** The state of a pass beyond its progress: what it was begun with, and where an interrupted one goes on. */
import { hash } from "node:crypto"
import { type Window, dayMs } from "../catalog/instants.ts"
import type { Asked } from "../catalog/asked.ts"
import type { Way } from "../catalog/resource.ts"
import type { Reading } from "./context.ts"
import type { PassProgress } from "./progress.ts"

export interface State extends PassProgress {
  readonly mode: Reading["mode"]
  /** Watermark less overlap, epoch milliseconds; always there in mode `changed`. */
  readonly since: number | undefined
  /** When the reading began, epoch milliseconds. */
  readonly startedAt: number
  /** What the service's clock showed then: its changes are dated by it, and ours may be hours off. */
  readonly servedAt?: number | undefined
  /** The definition it was begun with: an edited one begins anew. */
  readonly fingerprint: string
  /** Read a second time, because the service counts more than the first time showed. */
  readonly again?: boolean
  /** In mode `window`: what is being read. */
  readonly window?: Window
  /** Ids of the first page, where another pass has to look at them. */
  readonly firstIds?: ReadonlyArray<string>
  /** Name of a pass whose parameters the service ignores; nothing of it is kept. */
  readonly ignored?: string
}

interface Beginning {
  readonly way: Way
  readonly mode: Reading["mode"]
  readonly since: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly asked: Asked
}

export const beginning = ({ way, mode, since, now, asked }: Beginning): State => ({
  done: false,
  count: 0,
  lastIds: [],
  doubts: [],
  mode,
  since,
  startedAt: now,
  fingerprint: fingerprint(way),
  // The cursor of a sort value is the value itself, so a reading can begin at the watermark.
  ...(way.paging.kind === "sortValue" && !way.paging.descending && since !== undefined && { cursor: since }),
  ...(way.windows && { windows: windowsOf(way.windows, since, now, asked) })
})

const windowsOf = (
  { from, aheadDays = 2, daysMax }: NonNullable<Way["windows"]>,
  since: number | undefined,
  now: number,
  asked: Asked
): ReadonlyArray<readonly [number, number]> => {
  const ahead = typeof aheadDays === "number" ? aheadDays : Number(asked[aheadDays])
  const start = from === "now" ? now : from === "since" ? since! : Date.parse(from)
  const end = now + ahead * dayMs
  const step = daysMax === undefined ? end - start : daysMax * dayMs
  const windows: Array<readonly [number, number]> = []
  for (let at = start; at < end; at += step) windows.push([at, Math.min(at + step, end)])
  return windows
}

/** Where an interrupted reading left off, if it was begun with the same definition; else the beginning. */
export const resumed = (begun: unknown, fresh: State): State => {
  // Written by this file.
  const state = begun as State | undefined
  return state?.fingerprint === fresh.fingerprint && state.mode === fresh.mode ? { ...fresh, ...state } : fresh
}

export const fingerprint = (way: Way): string =>
  hash("sha256", JSON.stringify([way.request, way.paging, way.records])).slice(0, 12)
