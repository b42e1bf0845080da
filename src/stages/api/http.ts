/** Converts a request to HTTP, and reads the headers of a response. */
import type { Dispatcher } from "undici"
import { written } from "../../catalog/json.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import type { BoundRequest } from "../../catalog/request.ts"
import { sluiceVersion } from "../../values/version.ts"
import type { RateLimitSnapshot } from "./sliding-window.ts"

/** What sources name besides `v3`; see `makeVersions`. */
export const otherVersion = (version: string): string => (version === "v3" ? "2021-07-28" : "v3")

export const commonHeaders = {
  accept: "application/json",
  "accept-encoding": "zstd, gzip, br",
  version: "v3",
  // The default user agent of an HTTP library is blocked before it reaches the service (field-notes 1).
  "user-agent": `sluice/${sluiceVersion}`
}

export const headersOf = ({ method }: BoundRequest, token: string, version: string) => ({
  ...commonHeaders,
  version,
  authorization: `Bearer ${token}`,
  ...(method === "POST" && { "content-type": "application/json" })
})

export const httpRequest = ({ method, path, parameters }: BoundRequest) =>
  method === "POST"
    ? { method, path, body: JSON.stringify(parameters) }
    : { method, path: `${path}${query(parameters)}` }

const query = (parameters: Readonly<Record<string, unknown>>): string => {
  // A list becomes a repeated parameter.
  const text = new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) =>
      [value].flat().map((item): [string, string] => [name, written(item)])
    )
  ).toString()
  return text === "" ? "" : `?${text}`
}

export type Headers = Dispatcher.ResponseData["headers"]

export const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

export const lengthIn = (headers: Headers): number | undefined => {
  const length = headerOf(headers, "content-length")
  return length === undefined || !/^\d{1,15}$/.test(length) ? undefined : Number(length)
}

/** The rate limit as the headers of a response report it. */
export const rateHeaders = (headers: Headers, status: number): RateLimitSnapshot => {
  const number = (name: string) => {
    // An empty or unreadable header says nothing.
    const text = headerOf(headers, name)?.trim() ?? ""
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    // Larger values are errors: 1e11 ms are three years.
    return value >= 0 && value < 1e11 ? value : undefined
  }
  const resetMs = number("x-ratelimit-daily-reset")
  // Whatever the error: who asks to wait is waited for.
  const waitMs = status >= 400 ? retryAfterMs(headers) : undefined
  return {
    max: number("x-ratelimit-max") || undefined,
    remaining: number("x-ratelimit-remaining"),
    windowMs: number("x-ratelimit-interval-milliseconds") || undefined,
    dailyRemaining: number("x-ratelimit-daily-remaining"),
    dailyMax: number("x-ratelimit-limit-daily") || undefined,
    // A day ends within 24 hours in any time zone. A much larger value is not a duration.
    dailyResetMs: resetMs !== undefined && resetMs <= 2 * dayMs ? resetMs : undefined,
    ...((status === 429 || waitMs !== undefined) && { refusedForMs: waitMs ?? "unspecified" })
  }
}

/** The header has seconds, or a time by the service's clock. */
export const retryAfterMs = (headers: Headers): number | undefined => {
  const header = String(headers["retry-after"] ?? "").trim()
  if (/^\d{1,10}$/.test(header)) return Number(header) * 1000
  const waitMs = Date.parse(header) - (timeOf(headers) ?? Number.NaN)
  return waitMs >= 0 ? waitMs : undefined
}

/** The time of the response by the service's clock, epoch milliseconds. */
export const timeOf = (headers: Headers): number | undefined => {
  const time = Date.parse(String(headers["date"]))
  return Number.isNaN(time) ? undefined : time
}
