/**
 * A scenario of several syncs in this process on a virtual clock: the completeRuns program except its sockets, against the
 * sandbox. A seed decides the content of the account and all faults.
 *
 *     node_modules/.bin/node test/simulation/in-process.ts 17        # replays seed 17 and prints the differences
 *     node_modules/.bin/node test/simulation/in-process.ts 1-2000    # runs these seeds
 *     node_modules/.bin/node test/simulation/in-process.ts 1-99 contacts,notes   # with these collections only
 */
import { rmSync } from "node:fs"
import { randomFrom } from "../support/random.ts"
import { VirtualClock, Activity } from "./clock.ts"
import { emptyWarehouse, Machine, openWarehouse } from "./machine.ts"
import { afterRun, atRest, snapshot } from "./oracles.ts"
import { runOnce, type Ran } from "./run.ts"
import { SimulatedService } from "./service.ts"
import { smallCatalogue, tableOf } from "./catalogue.ts"

export interface Result {
  readonly seed: number
  readonly events: ReadonlyArray<string>
  /** Empty if the scenario succeeded. */
  readonly wrong: ReadonlyArray<string>
}

const hourMs = 3_600_000
const epoch = Date.parse("2026-03-02T09:00:00Z")

let shared: ReturnType<typeof openWarehouse> | undefined

export const simulate = async (seed: number, only?: ReadonlyArray<string>): Promise<Result> => {
  const warehouse = await (shared ??= openWarehouse())
  await emptyWarehouse(warehouse)
  const random = randomFrom(seed)
  const chance = (share: number) => random() < share
  const int = (below: number) => Math.floor(random() * below)
  const pick = <A>(...choices: ReadonlyArray<A>): A => choices[int(choices.length)]!

  const clock = new VirtualClock(epoch)
  const activity = new Activity()
  const machine = new Machine(activity, random)
  const contacts = 1 + int(chance(0.1) ? 50 : 15)
  const latencyMs = pick(5, 50, 400)
  const limits = chance(0.5)
    ? { burst: pick(10, 25, 100), intervalMs: 10_000, daily: chance(0.5) ? 30 + int(150) : 200_000 }
    : ("off" as const)
  const account = new SimulatedService(
    {
      seed,
      contacts,
      users: 3,
      now: epoch,
      limits,
      ...(chance(0.5) && { retryAfter: 1 + int(20) }),
      variants: {
        // With both, contacts could not be read at all, which a run reports correctly.
        ...pick<object>({}, {}, {}, {}, { contactPaging: "page" }, { contactDateFilter: "refused" }),
        ...(chance(0.1) && { opportunityFilters: "ignored" }),
        dailyResetHeader: chance(0.5)
      }
    },
    clock,
    () => latencyMs * (0.5 + random()),
    () => machine.step()
  )
  const catalogue = smallCatalogue(
    only ?? Array.from({ length: pick(1, 1, 1, 2, 2, 3) }, () => pick(...tableOf.keys())),
    pick(3, 5, 10, 25)
  )
  const events = [`${contacts} contacts, limits ${JSON.stringify(limits)}, latency ${latencyMs} ms`]
  const wrong: Array<string> = []
  const world = { account, activity, catalogue, clock, machine, random, warehouse }
  let runs = 0
  const report = (what: string, { how, statuses, problem }: Ran) => {
    runs++
    events.push(`${what}: ${how}${statuses.length > 0 ? ` [${statuses.join("; ")}]` : ""}`)
    if (problem !== undefined) wrong.push(`${what}: ${problem}`)
  }

  try {
    for (let left = 1 + int(3); left > 0; left--) {
      machine.revive()
      const disturbed: Array<string> = []
      const disturb = (what: string, at: number, event: () => void) => {
        disturbed.push(`${what} at step ${at}`)
        machine.events.set(at, event)
      }
      const faults = chance(0.4) ? pick<unknown>(0.03, 0.1, [{ kind: pick("hang", "slow"), rate: 0.02 }], refusals) : 0
      account.control("POST", "faults", { rules: faults })
      const churn = chance(0.5) ? { perRequest: pick(0.1, 0.5, 1), deletes: pick(0, 0.1) } : {}
      account.control("POST", "churn", churn)
      if (faults !== 0) disturbed.push(`faults ${JSON.stringify(faults)}`)
      if (churn.perRequest) disturbed.push(`churn ${JSON.stringify(churn)}`)
      const at = 1 + int(pick(20, 200, 500))
      let stop: (() => void) | undefined
      switch (pick("calm", "kill", "kill", "kill", "stop", "disk", "token")) {
        case "kill":
          disturb("kill", at, () => {
            machine.kill()
            stop?.()
          })
          break
        case "stop":
          disturb("stop", at, () => stop?.())
          break
        case "disk":
          disturb("disk full", at, () => machine.fillDisk(int(5000)))
          break
        case "token":
          disturb("token lost", at, () => account.control("POST", "token", { revoke: true }))
          break
        default:
      }
      if (chance(0.2)) {
        const by = pick(2 * hourMs, 9 * hourMs, -10 * 60_000, -3 * 60_000)
        disturb(`clock moved by ${by / 60_000} minutes`, 1 + int(300), () => (clock.ahead += by))
      }
      const full = chance(0.3)
      const before = snapshot(world)
      const ran = await runOnce(world, { full, deletionShareMax: 0.3, onStart: (interrupt) => (stop = interrupt) })
      report(`sync${full ? " --full" : ""} (${disturbed.join(", ") || "calm"})`, ran)
      wrong.push(...(await afterRun(world, before, ran, { full, calm: disturbed.length === 0 })))
      if (machine.isDead) events.push(`unsynced writes: ${machine.loseUnsyncedWrites()}`)

      account.control("POST", "faults", { rules: 0 })
      account.control("POST", "churn", {})
      account.control("POST", "token", { restore: true })
      if (chance(0.5)) account.control("POST", "change", { delete: pick(0, 0.05), contacts: 0.1, seed: left })
      clock.elapsed += pick(1000, 60_000, 5 * hourMs, 25 * hourMs)
    }
    // The first complete run may resume a stopped one; the second reads the account as it is.
    clock.ahead = Math.min(clock.ahead, pick(clock.ahead, 0))
    for (let left = 16, completeRuns = 0; left > 0 && completeRuns < 2; left--) {
      machine.revive()
      clock.elapsed += 25 * hourMs
      const before = snapshot(world)
      const ran = await runOnce(world, { full: true, deletionShareMax: 1 })
      report("at the end", ran)
      wrong.push(...(await afterRun(world, before, ran, { full: true, calm: true })))
      if (ran.problem === undefined && ran.exitCode === 0) completeRuns++
      if (left === 1) wrong.push("does not complete")
      if (ran.problem !== undefined) break
    }
    wrong.push(...(await atRest(world, limits === "off" ? undefined : limits.burst, runs)))
  } finally {
    rmSync(machine.folder, { recursive: true, force: true })
  }
  return { seed, events, wrong }
}

const refusals = [
  { kind: "429-storm", rate: 0.01, ms: 15_000 },
  { kind: "429", rate: 0.02 }
]

if (process.argv[1]?.endsWith("in-process.ts")) {
  const [from, to = from] = process.argv[2]!.split("-").map(Number) as [number, number?]
  const begun = performance.now()
  let failed = 0
  for (let seed = from; seed <= to!; seed++) {
    const { events, wrong } = await simulate(seed, process.argv[3]?.split(","))
    if (wrong.length > 0 || from === to) console.log(JSON.stringify({ seed, events, wrong }, null, 2))
    if (wrong.length > 0) failed++
  }
  const count = to! - from + 1
  console.log(`${count} seeds, ${failed} of them failed, ${Math.round((performance.now() - begun) / count)} ms each`)
  process.exit(failed > 0 ? 1 : 0)
}
