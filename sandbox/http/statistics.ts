import { type Integration, integrations } from "./limits.ts"

/** Counts of the received requests, which tests read. */
export class Statistics {
  requests = 0
  requestsByOperation: Record<string, number> = {}
  /** Requests over a limit. A 429 that is a fault is counted in `faults`. */
  refused429 = 0
  expiredCursorsShown = 0
  faults: Record<string, number> = {}
  /** The most requests of one integration in any window of the rate limit, including rejected ones. */
  fullestWindow = 0
  arrivals: Array<number> = []
  #windows = newWindows()
  readonly #windowMs: number

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Counts a request with a valid token, because only these count against the limits. */
  arrive(instant: number, integration: Integration): void {
    this.arrivals.push(instant)
    const window = this.#windows[integration]
    window.arrivals.push(instant)
    while (window.arrivals[window.start]! <= instant - this.#windowMs) window.start++
    this.fullestWindow = Math.max(this.fullestWindow, window.arrivals.length - window.start)
  }

  count(operation: string): void {
    this.requests++
    this.requestsByOperation[operation] = (this.requestsByOperation[operation] ?? 0) + 1
  }

  countFault(kind: string): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1
  }

  reset(): void {
    const fresh = new Statistics(this.#windowMs)
    this.requests = 0
    this.requestsByOperation = fresh.requestsByOperation
    this.refused429 = 0
    this.expiredCursorsShown = 0
    this.faults = fresh.faults
    this.fullestWindow = 0
    this.arrivals = fresh.arrivals
    this.#windows = newWindows()
  }

  report(withArrivals: boolean): Record<string, unknown> {
    const { arrivals, expiredCursorsShown, faults, fullestWindow, refused429, requests, requestsByOperation } = this
    const counts = { requests, requestsByOperation, fullestWindow, refused429, expiredCursorsShown, faults }
    return withArrivals ? { ...counts, arrivals } : counts
  }
}

/** The arrivals of each integration, and the index of the first one in the window that ends with the last. */
const newWindows = () =>
  Object.fromEntries(integrations.map((name) => [name, { arrivals: [] as Array<number>, start: 0 }])) as Record<
    Integration,
    { arrivals: Array<number>; start: number }
  >
