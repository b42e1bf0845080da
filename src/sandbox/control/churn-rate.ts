import type { Collection, Entry } from "../account/collection.ts"
import { Random, streams } from "../account/random.ts"

export interface ChurnRate {
  /** Changes per second of the sandbox clock, made before the next request is answered. */
  perSecond: number
  /** Changes per request. */
  perRequest: number
  /** The chance that a change is the deletion of a contact. */
  deletes: number
}

/** How fast the account changes while it is read, and the draws that decide what changes. */
export class Churn {
  #rate: ChurnRate = none
  #since = 0
  readonly #ids = new Map<Collection, ReadonlyArray<string>>()
  random = new Random(0, streams.churn, 0)
  changes = 0

  get rate(): ChurnRate {
    return this.#rate
  }

  start(rate: Partial<ChurnRate>, seed: number, now: number): void {
    this.#rate = { ...none, ...rate }
    this.#since = now
    this.random = new Random(seed, streams.churn, 0)
    this.#ids.clear()
  }

  /** The number of changes due at a request that arrives `now`. */
  due(now: number): number {
    const { perRequest, perSecond } = this.#rate
    const timed = Math.floor(((now - this.#since) * perSecond) / 1000)
    if (timed > 0) this.#since += (timed * 1000) / perSecond
    return Math.min(maxAtOnce, timed + perRequest)
  }

  /** A record among those that existed at the first pick; undefined if it has been deleted since. */
  pick(collection: Collection): Entry | undefined {
    const ids = this.#ids.get(collection) ?? [...collection.live()].map((row) => row.id!)
    this.#ids.set(collection, ids)
    return ids.length === 0 ? undefined : collection.get(this.random.pick(ids))
  }
}

const none: ChurnRate = { perSecond: 0, perRequest: 0, deletes: 0 }
const maxAtOnce = 1000
