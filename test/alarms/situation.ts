/** What an alarm is decided by, of made-up facts. */
import type { Situation } from "../../src/alarms/alarm.ts"
import type { Facts } from "../../src/alarms/facts.ts"
import { type FailedRun, verdictOf } from "../../src/alarms/verdict.ts"
import { evidenceOf } from "../../src/alarms/watch.ts"

export const now = Date.parse("2026-03-16T02:30:00Z")

export interface Rest extends Partial<Situation> {
  readonly failed?: FailedRun
}

export const situationOf = (facts: Facts, { failed, isRunning = false, ...rest }: Rest = {}): Situation => ({
  now,
  facts,
  verdict: verdictOf(evidenceOf(facts, { isRunning, failed })),
  naming: {
    isOfSeveral: new Set(facts.readings.map(({ location }) => location)).size > 1,
    placeOf: (id) => id,
    tokenOf: () => "account.token"
  },
  free: [],
  isRunning,
  ...rest
})
