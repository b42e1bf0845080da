/** A run as the display, the log and `progress.json` see it. */
import type { ExpectedStep } from "../stages/plan/expect.ts"
import { type ReadSoFar, liveRequests } from "../stages/plan/live.ts"
import type { SyncAccount } from "./sync-account.ts"
import { sumOf } from "../values/range.ts"

type WatchedAccount = Pick<SyncAccount, "api" | "counts" | "location">

export interface Watched {
  readonly accounts: ReadonlyArray<WatchedAccount>
  /** Of the locations, as far as they are known. */
  names?: ReadonlyMap<string, string>
  /** Empty until the plan is made. */
  expectedByLocation: ReadonlyMap<string, ReadonlyArray<ExpectedStep>>
  /** Once everything is read and loaded. */
  isPublishing?: boolean
}

export type Totals = ReturnType<typeof totalsOf>
export const totalsOf = ({ accounts, expectedByLocation }: Watched) => {
  const planned =
    expectedByLocation.size === 0
      ? undefined
      : sumOf(
          accounts.map((account) =>
            liveRequests(expectedByLocation.get(account.location) ?? [], (label) => soFar(account, label))
          )
        )
  return {
    /** Requests sent and records read so far. */
    requests: total(accounts.flatMap(({ api }) => [...api.requestsByResource.values()])),
    records: total(accounts.flatMap(({ counts }) => Array.from(counts.values(), ({ records }) => records))),
    /** The requests of the whole run, as far as they are known by now; `undefined` before the plan is made. */
    planned
  }
}

/** What other commands and the events of the run say of it. */
export const sumsOf = (watched: Watched) => {
  const { requests, planned, records } = totalsOf(watched)
  return { requests, ...(planned && { planned }), records }
}

const soFar = ({ api, counts }: WatchedAccount, label: string): ReadSoFar | undefined => {
  const count = counts.get(label)
  if (!count) return undefined
  const totals = Object.values(count.totals ?? {})
  return {
    records: count.records,
    requests: api.requestsByResource.get(label) ?? 0,
    ...(totals.length > 0 && { total: total(totals) }),
    ...(count.status && { status: count.status })
  }
}

export const total = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, number) => sum + number, 0)
