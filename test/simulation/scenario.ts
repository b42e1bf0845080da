/** Plays a world: its nights, each followed by the oracles, and then calm nights until everything is as the service has it. */
import type { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { simulatedOf, smallCatalogue, tablesOf } from "./catalogue.ts"
import { make } from "./changes.ts"
import { Activity, VirtualClock } from "./clock.ts"
import { useDisk } from "./disk.ts"
import { FileHost } from "./host.ts"
import { emptyWarehouse, Machine, openWarehouse } from "./machine.ts"
import { afterRun } from "./oracles/all.ts"
import { durableRequests } from "./oracles/requests.ts"
import { type Account, type Records, accountOf, goesOn } from "./oracles/rows.ts"
import { pagesAreCounted } from "./oracles/counted.ts"
import { noSecrets } from "./oracles/secrets.ts"
import { type State, lastRun, readState } from "./oracles/state.ts"
import { verifyFindsDamage, verifyFindsNothing } from "./oracles/verified.ts"
import { type Ran, type Stage, runOnce } from "./run.ts"
import { isCut } from "./small-limits.ts"
import { SimulatedService } from "./service.ts"
import { type Interruption, type Night, type World, calmNight } from "./world.ts"

export interface Result {
  readonly world: World
  readonly events: ReadonlyArray<string>
  /** Names of the limits that took effect. */
  readonly crossed: ReadonlySet<string>
  /** Empty if every oracle agrees. */
  readonly wrong: ReadonlyArray<string>
}

/** More than a run of such an account takes. */
const stepsMax = 1000
const hourMs = 3_600_000
const epoch = Date.parse("2026-03-02T09:00:00Z")

let shared: ReturnType<typeof openWarehouse> | undefined

export const play = async (world: World): Promise<Result> => {
  const warehouse = await (shared ??= openWarehouse())
  const stage = stageOf(world, warehouse)
  await emptyWarehouse(warehouse, stage.catalogue)
  await stage.machine.start()
  const scenario = new Scenario(stage, await readState(warehouse, tablesOf(world)))
  try {
    for (const night of world.nights) if (scenario.wrong.length === 0) await scenario.night(night)
    if (scenario.wrong.length === 0) await scenario.end()
  } finally {
    useDisk(undefined)
    stage.machine.disk.remove()
  }
  return { world, events: scenario.events, crossed: stage.crossed, wrong: scenario.wrong.slice(0, 10) }
}

const stageOf = (world: World, warehouse: Warehouse["Service"]): Stage => {
  // Streams of their own, so that what one part draws does not depend on how many numbers another one took.
  const stream = (number: number) => randomFrom(world.seed * 31 + number)
  const random = stream(0)
  const clock = new VirtualClock(epoch)
  const activity = new Activity()
  const machine = new Machine(activity, clock, stream(1))
  const { contacts, foreign, habits, latencyMs, limits, retryAfter, scale, seed, windowKind } = world
  const options = {
    seed,
    contacts,
    users: 3,
    notesPerContact: 1.5,
    minimumScale: scale,
    now: epoch,
    limits,
    windowKind,
    foreign,
    ...(retryAfter !== undefined && { retryAfter })
  }
  const host = new FileHost({ random: stream(6), onSend: () => machine.step() })
  const service = (place: number, knownAs?: string) => {
    const [glitches, latencies] = [stream(2 + place), stream(4 + place)]
    return new SimulatedService({
      options: { ...options, variants: { ...habits } },
      clock,
      random: glitches,
      latencyMs: () => latencyMs * (0.5 + latencies()),
      onSend: () => machine.step(),
      host,
      // The pages of two locations may be alike.
      couldLose: (text) => !world.twoLocations && machine.disk.couldLose(text),
      ...(knownAs !== undefined && { knownAs })
    })
  }
  return {
    world,
    services: world.twoLocations ? [service(0), service(1, "SecondLocation000002")] : [service(0)],
    host,
    activity,
    catalogue: smallCatalogue(world.collections, world.pageSize, world.files),
    clock,
    machine,
    random,
    warehouse,
    output: { folder: machine.folder, formats: world.formats, memoryMb: 128 },
    crossed: new Set(),
    logged: []
  }
}

class Scenario {
  readonly events: Array<string> = []
  readonly wrong: Array<string> = []
  private readonly stage: Stage
  /** The records before the last run, or before the first one that it resumes, without those that are gone since. */
  private account: Account = []
  /** The rows after the last run. */
  private state: State
  private isTrusted = true
  private isSpoilt = false
  private isReduced = false
  /** Nothing has changed since the account was read in full. */
  private isUnchanged = true
  private hasRead = false
  /** The last run reached no end. */
  private wasInterrupted = false
  /** Collections whose reading goes on where an earlier run has left it. */
  private unread: ReadonlySet<string> = new Set()
  /** Some reading may not have reached its end since the last full sync. */
  private isUnfinished = false
  /** The last run, if it was interrupted, and what it has left on the disk. */
  private before: { readonly full: boolean; readonly durable: ReadonlyArray<ReadonlySet<string>> } | undefined

  constructor(stage: Stage, state: State) {
    this.stage = stage
    this.state = state
  }

  async night(night: Night): Promise<void> {
    const { clock, host, machine, random, services, world } = this.stage
    clock.elapsed += night.hoursAfter * hourMs
    machine.revive()
    machine.breakTarget(night.targetFails === true)
    host.bad = night.host
    for (const account of services) {
      Object.assign(account.service.settings.variants, night.habits)
      for (const change of night.changes) make(account.service, change, random)
      account.control("POST", "faults", { rules: night.faults })
      account.control("POST", "churn", night.churn ?? {})
      account.control("POST", "token", { restore: true })
      account.glitch = night.glitch
      account.lies = night.lies ?? 0
      account.echoesToken = night.echoesToken === true
    }
    const kinds = new Set(night.changes.map(({ what }) => what))
    this.isSpoilt ||= kinds.has("spoil") || kinds.has("stray")
    this.isReduced ||= kinds.has("delete") || night.churn !== undefined
    // What the first run reads is all new to it.
    if ((night.changes.length > 0 && this.hasRead) || night.churn) this.isUnchanged = false
    this.hasRead = true
    let stop = (): void => {}
    if (night.interruption) this.interrupt(night.interruption, () => stop())
    const { refused } = night
    if (refused) {
      const revoke = () => void services[refused.place % services.length]!.control("POST", "token", { revoke: true })
      if (refused.at === 0) revoke()
      else this.at(refused.at, revoke)
    }
    if (night.clock) this.at(night.clock.at, () => (clock.ahead += night.clock!.byMs))
    const { suspended } = night
    if (suspended)
      for (let step = suspended.every; step < stepsMax; step += suspended.every)
        this.at(step, () => clock.sleepAll(suspended.ms))
    const ran = await this.run(night, world.deletionShareMax, (interrupt) => (stop = interrupt))
    const isInterrupted = ran.synced === undefined || ran.exitCode === 75
    // One that was killed while it published had read everything: the next full sync is another one.
    const last = lastRun(this.state.meta)
    const isRead = last !== undefined && last["finished_at"] !== null && last["status"] !== "paused"
    this.before = isInterrupted && !isRead ? { full: night.full, durable: durableRequests(this.stage) } : undefined
    this.wasInterrupted = isInterrupted
    this.isUnfinished ||= ran.exitCode !== 0
  }

  private interrupt({ at, kind }: Interruption, stop: () => void): void {
    const { machine, random, services } = this.stage
    this.at(at, () => {
      switch (kind) {
        case "disk full":
          machine.disk.left = Math.floor(random() * 5000)
          break
        case "token":
          for (const account of services) account.control("POST", "token", { revoke: true })
          break
        case "stop":
          stop()
          break
        default:
          machine.kill(kind === "power")
          stop()
      }
    })
  }

  private at(step: number, event: () => void): void {
    const { events } = this.stage.machine
    const other = events.get(step)
    events.set(step, () => {
      event()
      other?.()
    })
  }

  private async run(
    night: Night,
    share: number,
    onStart: (stop: () => void) => void,
    name = describe(night)
  ): Promise<Ran> {
    const { stage } = this
    const before = this.state
    // What an interrupted run has read to its end counts for the one that resumes it.
    const present = accountOf(stage)
    this.account = stillIn(this.account, present, (name) => this.wasInterrupted || this.unread.has(name))
    const account = this.account
    const ran = await runOnce(stage, {
      full: night.full,
      deletionShareMax: share,
      targetFails: night.targetFails === true,
      onStart
    })
    const lost = stage.machine.rest()
    const statuses = ran.statuses.length > 0 ? ` [${ran.statuses.join("; ")}]` : ""
    this.events.push(`${name}: ${ran.how}${statuses}${lost ? `; ${lost}` : ""}`)
    this.state = await readState(stage.warehouse, tablesOf(stage.world))
    if (ran.synced !== undefined)
      this.unread = new Set(stage.world.collections.filter((one) => goesOn(ran, simulatedOf(one).resource.table)))
    const isMisdated = night.clock !== undefined && ran.synced?.clockAheadMs === undefined
    if (night.glitch || night.churn || isMisdated) this.isTrusted = false
    const found = await afterRun(stage, {
      night,
      share,
      account,
      before,
      after: this.state,
      ran,
      resumes: this.wasInterrupted,
      isTrusted: this.isTrusted,
      isSpoilt: this.isSpoilt,
      isReduced: this.isReduced,
      isUnchanged: this.isUnchanged,
      durable: this.continues(night) ? this.before!.durable : undefined
    })
    this.wrong.push(...found.map((one) => `${name}: ${one}`))
    return ran
  }

  /** Whether the run can only go on where the one before was interrupted. */
  private continues({ changes, churn, full, habits, hoursAfter }: Night): boolean {
    if (this.before === undefined || this.stage.clock.ahead !== 0 || hoursAfter > 1) return false
    return changes.length === 0 && habits === undefined && churn === undefined && (full === this.before.full || !full)
  }

  /** What was interrupted is resumed first; the last run reads the account as it is. */
  async end(): Promise<void> {
    const { clock, host, machine, services, world } = this.stage
    const full = { ...calmNight, full: true, hoursAfter: 25 }
    let last: Ran | undefined
    for (let left = isCut(world) ? 3 : 12, complete = this.isUnfinished ? 0 : 1; complete < 2; left--) {
      // Every run has said what it could not read.
      if (left === 0 && isCut(world)) return
      // Nothing comes after a page whose last record has no id: the service's cursor is that record.
      if (left === 0 && last?.statuses.every((one) => !/incomplete/.test(one) || /have no key/.test(one))) return
      if (left === 0) return void this.wrong.push("does not complete")
      clock.elapsed += full.hoursAfter * hourMs
      machine.revive()
      machine.breakTarget(false)
      host.bad = undefined
      for (const account of services) {
        account.control("POST", "faults", { rules: 0 })
        account.control("POST", "churn", {})
        account.control("POST", "token", { restore: true })
        account.glitch = undefined
        account.lies = 0
        account.echoesToken = false
      }
      this.wasInterrupted = complete === 0
      this.before = undefined
      const ran = await this.run(full, 1, () => {}, "at the end")
      last = ran
      if (this.wrong.length > 0) return
      if (ran.exitCode === 0) complete++
    }
    this.wrong.push(...noSecrets(this.stage, this.state), ...pagesAreCounted(this.stage, this.state))
    if (world.verify === "no") return
    machine.revive()
    this.wrong.push(...(await verifyFindsNothing(this.stage)))
    if (world.verify === "damage" && this.wrong.length === 0) this.wrong.push(...(await verifyFindsDamage(this.stage)))
  }
}

/** A reading that goes on has what existed when it began: these records of the earlier account, without those that are gone. */
const stillIn = (earlier: Account, present: Account, isOld: (collection: string) => boolean): Account =>
  present.map((byCollection, place) => {
    const left = (name: string, records: Records): Records =>
      new Map([...(earlier[place]?.get(name) ?? records)].filter(([id]) => records.has(id)))
    return new Map([...byCollection].map(([name, records]) => [name, isOld(name) ? left(name, records) : records]))
  })

const describe = ({ full, ...night }: Night): string => {
  const turned = Object.entries(night).filter(
    ([, value]) => value !== 0 && !(Array.isArray(value) && value.length === 0)
  )
  return `sync${full ? " --again=all" : ""} ${JSON.stringify(Object.fromEntries(turned))}`
}
