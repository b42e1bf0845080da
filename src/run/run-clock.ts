/** The clock of a run: its moments are those of the service, where the service's answers prove that the machine's clock is wrong. */
import { Clock, Effect } from "effect"
import type { Catalogue } from "../catalog/discover.ts"
import { expectedOf, failureIn } from "../catalog/answer.ts"
import { bind } from "../catalog/request.ts"
import { type Choice, choose } from "../stages/plan/plan.ts"
import { timeOfMachine } from "../stages/api/service-clock.ts"
import type { Api } from "../stages/api/api.ts"

type Accounts = ReadonlyArray<{ readonly api: Api["Service"]; readonly location: string }>

/** Runs the effect with this clock. Waits are the machine's, and so is what the API's client measures. */
export const withRunClock = <A, E, R>(
  run: Effect.Effect<A, E, R>,
  { accounts }: { readonly accounts: Accounts }
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.Clock, (machine) => {
    const now = () => {
      const time = timeOfMachine(machine)
      return clockOf(accounts)?.now(time) ?? time.wallClock
    }
    const nanos = () => BigInt(Math.floor(now())) * 1_000_000n
    return Effect.provideService(run, Clock.Clock, {
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: machine.monotonicTimeNanos,
      sleep: (duration) => machine.sleep(duration)
    })
  })

/** That of the first account for which something is proven. */
const clockOf = (accounts: Accounts) =>
  accounts.map(({ api }) => api.serviceClock).find(({ wrongByMs }) => wrongByMs !== undefined)

/** By how much the machine's clock was ahead, or behind if negative; `undefined` if nothing proves it wrong. */
export const clockAheadMs = (accounts: Accounts): number | undefined => clockOf(accounts)?.wrongByMs

/** Every whole run asks for its location first. Here it does so before it has a moment of its own. */
export const learnTime = Effect.fnUntraced(function* (catalogue: Catalogue, accounts: Accounts, choice: Choice) {
  const [account] = accounts
  const read = yield* choose(catalogue, choice)
  if (account && read.some(({ table }) => table === "locations")) yield* ask(catalogue, account)
  yield* settleTime(catalogue, accounts)
})

/** Asks again, while all answers differ from the machine's clock and are too few to prove anything. */
export const settleTime = Effect.fnUntraced(function* (catalogue: Catalogue, accounts: Accounts) {
  for (let left = requestsMax; left > 0; left--) {
    const account = accounts.find(({ api }) => api.serviceClock.isUnsettled)
    if (account === undefined || clockAheadMs(accounts) !== undefined) return
    // The answers of one second count once.
    yield* Effect.sleep(1100)
    yield* ask(catalogue, account)
  }
})

const requestsMax = 5

const ask = ({ resources }: Catalogue, { api, location }: Accounts[number]) => {
  const resource = resources.find(({ table }) => table === "locations")
  const strategy = resource?.full?.[0]
  if (resource === undefined || strategy === undefined) return Effect.void
  return api.sendAhead({
    request: bind(strategy.request, { location }),
    pathTemplate: strategy.request.path,
    priority: 1,
    resource: resource.table,
    failureIn: failureIn(expectedOf(resource, strategy, "all")),
    records: strategy.records
  })
}
