import type { Collection, Entry } from "../account/collection.ts"
import { Random, streams } from "../account/random.ts"

export interface ChurnRate {
  /** Changes per second of the sandbox clock, which take place before the next request. */
  perSecond: number
  /** Changes per request. */
  perRequest: number
  /** The probability that a change deletes a contact. */
  deletes: number
  /** The probability that a change removes an order, an invoice, an opportunity, a message or a conversation. */
  removes: number
}

/** The rate at which the account changes while it is read, and the random choice of the changed records. */
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

  /** The number of changes before a request at `now`, at most 1,000. */
  due(now: number): number {
    const { perRequest, perSecond } = this.#rate
    const timed = Math.floor(((now - this.#since) * perSecond) / 1000)
    if (timed > 0) this.#since += (timed * 1000) / perSecond
    return Math.min(maxAtOnce, timed + perRequest)
  }

  /** One of the records that existed at the first pick since `start`; undefined if it was deleted later. */
  pick(collection: Collection): Entry | undefined {
    const ids = this.#ids.get(collection) ?? [...collection.live()].map((row) => row.id!)
    this.#ids.set(collection, ids)
    return ids.length === 0 ? undefined : collection.get(this.random.pick(ids))
  }
}

const none: ChurnRate = { perSecond: 0, perRequest: 0, deletes: 0, removes: 0 }
const maxAtOnce = 1000
