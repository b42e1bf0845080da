import type { Clock } from "../account/clock.ts"
import type { Limits, Settings } from "../options.ts"

/** Who sends requests to the one location of the sandbox: the private integration, or the OAuth app. */
export const integrations = ["private", "app"] as const
export type Integration = (typeof integrations)[number]

/** The limits of A 8: each integration has its own for the location, whatever token it uses. */
export class Limiter {
  readonly #budgets: Readonly<Record<Integration, Budget>>

  constructor(settings: Settings, clock: Clock) {
    this.#budgets = { private: new Budget(settings, clock), app: new Budget(settings, clock) }
  }

  /** Counts a request; false when it is over a limit and must be answered with 429. */
  arrive(integration: Integration): boolean {
    return this.#budgets[integration].arrive()
  }

  /** The rate headers every response carries (A 8); those of the private integration where no token says whose. */
  headers(integration: Integration = "private"): Record<string, string> {
    return this.#budgets[integration].headers()
  }
}

/**
 * What one integration may still send. A refused request spends nothing, or a client that asks again could never
 * recover; the statistics count it all the same.
 */
class Budget {
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #off: boolean
  readonly #settings: Settings
  /** Instants of the requests let through and still in the window, oldest first. */
  #spent: Array<number> = []
  #first = 0
  /** When the day began, and the requests let through since. */
  #day = 0
  #today = 0
  #foreignUntil = 0

  constructor(settings: Settings, clock: Clock) {
    this.#clock = clock
    this.#settings = settings
    this.#off = settings.limits === "off"
    this.#limits = settings.limits === "off" ? { burst: 1e9, intervalMs: 10_000, daily: 1e9 } : settings.limits
  }

  arrive(): boolean {
    this.#forget()
    if (this.#off) return true
    if (this.#remaining() <= 0 || this.#today >= this.#limits.daily) return false
    this.#spend()
    return true
  }

  /** The documented headers, and the sixth that was seen live (field-notes 1). */
  headers(): Record<string, string> {
    this.#forget()
    const { burst, daily, intervalMs } = this.#limits
    return {
      "X-RateLimit-Max": String(burst),
      "X-RateLimit-Remaining": String(this.#remaining()),
      "X-RateLimit-Interval-Milliseconds": String(intervalMs),
      "X-RateLimit-Limit-Daily": String(daily),
      "X-RateLimit-Daily-Remaining": String(Math.max(0, daily - this.#today)),
      ...(this.#settings.variants.dailyResetHeader && {
        // A duration in milliseconds, not an instant (field-notes 1).
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

  /** Lets go of what has left the window. A fixed window begins again all at once, a sliding one request by request. */
  #forget(): void {
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

  /** Another client of the same integration, which spends its share at the start of every interval. */
  #spendForeign(now: number): void {
    this.#foreignUntil = now + this.#limits.intervalMs
    for (let request = 0; request < this.#settings.foreign && this.#remaining() > 0; request++) this.#spend()
  }
}

const dayMs = 86_400_000
