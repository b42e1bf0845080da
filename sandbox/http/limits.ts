import type { Clock } from "../account/clock.ts"
import type { Limits, Settings } from "../options.ts"

/** The clients of the location: the private integration, and the OAuth app. */
export const integrations = ["private", "app"] as const
export type Integration = (typeof integrations)[number]

/** The limits that every response reports. */
export const limitsOf = ({ limits }: Settings): Limits =>
  limits === "off" ? { burst: 1e9, intervalMs: 10_000, daily: 1e9 } : limits

/** The rate limits of A 8. Each integration has its own limits, independent of its current token. */
export class Limiter {
  readonly #budgets: Readonly<Record<Integration, Budget>>

  constructor(settings: Settings, clock: Clock) {
    this.#budgets = { private: new Budget(settings, clock), app: new Budget(settings, clock) }
  }

  /** Counts a request; false if it exceeds a limit, and the response must be 429. */
  tryAcquire(integration: Integration): boolean {
    return this.#budgets[integration].tryAcquire()
  }

  /** The rate limit headers of every response (A 8). A response without a valid token has those of the private integration. */
  headers(integration: Integration = "private"): Record<string, string> {
    return this.#budgets[integration].headers()
  }
}

/**
 * The remaining requests of one integration. A rejected request does not count, so that a client that repeats it can
 * recover; the statistics count it nevertheless.
 */
class Budget {
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #isOff: boolean
  readonly #settings: Settings
  /** Times of the accepted requests, oldest first. Those from index `#first` on are in the current window. */
  #spent: Array<number> = []
  #first = 0
  /** The start of the day, which is 24 hours long, and the requests accepted since. */
  #day = 0
  #today = 0
  #foreignUntil = 0

  constructor(settings: Settings, clock: Clock) {
    this.#clock = clock
    this.#settings = settings
    this.#isOff = settings.limits === "off"
    this.#limits = limitsOf(settings)
  }

  tryAcquire(): boolean {
    this.#expire()
    if (this.#isOff) return true
    if (this.#remaining() <= 0 || this.#today >= this.#limits.daily) return false
    this.#spend()
    return true
  }

  /** The five documented headers, and an undocumented one that the live service sends (field-notes 1). */
  headers(): Record<string, string> {
    this.#expire()
    const { burst, daily, intervalMs } = this.#limits
    return {
      "X-RateLimit-Max": String(burst),
      "X-RateLimit-Remaining": String(this.#remaining()),
      "X-RateLimit-Interval-Milliseconds": String(intervalMs),
      "X-RateLimit-Limit-Daily": String(daily),
      "X-RateLimit-Daily-Remaining": String(Math.max(0, daily - this.#today)),
      ...(this.#settings.variants.dailyResetHeader && {
        // The value is a duration in milliseconds, not a timestamp (field-notes 1).
        "X-RateLimit-Daily-Reset": String(Math.max(0, this.#day + dayMs - this.#clock.now()))
      })
    }
  }

  #remaining(): number {
    return Math.max(0, this.#limits.burst - (this.#spent.length - this.#first))
  }

  #spend(): void {
    this.#spent.push(this.#clock.now())
    this.#today++
  }

  /** Removes the requests before the current window. A fixed window restarts empty; from a sliding one, each leaves alone. */
  #expire(): void {
    const now = this.#clock.now()
    const { intervalMs } = this.#limits
    if (now >= this.#day + dayMs) {
      this.#day = now
      this.#today = 0
    }
    const since = this.#settings.windowKind === "fixed" ? now - (now % intervalMs) : now - intervalMs + 1
    while (this.#first < this.#spent.length && this.#spent[this.#first]! < since) this.#first++
    if (this.#first > 10_000) {
      this.#spent = this.#spent.slice(this.#first)
      this.#first = 0
    }
    if (this.#settings.foreign > 0 && now >= this.#foreignUntil) this.#spendForeign(now)
  }

  /** Simulates another client of the same integration, which sends its requests at the start of every interval. */
  #spendForeign(now: number): void {
    this.#foreignUntil = now + this.#limits.intervalMs
    for (let request = 0; request < this.#settings.foreign && this.#remaining() > 0; request++) this.#spend()
  }
}

const dayMs = 86_400_000
