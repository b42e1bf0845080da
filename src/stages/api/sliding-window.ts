/** The sliding window of a rate limit: whether a request may be sent now, and when the next one may. It knows no clock. */
import { OtherClients, type OwnRequest } from "./other-clients.ts"

/** The rate limit as a response reports it; times are milliseconds. */
export interface RateLimitSnapshot {
  readonly max?: number | undefined
  readonly remaining?: number | undefined
  readonly windowMs?: number | undefined
  readonly dailyMax?: number | undefined
  readonly dailyRemaining?: number | undefined
  readonly dailyResetMs?: number | undefined
  /** Whether there was no connection, so that the service cannot have counted the request. */
  readonly unsent?: boolean
  /** Set for a 429: how long to wait. If the service does not say, the wait is a whole window. */
  readonly refusedForMs?: number | "unspecified" | undefined
}

/** A service that allows a retry at once usually rejects it. */
const refusedMsMin = 1000

/** Timers and clocks of both sides are rounded to milliseconds. */
const marginMs = 3

/**
 * While other clients are active, requests are spread over this share of a window. With few requests in flight,
 * responses show the use of other clients exactly, and early enough to leave them more.
 */
const spreadShare = 1 / 4

/** All times are of the monotonic clock, in milliseconds. */
export class SlidingWindow {
  inFlight = 0
  burst: number
  windowMs: number
  /** When each slot whose request has ended is free again, ascending. */
  private heldUntil: Array<number>
  private readonly others: OtherClients
  private isShared = false
  private isLimitKnown = false
  private blockedUntil = 0
  private pacedUntil = 0
  private capacity = 1
  private gapMs = 0

  /** `recent`: when the service answered the requests of an earlier run, ascending. */
  constructor(
    { burst, windowMs }: { readonly burst: number; readonly windowMs: number },
    recent: ReadonlyArray<number>
  ) {
    this.burst = burst
    this.windowMs = windowMs
    this.heldUntil = recent.map((at) => at + windowMs + marginMs)
    this.others = new OtherClients(recent.map((at) => ({ sentMs: at, answeredMs: at })))
  }

  /** Requests that the service may still count. */
  get counted(): number {
    return this.inFlight + this.heldUntil.length
  }

  /** Sees the time, before anything else is asked of it. */
  see(now: number): void {
    this.heldUntil = this.heldUntil.filter((until) => until > now)
    const leftToOthers = this.others.share(this.burst, now)
    // Other clients seem to have stopped: one request verifies this before the rest follow.
    if (this.isShared && !this.others.areActive) this.isLimitKnown = false
    this.isShared = this.others.areActive
    this.capacity = Math.max(1, this.burst - leftToOthers)
    this.gapMs = this.isShared ? (this.windowMs * spreadShare) / this.capacity : 0
  }

  isFree(now: number): boolean {
    const inFlightMax = this.isLimitKnown ? this.capacity : 1
    return now >= this.opensAt() && this.inFlight < inFlightMax && this.counted < this.capacity
  }

  take(now: number): void {
    this.inFlight++
    // Timers have a resolution of 1 ms, so a delay of up to 1 ms is made up for.
    this.pacedUntil = Math.max(this.pacedUntil, now - 1) + this.gapMs
  }

  /** When more may be free without a request that ends; `Infinity` if that is not known. */
  nextAt(now: number): number {
    return now < this.opensAt()
      ? Math.ceil(this.opensAt())
      : Math.min(this.heldUntil[0] ?? Infinity, this.others.decreasesAtMs())
  }

  isBlocked(now: number): boolean {
    return this.blockedUntil > now
  }

  sent(now: number): OwnRequest {
    return this.others.sent(now)
  }

  /** Returns for how long the service has just begun to refuse all requests. */
  ended(own: OwnRequest, now: number, seen: RateLimitSnapshot): number | undefined {
    this.burst = seen.max ?? this.burst
    this.windowMs = seen.windowMs ?? this.windowMs
    this.inFlight--
    if (!seen.unsent) this.heldUntil.push(now + this.windowMs + marginMs)
    // After a 429, one request tests the limit before the rest follow.
    this.isLimitKnown = seen.refusedForMs === undefined && (this.isLimitKnown || "max" in seen)
    const { burst, windowMs } = this
    const used = seen.remaining === undefined ? undefined : burst - seen.remaining
    this.others.ended(own, now, windowMs, used === undefined ? undefined : { used, burst, windowMs })
    if (seen.refusedForMs === undefined) return undefined
    const wasBlocked = this.isBlocked(now)
    const forMs = seen.refusedForMs === "unspecified" ? windowMs + marginMs : Math.max(seen.refusedForMs, refusedMsMin)
    this.blockedUntil = Math.max(this.blockedUntil, now + forMs)
    return wasBlocked ? undefined : this.blockedUntil - now
  }

  /** When the service answered the requests that it still counts. */
  answered(now: number): ReadonlyArray<number> {
    return this.heldUntil.filter((until) => until > now).map((until) => until - this.windowMs - marginMs)
  }

  private opensAt(): number {
    return Math.max(this.blockedUntil, this.pacedUntil)
  }
}
