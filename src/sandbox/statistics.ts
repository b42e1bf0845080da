/** What tests ask about the requests that arrived. */
export class Statistics {
  requests = 0
  requestsByOperation: Record<string, number> = {}
  /** Over a limit; those of a fault are counted with the faults. */
  refused429 = 0
  expiredCursorsShown = 0
  faults: Record<string, number> = {}
  /** The most arrivals in any sliding window of 10 seconds, refused ones too. */
  fullestWindow = 0
  arrivals: Array<number> = []
  #windowStart = 0

  /** A request with a valid token: one the limits are about. */
  arrive(instant: number): void {
    this.arrivals.push(instant)
    while (this.arrivals[this.#windowStart]! <= instant - 10_000) this.#windowStart++
    this.fullestWindow = Math.max(this.fullestWindow, this.arrivals.length - this.#windowStart)
  }

  count(operation: string): void {
    this.requests++
    this.requestsByOperation[operation] = (this.requestsByOperation[operation] ?? 0) + 1
  }

  strike(kind: string): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1
  }

  reset(): void {
    const fresh = new Statistics()
    this.requests = 0
    this.requestsByOperation = fresh.requestsByOperation
    this.refused429 = 0
    this.expiredCursorsShown = 0
    this.faults = fresh.faults
    this.fullestWindow = 0
    this.arrivals = fresh.arrivals
    this.#windowStart = 0
  }

  report(withArrivals: boolean): Record<string, unknown> {
    const { arrivals, expiredCursorsShown, faults, fullestWindow, refused429, requests, requestsByOperation } = this
    const counts = { requests, requestsByOperation, fullestWindow, refused429, expiredCursorsShown, faults }
    return withArrivals ? { ...counts, arrivals } : counts
  }
}
