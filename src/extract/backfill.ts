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
import { readPass } from "./pass.ts"
import { type State, fingerprint, resumed } from "./state.ts"
import { missingBeyondDrift } from "./verdict.ts"

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
  let wanting = false

  for (const window of reading.windows ?? []) {
    const [from, to] = window
    const startedAt = yield* Clock.currentTimeMillis
    const readWay = Effect.fnUntraced(function* (way: Way) {
      const begin = beginning(way, window, daysAround * dayMs, startedAt)
      return yield* Effect.forEach(
        passesOf(resource, context.asked),
        ([name, { parameters = {} }]) => {
          const state = resumed(reading.begun[name], begin)
          // One that came to its end and was not written down as read showed too little.
          const isUnderWay = !state.done && state.window?.[0] === from && state.window[1] === to
          const start = isUnderWay ? state : begin
          const pass = { ...work, way, name, parameters, label: resource.table, priority: 2 as const }
          return readPass(pass, start, context)
        },
        { concurrency: "unbounded" }
      )
    })
    let read: "whole" | "in part" | undefined
    for (const way of ways.filter((way) => !refused.has(way))) {
      const results = yield* readWay(way)
      const failure = results.find((result) => "reason" in result)
      if (failure) {
        refused.add(way)
        doubts.add(`${way.request.method} ${way.request.path} by ${by} did not do: ${failure.reason}`)
        continue
      }
      const states = results.flatMap((result) => ("state" in result ? [result.state] : []))
      for (const state of states) state.doubts.forEach((doubt) => doubts.add(doubt))
      const missing =
        way.filtered === undefined ? 0 : Math.max(0, ...states.map((state) => missingBeyondDrift(state, way)))
      if (missing > 0)
        doubts.add(`${missing} of the records that the service counts in ${windowText(window)} were not shown`)
      read = missing === 0 ? "whole" : "in part"
      break
    }
    if (read === undefined) return yield* new Refused({ status: 0, message: [...doubts].join("; ") })
    // Not written down as read, so the next backfill asks for it again.
    if (read === "in part") {
      wanting = true
      continue
    }
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
    verdict: wanting ? "incomplete" : doubts.size > 0 ? "complete with doubts" : "complete",
    doubts: [...doubts],
    requests: (api.requestsByResource.get(resource.table) ?? 0) - before
  }
})

const windowText = (window: Window): string =>
  window.map((time) => new Date(time).toISOString().slice(0, 10)).join(" to ")

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
