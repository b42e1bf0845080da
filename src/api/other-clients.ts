/**
 * Other programs that use the same budget: how much of a window they use, and how much of it to leave to them.
 *
 * The service counted a request of ours at some moment between sending and answer. So of the number of requests that an
 * answer tells, all that we may have sent by then are taken off, and what remains is certainly theirs.
 *
 *     nobody in sight   in every third window one slot in a hundred stays free: through full ones nobody could be seen
 *     in sight          they keep the most they used lately, and as much more as their use varies
 *     short of room     their use came up to what was kept, so requests of theirs may have been refused: they get a
 *                       quarter more, or half of everything where they have just appeared, and then show what they need
 */

/** One of our requests, by a clock that nobody sets. */
export interface Own {
  readonly sentMs: number
  /** Nothing while it is under way. */
  answeredMs: number | undefined
}

export interface Count {
  /** Requests in the window, whoever sent them. */
  readonly used: number
  readonly burst: number
  readonly windowMs: number
}

/** Who sends now and then stays in sight for so many windows. */
const windowsMax = 6
/** Use that is known from fewer windows may vary more than it has shown. */
const windowsKnown = 3
const slackMin = 2
/** Windows of which one is looked through for others. */
const looksEvery = 3

export class Neighbours {
  /** Those that may stand in a window of which an answer is still to come, oldest first. */
  private ours: Array<Own> = []
  /** The most they used, window by window, oldest first. */
  private peaks: Array<{ readonly fromMs: number; readonly untilMs: number; use: number }> = []
  private firstMs: number | undefined
  /** The most in our first window, while it is not known whether it was somebody else's. */
  private inFirst = 0
  private windowMs = Infinity
  private room = { share: 0, untilMs: 0 }

  sent(now: number): Own {
    const own: Own = { sentMs: now, answeredMs: undefined }
    this.ours.push(own)
    return own
  }

  /** `count`: what the answer said, where there was one and it said anything. */
  ended(own: Own, now: number, windowMs: number, count: Count | undefined): void {
    own.answeredMs = now
    if (count !== undefined) this.see(own, now, count)
    const oldest = this.ours.find(({ answeredMs }) => answeredMs === undefined)?.sentMs ?? now
    this.ours = this.ours.filter(({ answeredMs }) => answeredMs === undefined || answeredMs + windowMs > oldest)
  }

  private see(own: Own, now: number, { used, burst, windowMs }: Count): void {
    this.firstMs ??= now
    this.windowMs = windowMs
    const possible = this.ours.filter(
      ({ answeredMs }) => answeredMs === undefined || answeredMs + windowMs > own.sentMs
    ).length
    const use = used - possible
    if (use <= 0) return
    const kept = this.share(burst, now)
    const last = this.peaks.at(-1)
    // What stands in our first window may be an earlier run of ours, and goes with it, unless there is as much after it.
    const isFirst = now - this.firstMs < windowMs
    if (last && now < last.fromMs + windowMs) last.use = Math.max(last.use, use)
    else this.peaks.push({ fromMs: now, untilMs: now + (isFirst ? 1 : windowsMax) * windowMs, use })
    if (isFirst) this.inFirst = Math.max(this.inFirst, use)
    else if (this.inFirst > 0) {
      if (2 * use > this.inFirst)
        this.peaks.unshift({ fromMs: this.firstMs, untilMs: this.firstMs + windowsMax * windowMs, use: this.inFirst })
      this.inFirst = 0
    }
    if (use < kept - 1 || used < burst - 1) return
    const share = this.peaks.length < windowsKnown ? Math.max(2 * use, burst / 2) : 1.25 * use + slackMin
    this.room = { share: Math.ceil(share), untilMs: now + 2 * windowMs }
  }

  /** Slots of a window that are not ours to use. */
  share(burst: number, now: number): number {
    this.peaks = this.peaks.filter(({ untilMs }) => untilMs > now)
    if (!this.inSight) return this.isLooking(now) ? Math.floor(burst / 100) : 0
    const uses = this.peaks.map(({ use }) => use)
    const most = Math.max(...uses)
    // Requests of many users at any time vary by the root of their number. The window we are in has not shown its peak.
    const shown = uses.slice(0, -1)
    const spread = shown.length < windowsKnown ? Infinity : most - Math.min(...shown)
    const slack = Math.max(slackMin, Math.min(spread, Math.sqrt(most)))
    return Math.min(burst - 1, Math.max(Math.ceil(most + slack), now < this.room.untilMs ? this.room.share : 0))
  }

  /** Through full windows nobody else could be seen, so one in a few is not filled. */
  private isLooking(now: number): boolean {
    const window = Math.floor((now - (this.firstMs ?? now)) / this.windowMs)
    return window % looksEvery === looksEvery - 1
  }

  get inSight(): boolean {
    return this.peaks.length > 0
  }

  /** When less of a window may be theirs. */
  changesMs(): number {
    return Math.min(...this.peaks.map(({ untilMs }) => untilMs), Infinity)
  }
}
