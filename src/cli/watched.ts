/** A run as the display, the log and `progress.json` see it. */
import type { ExpectedStep } from "../plan/expect.ts"
import { type ReadSoFar, liveRequests } from "../plan/live.ts"
import type { SyncAccount } from "../sync.ts"
import { type Range, sumOf } from "../values/range.ts"

type WatchedAccount = Pick<SyncAccount, "api" | "counts" | "location">

export interface Watched {
  readonly accounts: ReadonlyArray<WatchedAccount>
  /** Empty until the plan is made. */
  expectedByLocation: ReadonlyMap<string, ReadonlyArray<ExpectedStep>>
}

/** The requests of the whole run, as far as they are known by now; `undefined` before the plan is made. */
export const plannedRequests = ({ accounts, expectedByLocation }: Watched): Range | undefined =>
  expectedByLocation.size === 0
    ? undefined
    : sumOf(
        accounts.map((account) =>
          liveRequests(expectedByLocation.get(account.location) ?? [], (label) => soFar(account, label))
        )
      )

const soFar = ({ api, counts }: WatchedAccount, label: string): ReadSoFar | undefined => {
  const count = counts.get(label)
  if (!count) return undefined
  const totals = Object.values(count.totals ?? {})
  return {
    records: count.records,
    requests: api.requestsByResource.get(label) ?? 0,
    ...(totals.length > 0 && { total: totals.reduce((sum, total) => sum + total, 0) }),
    ...(count.status && { status: count.status })
  }
}
