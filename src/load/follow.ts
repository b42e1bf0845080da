/** The load beside a running extract: takes in what the vault receives, and holds the extract back when it lags. */
import { Deferred, Effect, Latch } from "effect"
import type { Failure } from "../failure.ts"
import { Vault } from "../vault/vault.ts"
import { type Loader, worthwhileBytes } from "./load.ts"

export interface Follower {
  /** Runs for ever beside the extract; fails when a batch cannot be loaded. */
  readonly run: Effect.Effect<never, Failure>
  /** Waits while more than `lagBytesMax` wait to be loaded. */
  readonly backpressure: Effect.Effect<void>
  /** Returns when everything appended before the call is loaded. */
  readonly loaded: Effect.Effect<void>
}

const lagBytesMax = 8 * 1024 * 1024
/** How long a little waits for company. */
const patienceMs = 2000
const glanceMs = 20

/** Begins when the loader has taken in all that the vault holds. */
export const makeFollower = Effect.fn("load.follow")(function* (
  loader: Loader
): Effect.fn.Return<Follower, never, Vault> {
  const vault = yield* Vault
  const already = loader.loadedBytes()
  const loadedBytes = () => loader.loadedBytes() - already
  const lagBytes = () => vault.appendedBytes() - loadedBytes()
  const wake = yield* Latch.make(false)
  let waiting: ReadonlyArray<{ readonly bytes: number; readonly done: Deferred.Deferred<void> }> = []

  const step = Effect.gen(function* () {
    // Closed before looking: who asks from here on is seen in the next step.
    yield* wake.close
    for (
      let waited = 0;
      waiting.length === 0 && lagBytes() < worthwhileBytes && waited < patienceMs;
      waited += glanceMs
    )
      yield* Effect.raceFirst(wake.await, Effect.sleep(glanceMs))
    yield* loader.load
    const ready = waiting.filter((waiter) => waiter.bytes <= loadedBytes())
    waiting = waiting.filter((waiter) => waiter.bytes > loadedBytes())
    yield* Effect.forEach(ready, ({ done }) => Deferred.succeed(done, undefined), { discard: true })
  })

  return {
    run: Effect.forever(step),
    backpressure: Effect.gen(function* () {
      while (lagBytes() > lagBytesMax) yield* Effect.sleep(10)
    }),
    loaded: Effect.gen(function* () {
      const bytes = vault.appendedBytes()
      if (bytes <= loadedBytes()) return
      const done = yield* Deferred.make<void>()
      waiting = [...waiting, { bytes, done }]
      yield* wake.open
      yield* Deferred.await(done)
    })
  }
})
