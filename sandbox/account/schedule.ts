/** Effects that are due at a later time of the sandbox clock; they run before the first request after that time. */
export class Schedule {
  #waiting: Array<{ at: number; act: () => void }> = []

  at(instant: number, act: () => void): void {
    this.#waiting.push({ at: instant, act })
  }

  run(now: number): void {
    if (this.#waiting.length === 0) return
    const due = this.#waiting.filter(({ at }) => at <= now)
    this.#waiting = this.#waiting.filter(({ at }) => at > now)
    for (const { act } of due) act()
  }
}
