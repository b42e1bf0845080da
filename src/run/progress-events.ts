/** Tells those who watch a run each second what it has done so far. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { RunEvent } from "../values/run-event.ts"
import { type Watched, sumsOf } from "./watched.ts"

const intervalMs = 1000

/** Runs until it is interrupted. A second in which nothing was read has no event. */
export const progressEvents = (watched: Watched, onEvent: (event: RunEvent) => void) => {
  const pagesBefore = new Map<string, number>()
  let requestsBefore = 0
  const report = Effect.sync(() => {
    const sums = sumsOf(watched)
    if (sums.requests === requestsBefore) return
    requestsBefore = sums.requests
    onEvent({
      event: "progress",
      ...sums,
      resources: watched.accounts.flatMap((account) => changedOf(account, pagesBefore)),
      budgets: watched.accounts.map(({ api, location }) => {
        const { inWindow, burst, dailyRemaining } = api.usage()
        return { location, inWindow, burst, ...(dailyRemaining !== undefined && { leftToday: dailyRemaining }) }
      })
    })
  })
  return Effect.schedule(report, Schedule.spaced(intervalMs))
}

/** The readings with more pages than at the last call. */
const changedOf = ({ api, counts, location }: Watched["accounts"][number], pagesBefore: Map<string, number>) =>
  Array.from(counts).flatMap(([resource, { pages, records }]) => {
    const key = JSON.stringify([location, resource])
    if (pages === (pagesBefore.get(key) ?? 0)) return []
    pagesBefore.set(key, pages)
    return [{ location, resource, requests: api.requestsByResource.get(resource) ?? 0, pages, records }]
  })
