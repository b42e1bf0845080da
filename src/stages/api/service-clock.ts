/**
 * What the `Date` of the service's answers says of the machine's clock. One answer proves nothing: it may come from a cache, or
 * from one of many servers whose clock is wrong. Several that agree with each other, and of which none agrees with the machine,
 * do; otherwise, the machine's clock counts.
 */
import { type Limit, usualLimits } from "../../values/limits.ts"
import type { Clock } from "effect"

/** The two clocks of the machine, in milliseconds: the one that can be set, and the one that only counts on. */
export interface MachineTime {
  readonly wallClock: number
  readonly monotonic: number
}

export const timeOfMachine = (clock: Clock.Clock): MachineTime => ({
  wallClock: clock.currentTimeMillisUnsafe(),
  monotonic: Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
})

/** The answers that were sent with one `Date`: a page that a cache repeats says the time once, however often it comes. */
interface Second {
  readonly date: number
  /** When the monotonic clock showed 0, by the first of these answers. */
  readonly origin: number
  /** How far the machine's clock was ahead. */
  readonly aheadMs: number
  readonly answers: number
}

/** A clock that differs by less is right. */
const toleranceMs = 5 * 60_000
/** Answers that agree with each other differ by less: each has whole seconds, and some time on its way. */
const agreeingMs = 60_000
/** Agreeing seconds that prove something. */
const agreeingMin = 4
const agreeingShareMin = 0.75

export class ServiceClock {
  #seconds: ReadonlyArray<Second> = []
  #origin: number | undefined
  readonly #limit: Limit
  #wrongByMs: number | undefined

  constructor(limit = usualLimits.api.clockSeconds) {
    this.#limit = limit
  }

  /** `isOfCache`: whether something between has kept the answer. `sent`, `received`: when. Returns the time if it may be true. */
  heard(date: number | undefined, isOfCache: boolean, sent: MachineTime, received: MachineTime): number | undefined {
    const took = received.monotonic - sent.monotonic
    // The machine slept or its clock was set meanwhile.
    const isSteady = took <= agreeingMs && Math.abs(received.wallClock - sent.wallClock - took) <= agreeingMs
    if (date === undefined || isOfCache || !isSteady) return date
    const [origin, aheadMs] = [date + 500 - received.monotonic, received.wallClock - date - 500]
    const known = this.#seconds.find((one) => one.date === date)
    const second = known ? { ...known, answers: known.answers + 1 } : { date, origin, aheadMs, answers: 1 }
    this.#seconds = this.#limit.last([...this.#seconds.filter((one) => one !== known), second])
    this.#origin = this.#agreed()
    if (this.#origin !== undefined) this.#wrongByMs ??= received.wallClock - this.#origin - received.monotonic
    // Where the machine's clock is right by other answers, or wrong by another difference.
    const isKnown = this.#origin !== undefined || this.#seconds.some((one) => !isFarFromMachine(one))
    return isKnown && Math.abs(date - this.now(received)) > toleranceMs ? undefined : date
  }

  /** The time of the service where its answers prove that the machine's is wrong, otherwise that of the machine. */
  now({ monotonic, wallClock }: MachineTime): number {
    const proven = this.#origin === undefined ? wallClock : this.#origin + monotonic
    return Math.abs(proven - wallClock) > toleranceMs ? proven : wallClock
  }

  /** By how much the machine's clock was ahead, or behind if negative, when that was proven first in this run. */
  get wrongByMs(): number | undefined {
    return this.#wrongByMs
  }

  /** Whether every answer so far differs from the machine's clock, without a proof. */
  get isUnsettled(): boolean {
    return this.#origin === undefined && this.#seconds.length > 0 && this.#seconds.every(isFarFromMachine)
  }

  /** The origin on which the answers agree, if they prove that the machine's clock is wrong. */
  #agreed(): number | undefined {
    if (!this.#seconds.every(isFarFromMachine)) return undefined
    const sum = (seconds: ReadonlyArray<Second>) => seconds.reduce((all, { answers }) => all + answers, 0)
    for (const { origin } of this.#seconds) {
      const agreeing = this.#seconds.filter((one) => Math.abs(one.origin - origin) <= agreeingMs)
      if (agreeing.length >= agreeingMin && sum(agreeing) >= agreeingShareMin * sum(this.#seconds)) return origin
    }
    return undefined
  }
}

const isFarFromMachine = ({ aheadMs }: Second): boolean => Math.abs(aheadMs) > toleranceMs
