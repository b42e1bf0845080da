/**
 * Reads windows of the past, one after the other, behind everything else. What a sync knows is left as it is: no
 * watermark moves, nothing is found to be gone.
 */
import { Clock, Effect } from "effect"
import { Api } from "../api/api.ts"
import { type ApiError, Refused } from "../api/errors.ts"
import { type Window, dayMs } from "../catalog/instants.ts"
import { type Resource, type Way, passesOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import type { Outcome } from "../vault/frame.ts"
import { Vault } from "../vault/vault.ts"
import { type Reading, type RunContext, findingsOf } from "./context.ts"
import { type State, fingerprint, readPass, resumed } from "./pass.ts"

/** What changes late in a window, or is shown late, is read again with the next backfill. */
const settledAfterMs = dayMs

export const readWindows = Effect.fn("extract.windows")(function* (
  resource: Resource,
  reading: Reading,
  context: RunContext
): Effect.fn.Return<Outcome, ApiError | Failure, Api | Vault> {
  const [api, vault] = [yield* Api, yield* Vault]
  const before = api.requestsByResource.get(resource.table) ?? 0
  const { ways, by, daysAround = 0 } = resource.backfill!
  const doubts = new Set<string>()
  const findings = findingsOf(reading.findings)
  const work = { resource, sizes: { ...findings.sizes }, loose: new Set(findings.loose) }
  const refused = new Set<Way>()

  for (const window of reading.windows ?? []) {
    const [from, to] = window
    const startedAt = yield* Clock.currentTimeMillis
    const readWay = Effect.fnUntraced(function* (way: Way) {
      const begin = beginning(way, window, daysAround * dayMs, startedAt)
      return yield* Effect.forEach(
        passesOf(resource, context.asked),
        ([name, { parameters = {} }]) => {
          const state = resumed(reading.begun[name], begin)
          const start = state.window?.[0] === from && state.window[1] === to ? state : begin
          const pass = { ...work, way, name, parameters, label: resource.table, priority: 2 as const }
          return readPass(pass, start, context)
        },
        { concurrency: "unbounded" }
      )
    })
    let read = false
    for (const way of ways.filter((way) => !refused.has(way))) {
      const results = yield* readWay(way)
      const failure = results.find((result) => "reason" in result)
      if (failure) {
        refused.add(way)
        doubts.add(`${way.request.method} ${way.request.path} by ${by} did not do: ${failure.reason}`)
        continue
      }
      for (const result of results) if ("state" in result) result.state.doubts.forEach((doubt) => doubts.add(doubt))
      read = true
      break
    }
    if (!read) return yield* new Refused({ status: 0, message: [...doubts].join("; ") })
    const settled = Math.min(to, startedAt - settledAfterMs)
    yield* vault.append({
      entry: {
        kind: "window",
        run: context.run,
        at: yield* Clock.currentTimeMillis,
        location: context.location,
        resource: resource.table,
        window: [from, Math.max(from, settled)]
      },
      body: ""
    })
  }
  return {
    mode: "window",
    verdict: doubts.size > 0 ? "complete with doubts" : "complete",
    doubts: [...doubts],
    requests: (api.requestsByResource.get(resource.table) ?? 0) - before
  }
})

const beginning = (way: Way, window: Window, around: number, startedAt: number): State => {
  const [from, to] = [window[0] - around, window[1] + around]
  return {
    done: false,
    count: 0,
    lastIds: [],
    doubts: [],
    mode: "window",
    since: from,
    windows: [[from, to]],
    window,
    startedAt,
    fingerprint: fingerprint(way),
    // The cursor of a sort value is the value itself.
    ...(way.paging.kind === "sortValue" && { cursor: way.paging.descending ? to : from })
  }
}
