/** The load beside a running extract: takes in what the vault receives, and holds the extract back when it lags. */
import { Clock, Effect } from "effect"
import type { Failure } from "../failure.ts"
import { type Position, bytesBetween, isBefore } from "../vault/position.ts"
import { Vault } from "../vault/vault.ts"
import type { Loader } from "./load.ts"

export interface BackgroundLoader {
  /** Runs beside the extract, until it is interrupted; fails when a batch cannot be loaded. */
  readonly run: Effect.Effect<never, Failure>
  /** Waits while the load is more than `lagBytesMax` behind, or more than `nearBytes` and at it. */
  readonly backpressure: Effect.Effect<void>
  /** Returns when everything appended before the call is loaded. */
  readonly loaded: Effect.Effect<void>
}

/** A batch in the making and one on its way into the warehouse. */
const backlogBytesMax = 48 * 1024 * 1024
/** As far as the vault keeps pages as values: they need not be read and parsed again. */
const nearBytes = 2 * 1024 * 1024
/** How long less than a batch waits for company: a transaction costs some 50 ms whatever its size. */
const lingerMs = 2000
const pollIntervalMs = 20

/** Begins when the loader has taken in all that the vault holds. */
export const makeBackgroundLoader = Effect.fn("load.follow")(function* (
  loader: Loader
): Effect.fn.Return<BackgroundLoader, never, Vault> {
  const vault = yield* Vault
  const already = loader.loadedBytes()
  const loadedBytes = () => loader.loadedBytes() - already
  let waiting = 0
  let begunAt: number | undefined

  const more = Effect.fnUntraced(function* (place: Position, bytes: number) {
    const now = yield* Clock.currentTimeMillis
    begunAt = bytes === 0 ? undefined : (begunAt ?? now)
    while (!isBefore(place, vault.end())) {
      if (begunAt !== undefined && (waiting > 0 || (yield* Clock.currentTimeMillis) - begunAt >= lingerMs)) {
        begunAt = undefined
        return false
      }
      yield* Effect.sleep(pollIntervalMs)
    }
    return true
  })

  const until = (condition: () => boolean) =>
    Effect.gen(function* () {
      while (!condition()) yield* Effect.sleep(pollIntervalMs)
    })
  return {
    run: Effect.andThen(loader.loadContinuously(more), Effect.never),
    backpressure: until(() => {
      const reading = loader.reading()
      const isNear = reading === undefined || bytesBetween(reading, vault.end()) <= nearBytes
      return isNear && vault.appendedBytes() - loadedBytes() <= backlogBytesMax
    }),
    loaded: Effect.suspend(() => {
      const bytes = vault.appendedBytes()
      waiting++
      return Effect.ensuring(
        until(() => loadedBytes() >= bytes),
        Effect.sync(() => waiting--)
      )
    })
  }
})
