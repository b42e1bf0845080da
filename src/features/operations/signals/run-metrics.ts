/** The metrics of a run for OpenTelemetry, counted from what the run says. */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type { RunEvent } from "../../../values/run-event.ts"

const count = (name: string, description: string) => Metric.counter(name, { description, incremental: true })
const requests = count("sluice.requests", "Requests sent, retries included.")
const records = count("sluice.records", "Records received.")
const rows = count("sluice.rows", "Rows that the run added, changed or deleted.")
const rejects = count("sluice.rejects", "Rejected values and records.")
const waited = Metric.counter("sluice.wait.time", {
  description: "Time for which requests waited for the rate limit, in waits of at least a second.",
  incremental: true,
  attributes: { unit: "seconds" }
})
const used = Metric.gauge("sluice.budget.used", { description: "Requests in the current window of the rate limit." })
const leftToday = Metric.gauge("sluice.budget.left_today", {
  description: "Requests that the service allows until the end of the day."
})
const exitCode = Metric.gauge("sluice.exit_code", { description: "Exit code of the run." })
/** As the semantic conventions for HTTP clients say. */
const requestDuration = Metric.histogram("http.client.request.duration", {
  description: "Duration of requests to the service.",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  attributes: { unit: "seconds" }
})

type Attributes = Readonly<Record<string, string>>

export class RunMetrics {
  readonly #context: Context.Context<never>
  readonly #counted = new Map<string, number>()

  /** The registry of the context is that of this run alone. */
  constructor(context: Context.Context<never>) {
    this.#context = context
  }

  after(event: RunEvent): void {
    switch (event.event) {
      case "progress":
        for (const reading of event.resources) this.#read(reading)
        for (const { location, inWindow, leftToday: left } of event.budgets) {
          this.#update(used, inWindow, { location })
          if (left !== undefined) this.#update(leftToday, left, { location })
        }
        return
      case "resourceFinished":
        return this.#read(event)
      case "waiting":
        return this.#update(waited, event.waitMs / 1000, { location: event.location, reason: event.reason })
      case "loaded":
        for (const { location, resource, newRows, changedRows, deletedRows, rejected } of event.resources) {
          const changes = { new: newRows, changed: changedRows, deleted: deletedRows }
          for (const [change, number] of Object.entries(changes))
            this.#update(rows, number, { location, resource, change })
          this.#update(rejects, rejected, { location, resource })
        }
    }
  }

  request(seconds: number, attributes: Attributes): void {
    this.#update(requestDuration, seconds, attributes)
  }

  ended(code: number): void {
    this.#update(exitCode, code, {})
  }

  /** Events have sums, and counters take differences. */
  #read(
    reading: { readonly location: string; readonly resource: string } & Record<"requests" | "records", number>
  ): void {
    const { location, resource } = reading
    for (const [name, metric] of [["requests", requests] as const, ["records", records] as const]) {
      const key = JSON.stringify([name, location, resource])
      const sum = reading[name]
      this.#update(metric, Math.max(0, sum - (this.#counted.get(key) ?? 0)), { location, resource })
      this.#counted.set(key, sum)
    }
  }

  #update<State>(metric: Metric.Metric<number, State>, value: number, attributes: Attributes): void {
    Metric.withAttributes(metric, attributes).updateUnsafe(value, this.#context)
  }
}
