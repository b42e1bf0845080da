/** Loads the vault while extract is still running, and makes extract wait if the load falls too far behind. */
import { Clock, Effect } from "effect"
import { type Position, bytesBetween, isBefore } from "../../stores/vault/position.ts"
import { Limits } from "../../values/limits.ts"
import { Signal } from "../../values/signal.ts"
import { Vault } from "../../stores/vault/vault.ts"
import type { Loader } from "./load.ts"

/** How long an incomplete batch waits for more pages: a transaction costs about 50 ms whatever its size. */
const lingerMs = 2000
/** The same while children wait for parents. */
const watchedLingerMs = 250
/** How long a batch for which something waits is kept open for further pages: lists often end at the same time. */
const quietMs = 40

/** Call this once the loader has loaded everything already in the vault. */
export const makeBackgroundLoader = Effect.fn("load.background")(function* (loader: Loader) {
  const vault = yield* Vault
  const {
    load: { backlogBytes, nearBytes },
    vault: { segmentBytes }
  } = yield* Limits
  const initialBytes = loader.loadedBytes()
  const loadedBytes = () => loader.loadedBytes() - initialBytes
  const awaited = new Signal()
  let waiters = 0
  let watchers = 0
  let batchStartedAt: number | undefined

  const shouldContinue = Effect.fnUntraced(function* (position: Position, bytes: number) {
    const startedAt = yield* Clock.currentTimeMillis
    batchStartedAt = bytes === 0 ? undefined : (batchStartedAt ?? startedAt)
    for (;;) {
      const [grown, wanted] = [vault.grown.next, awaited.next]
      if (isBefore(position, vault.end())) return true
      const now = yield* Clock.currentTimeMillis
      const lingers = (batchStartedAt ?? Infinity) + (watchers > 0 ? watchedLingerMs : lingerMs) - now
      const leftMs =
        waiters > 0 && batchStartedAt !== undefined ? Math.min(lingers, startedAt + quietMs - now) : lingers
      if (leftMs <= 0) {
        batchStartedAt = undefined
        return false
      }
      const changed = Effect.raceFirst(grown, wanted)
      yield* leftMs === Infinity ? changed : Effect.raceFirst(changed, Effect.sleep(leftMs))
    }
  })

  const waitUntil = (condition: () => boolean) =>
    Effect.gen(function* () {
      for (let next = loader.progressed.next; !condition(); next = loader.progressed.next) yield* next
    })
  return {
    /** What the loaded batches show of the warehouse without a query. */
    known: loader.known,
    /** Runs until it is interrupted; fails if a batch cannot be loaded. */
    run: Effect.andThen(loader.loadContinuously(shouldContinue), Effect.never),
    /** Waits while the load is more than `backlogBytes` behind, or reads pages more than `nearBytes` behind the end. */
    backpressure: waitUntil(() => {
      const reading = loader.reading()
      const isNear =
        reading === undefined || !nearBytes.isExceededBy(bytesBetween(reading, vault.end(), segmentBytes.value))
      return isNear && !backlogBytes.isExceededBy(vault.appendedBytes() - loadedBytes())
    }),
    /**
     * Ends with the next batch that is committed, which is committed earlier while something waits for it. Take it before you
     * look at `known`, so that no batch is missed in between.
     */
    nextCommit: () => {
      const committed = loader.known.nextCommit
      return Effect.suspend(() => {
        watchers++
        awaited.notify()
        return Effect.ensuring(
          committed,
          Effect.sync(() => watchers--)
        )
      })
    },
    /** Returns when everything appended before the call has been loaded. */
    loaded: Effect.suspend(() => {
      const bytes = vault.appendedBytes()
      waiters++
      awaited.notify()
      return Effect.ensuring(
        waitUntil(() => loadedBytes() >= bytes),
        Effect.sync(() => waiters--)
      )
    })
  }
})
