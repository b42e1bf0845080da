/** A request as it goes over the wire, and the headers of the answer that matter. */
import type { Dispatcher } from "undici"
import { written } from "../catalog/json.ts"
import { dayMs } from "../catalog/timestamps.ts"
import type { BoundRequest } from "../catalog/request.ts"
import type { RateLimitSnapshot } from "./rate-limiter.ts"

export const commonHeaders = {
  accept: "application/json",
  "accept-encoding": "zstd, gzip, br",
  version: "v3",
  // A default user agent is blocked in front of the service (field-notes 1).
  "user-agent": "sluice/0.1"
}

export const headersOf = ({ method }: BoundRequest, token: string) => ({
  ...commonHeaders,
  authorization: `Bearer ${token}`,
  ...(method === "POST" && { "content-type": "application/json" })
})

export const http = ({ method, path, parameters }: BoundRequest) =>
  method === "POST"
    ? { method, path, body: JSON.stringify(parameters) }
    : { method, path: `${path}${query(parameters)}` }

const query = (parameters: Readonly<Record<string, unknown>>): string => {
  // A list is sent as the same parameter several times.
  const text = new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, written(one)] as [string, string])
    )
  ).toString()
  return text === "" ? "" : `?${text}`
}

/** What the service says of the budget. */
export const rateHeaders = (headers: Dispatcher.ResponseData["headers"], status: number): RateLimitSnapshot => {
  const number = (name: string) => {
    const value = Number(headers[name] ?? Number.NaN)
    // Nothing the service counts is beyond: not even three years in milliseconds.
    return value >= 0 && value < 1e11 ? value : undefined
  }
  const resetMs = number("x-ratelimit-daily-reset")
  return {
    max: number("x-ratelimit-max") || undefined,
    remaining: number("x-ratelimit-remaining"),
    windowMs: number("x-ratelimit-interval-milliseconds") || undefined,
    dailyRemaining: number("x-ratelimit-daily-remaining"),
    dailyMax: number("x-ratelimit-limit-daily") || undefined,
    // A day ends within a day, wherever it began; more is no duration.
    dailyResetMs: resetMs !== undefined && resetMs <= 2 * dayMs ? resetMs : undefined,
    ...(status === 429 && { refusedForMs: retryAfterMs(headers) ?? "unsaid" })
  }
}

/** Seconds, or a moment by the service's clock. */
const retryAfterMs = (headers: Dispatcher.ResponseData["headers"]): number | undefined => {
  const said = String(headers["retry-after"] ?? "").trim()
  if (/^\d{1,10}$/.test(said)) return Number(said) * 1000
  const waitMs = Date.parse(said) - (timeOf(headers) ?? Number.NaN)
  return waitMs >= 0 ? waitMs : undefined
}

/** What the service's clock showed when it answered, epoch milliseconds. */
export const timeOf = (headers: Dispatcher.ResponseData["headers"]): number | undefined => {
  const time = Date.parse(String(headers["date"]))
  return Number.isNaN(time) ? undefined : time
}
