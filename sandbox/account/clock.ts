import { setTimeout } from "node:timers/promises"

/** The clock of all timestamps, limits and delays: real time, which tests can move forward but not back. */
export class Clock {
  #ahead: number

  constructor(notBefore: number) {
    this.#ahead = Math.max(0, notBefore - Date.now())
  }

  now(): number {
    return Date.now() + this.#ahead
  }

  advance(milliseconds: number): void {
    this.#ahead += Math.max(0, milliseconds)
  }

  async wait(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await setTimeout(milliseconds)
  }
}

/** ISO 8601 in UTC. There are millions of timestamps, so the day is cached and the time computed by hand. */
export const iso = (instant: number): string => {
  const day = Math.floor(instant / 86_400_000)
  let date = dates.get(day)
  if (date === undefined) {
    date = new Date(day * 86_400_000).toISOString().slice(0, 11)
    dates.set(day, date)
  }
  const time = instant - day * 86_400_000
  const seconds = Math.floor(time / 1000)
  const minutes = Math.floor(seconds / 60)
  const milliseconds = String(time % 1000).padStart(3, "0")
  return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}.${milliseconds}Z`
}

const dates = new Map<number, string>()
const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"))

/** Epoch milliseconds of a timestamp in any form. */
export const epoch = (shown: unknown): number =>
  typeof shown === "number" ? shown : /^\d+$/.test(String(shown)) ? Number(shown) : Date.parse(String(shown))
