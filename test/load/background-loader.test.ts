/** How long a batch that is not full stays open for further pages. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeBackgroundLoader } from "../../src/stages/load/background-loader.ts"
import type { ShouldContinue } from "../../src/stages/load/batch.ts"
import type { Loader } from "../../src/stages/load/load.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Signal } from "../../src/values/signal.ts"
import { vaultOf } from "../extract/fakes.ts"

describe("a batch with a page of a quiet vault", () => {
  /** Milliseconds until it ends, in steps of ten. */
  const endsAfter = (watches: boolean) =>
    Effect.gen(function* () {
      const vault = vaultOf()
      let shouldContinue: ShouldContinue | undefined
      const background = yield* makeBackgroundLoader({
        loadContinuously: (given: ShouldContinue) => Effect.sync(() => void (shouldContinue = given)),
        loadedBytes: () => 0,
        progressed: new Signal(),
        known: { nextCommit: Effect.never }
      } as unknown as Loader).pipe(Effect.provideService(Vault, vault))
      yield* Effect.forkChild(background.run)
      yield* TestClock.adjust(0)
      const batch = yield* Effect.forkChild(shouldContinue!(vault.end(), 100))
      if (watches) yield* Effect.forkChild(background.nextCommit())
      let waited = 0
      for (; batch.pollUnsafe() === undefined; waited += 10) yield* TestClock.adjust(10)
      assert.isFalse(yield* Fiber.join(batch))
      return waited
    })

  it.effect("waits two seconds for more pages", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* endsAfter(false), 2000)
    })
  )

  it.effect("waits a quarter of a second if something waits for it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* endsAfter(true), 250)
    })
  )
})
