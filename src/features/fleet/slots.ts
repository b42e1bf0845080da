/** The locations that a worker runs side by side. Among those that wait, the one with the oldest tables goes first. */
import * as Effect from "effect/Effect"

export class Slots {
  #free: number
  readonly #waiting: Array<{ readonly freshAt: number; readonly start: () => void }> = []

  constructor(parallel: number) {
    this.#free = parallel
  }

  get hasFree(): boolean {
    return this.#free > 0
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Runs the work when a slot is free. `freshAt`: when its tables were last complete, epoch milliseconds; 0 for never. */
  readonly withSlot =
    (freshAt: number) =>
    <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(
          restore(this.#take(freshAt)),
          Effect.ensuring(
            restore(work),
            Effect.sync(() => this.#give())
          )
        )
      )

  #take(freshAt: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.#free > 0) {
        this.#free--
        resume(Effect.void)
        return undefined
      }
      const waiter = { freshAt, start: () => resume(Effect.void) }
      const place = this.#waiting.findIndex((other) => other.freshAt > freshAt)
      this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, waiter)
      return Effect.sync(() => {
        const at = this.#waiting.indexOf(waiter)
        if (at >= 0) this.#waiting.splice(at, 1)
        else this.#give()
      })
    })
  }

  #give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next.start()
  }
}
