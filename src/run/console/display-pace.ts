/** Estimates the time that a run still takes from the requests that it has sent in the last minute. */

const observedMsMax = 60_000
/** A shorter observation may be one burst of the rate limit. */
const observedMsMin = 10_000

export class Pace {
  #samples: Array<{ readonly at: number; readonly requests: number }> = []

  /** Adds the number of requests that were sent until a time, in milliseconds. */
  add(at: number, requests: number): void {
    this.#samples = [...this.#samples.filter((sample) => sample.at >= at - observedMsMax), { at, requests }]
  }

  /**
   * Milliseconds that a number of requests take. `undefined` while the pace is unknown, or if no request was sent.
   * `perMs`: the pace that the rate limit allows, which a burst at the beginning exceeds.
   */
  msFor(requests: number, perMs: number): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (first === undefined || last === undefined || last.at - first.at < observedMsMin) return undefined
    const pace = Math.min((last.requests - first.requests) / (last.at - first.at), perMs)
    return pace > 0 ? requests / pace : undefined
  }
}
