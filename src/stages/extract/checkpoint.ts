/** The checkpoint a partition starts from: a fresh one, or that of an interrupted run. */
import { Duration } from "effect"
import { hash } from "node:crypto"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import type { Strategy } from "../../catalog/resource.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Reading } from "./run-context.ts"

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
  const start = from === "now" ? now : from === "since" ? since! : Date.parse(from)
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
