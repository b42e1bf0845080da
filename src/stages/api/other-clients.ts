/**
 * Estimates how many requests other clients of the same account send in a window, and how many slots to leave to them.
 *
 * The service counts a request at some time between its sending and the response. From the number of requests that a
 * response reports, all requests that sluice may have sent in that window are subtracted. The rest certainly belongs to
 * other clients.
 *
 *     none active      in every third window one slot in a hundred stays free, because full windows would hide other clients
 *     active           they get the highest number of the last windows, and in addition as much as their use varies
 *     short of slots   if they used all of their slots in a full window, the service may have rejected some of their requests.
 *                      For two windows they get a quarter more or, if they have just appeared, twice as much and at least half
 *                      of the rate limit, so that their requests show what they need
 */

/** A request of sluice; times are those of the monotonic clock. */
export interface OwnRequest {
  readonly sentMs: number
  /** `undefined` while the request is in flight. */
  answeredMs: number | undefined
}

export interface Count {
  /** Requests of all clients in the window. */
  readonly used: number
  readonly burst: number
  readonly windowMs: number
}

/** Other clients count as active for this many windows after their requests, as they may send only now and then. */
const activeWindows = 6
/** From fewer windows than this, the variation of their use cannot be estimated. */
const windowsForVariation = 3
const slackMin = 2
/** One of this many windows has free slots, to detect other clients. */
const probeEvery = 3

export class OtherClients {
  /** Requests that may be in the window of a response still to come, oldest first. */
  private ownRequests: Array<OwnRequest>
  /** The highest use by other clients in each window, oldest first. */
  private peaks: Array<{ readonly fromMs: number; readonly untilMs: number; use: number }> = []
  private firstCountMs: number | undefined
  /** The highest use in the first window, until it is known whether it belongs to other clients or to an earlier run. */
  private firstUse = 0
  private windowMs = Infinity
  private extra = { share: 0, untilMs: 0 }

  /** `recent`: requests of the run before, which the service may still count. */
  constructor(recent: ReadonlyArray<OwnRequest>) {
    this.ownRequests = [...recent]
  }

  sent(now: number): OwnRequest {
    const own: OwnRequest = { sentMs: now, answeredMs: undefined }
    this.ownRequests.push(own)
    return own
  }

  /** `count`: the count in the response; `undefined` if there is none. */
  ended(own: OwnRequest, now: number, windowMs: number, count: Count | undefined): void {
    own.answeredMs = now
    if (count !== undefined) this.observe(own, now, count)
    const oldest = this.ownRequests.find(({ answeredMs }) => answeredMs === undefined)?.sentMs ?? now
    this.ownRequests = this.ownRequests.filter(
      ({ answeredMs }) => answeredMs === undefined || answeredMs + windowMs > oldest
    )
  }

  private observe(own: OwnRequest, now: number, { used, burst, windowMs }: Count): void {
    this.firstCountMs ??= now
    this.windowMs = windowMs
    const possible = this.ownRequests.filter(
      ({ answeredMs }) => answeredMs === undefined || answeredMs + windowMs > own.sentMs
    ).length
    const use = used - possible
    if (use <= 0) return
    const left = this.share(burst, now)
    const last = this.peaks.at(-1)
    // Use in the first window may be that of an earlier run of sluice, so it expires with the window. If later use is more
    // than half as high, it belongs to other clients and counts as such.
    const isFirst = now - this.firstCountMs < windowMs
    if (last && now < last.fromMs + windowMs) last.use = Math.max(last.use, use)
    else this.peaks.push({ fromMs: now, untilMs: now + (isFirst ? 1 : activeWindows) * windowMs, use })
    if (isFirst) this.firstUse = Math.max(this.firstUse, use)
    else if (this.firstUse > 0) {
      if (2 * use > this.firstUse)
        this.peaks.unshift({
          fromMs: this.firstCountMs,
          untilMs: this.firstCountMs + activeWindows * windowMs,
          use: this.firstUse
        })
      this.firstUse = 0
    }
    if (use < left - 1 || used < burst - 1) return
    const share = this.peaks.length < windowsForVariation ? Math.max(2 * use, burst / 2) : 1.25 * use + slackMin
    this.extra = { share: Math.ceil(share), untilMs: now + 2 * windowMs }
  }

  /** Slots of a window to leave to other clients. */
  share(burst: number, now: number): number {
    this.peaks = this.peaks.filter(({ untilMs }) => untilMs > now)
    if (!this.areActive) return this.isProbing(now) ? Math.floor(burst / 100) : 0
    const uses = this.peaks.map(({ use }) => use)
    const highest = Math.max(...uses)
    // The number of independent requests varies by its square root. The current window has not reached its peak yet.
    const complete = uses.slice(0, -1)
    const spread = complete.length < windowsForVariation ? Infinity : highest - Math.min(...complete)
    const slack = Math.max(slackMin, Math.min(spread, Math.sqrt(highest)))
    return Math.min(burst - 1, Math.max(Math.ceil(highest + slack), now < this.extra.untilMs ? this.extra.share : 0))
  }

  /** Whether the current window keeps slots free to detect other clients. */
  private isProbing(now: number): boolean {
    const window = Math.floor((now - (this.firstCountMs ?? now)) / this.windowMs)
    return window % probeEvery === probeEvery - 1
  }

  get areActive(): boolean {
    return this.peaks.length > 0
  }

  /** When `share` may decrease next, by the monotonic clock; infinite if no other clients are active. */
  decreasesAtMs(): number {
    return Math.min(...this.peaks.map(({ untilMs }) => untilMs), Infinity)
  }
}
