/** Wakes fibers that wait for a change made by another fiber of this process. */
import * as Deferred from "effect/Deferred"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

export class Signal {
  #next = Deferred.makeUnsafe<void>()

  /** Ends with the next change. Take it before you look at what may change, so that no change is missed in between. */
  get next(): Effect.Effect<void> {
    return Deferred.await(this.#next)
  }

  notify(): void {
    const before = this.#next
    this.#next = Deferred.makeUnsafe<void>()
    Deferred.doneUnsafe(before, Exit.void)
  }
}
