/** Counts of the requests that the file host has received, which tests read. */
export class FileStatistics {
  requests = 0
  /** Responses with a body or a part of one. */
  bodies = 0
  notModified = 0
  /** Requests with a header Authorization, which is for the API alone. */
  withToken = 0
  /** Requests to an address that is not public, to which links and redirects lead. */
  privateHits = 0
  inFlightMax = 0
  byPath: Record<string, number> = {}
  #inFlight = 0

  begin(path: string): void {
    this.requests++
    this.byPath[path] = (this.byPath[path] ?? 0) + 1
    this.inFlightMax = Math.max(this.inFlightMax, ++this.#inFlight)
  }

  end(): void {
    this.#inFlight--
  }

  reset(): void {
    this.requests = this.bodies = this.notModified = this.withToken = this.privateHits = 0
    this.inFlightMax = this.#inFlight
    this.byPath = {}
  }

  report(): Record<string, unknown> {
    const { bodies, byPath, inFlightMax, notModified, privateHits, requests, withToken } = this
    return { requests, bodies, notModified, withToken, privateHits, inFlightMax, byPath }
  }
}
