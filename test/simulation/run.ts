/** One run of the whole program in a simulated world, until it ends or hangs. */
import { Cause, Context, Effect, Exit, Fiber, Layer, Logger, Clock, Random, Redacted } from "effect"
import { join } from "node:path"
import { Api } from "../../src/stages/api/api.ts"
import { BadCredentials } from "../../src/stages/api/errors.ts"
import { Transport } from "../../src/stages/api/exchange.ts"
import { evolving } from "../../src/catalog/schema-policy.ts"
import type { Catalogue } from "../../src/catalog/discover.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { Failure } from "../../src/values/failure.ts"
import { type Synced, sync } from "../../src/run/sync-account.ts"
import type { OutputSettings } from "../../src/settings/settings.ts"
import type { Target } from "../../src/settings/targets.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { nothingOptional } from "../support/optional.ts"
import type { FileHost } from "./host.ts"
import type { Activity, VirtualClock } from "./clock.ts"
import type { Machine } from "./machine.ts"
import type { SimulatedService } from "./service.ts"
import type { World } from "./world.ts"

/** The parts of a world at work. */
export interface Stage {
  readonly world: World
  /** One for each location. */
  readonly services: ReadonlyArray<SimulatedService>
  readonly host: FileHost
  readonly activity: Activity
  readonly catalogue: Catalogue
  readonly clock: VirtualClock
  readonly machine: Machine
  /** From 0 to 1, excluding 1. */
  readonly random: () => number
  readonly warehouse: Warehouse["Service"]
  readonly output: OutputSettings
  /** Names of the limits that took effect. */
  readonly crossed: Set<string>
  /** All that the runs have logged. */
  readonly logged: Array<string>
}

export interface Ran {
  /** The end of the run, for the report. */
  readonly how: string
  readonly exitCode: number | undefined
  /** The resources that are not complete, with the reasons. */
  readonly statuses: ReadonlyArray<string>
  readonly synced: Synced | undefined
  /** A fault of the program, if any. */
  readonly problem: string | undefined
  /** The target was not written, and the run has failed. */
  readonly hasTargetFailed: boolean
}

interface Options {
  readonly full: boolean
  readonly deletionShareMax: number
  /** The target cannot be written: a run may fail for this reason. */
  readonly targetFails: boolean
  /** Receives a function that stops the run as a signal does. */
  readonly onStart?: (interrupt: () => void) => void
}

/** Longer than any wait of the program: a run without a step for this time hangs. */
const idleMsMax = 5 * 60_000
/** More alarms than this without a step mean that a run loops without waiting. */
const alarmsMax = 20_000
/** No account of a world needs so many requests in one run. */
const requestsMax = 1500

export const runOnce = async (stage: Stage, options: Options): Promise<Ran> => {
  const { activity, clock, machine, services } = stage
  for (const service of services) service.beginRun()
  const fiber = Effect.runFork(program(stage, options), { scheduler: activity.scheduler })
  let interrupted = false
  options.onStart?.(() => {
    interrupted = true
    Effect.runFork(Fiber.interrupt(fiber), { scheduler: activity.scheduler })
  })
  const requests = () => services.reduce((sum, { sent }) => sum + sent.length, 0)
  const progress = () => machine.writes + requests()
  const awake = () => clock.elapsed - clock.slept
  let [steps, since, alarms] = [0, awake(), 0]
  while (true) {
    await activity.rest()
    if (fiber.pollUnsafe() !== undefined) break
    const now = progress()
    if (now !== steps) [steps, since, alarms] = [now, awake(), 0]
    const isEndless = requests() > requestsMax
    if (isEndless || !clock.next() || awake() - since > idleMsMax || ++alarms > alarmsMax) {
      if (!isEndless && !machine.isDead && (await isCompressing(() => progress() !== steps))) continue
      // Of a killed process, a thread may be left that compresses: nobody waits for it.
      const wasKilled = machine.isDead
      machine.kill()
      Effect.runFork(Fiber.interrupt(fiber), { scheduler: activity.scheduler })
      do await activity.rest()
      while (fiber.pollUnsafe() === undefined && clock.next())
      if (wasKilled) return { ...nothing, how: "killed", problem: undefined }
      const problem = isEndless ? "the run sends requests without end" : "the run makes no progress and does not end"
      return { ...nothing, how: "hangs", problem }
    }
  }
  /** Whether a run that seems to hang has waited for a thread that compresses: only real time shows it to be at work. */
  async function isCompressing(hasMoved: () => boolean): Promise<boolean> {
    for (let left = 60; left > 0; left--) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      await activity.rest()
      if (fiber.pollUnsafe() !== undefined || hasMoved()) return true
      clock.next()
    }
    return false
  }
  const exit = fiber.pollUnsafe()!
  if (Exit.isSuccess(exit)) return succeeded(exit.value)
  const error = Cause.squash(exit.cause)
  if (machine.isDead) return { ...nothing, how: "killed", problem: undefined }
  if (interrupted) return { ...nothing, how: "stopped", problem: undefined }
  const isReported = error instanceof Failure || error instanceof BadCredentials
  const text = error instanceof Error ? (isReported ? error.message : (error.stack ?? error.message)) : String(error)
  const hasTargetFailed = options.targetFails && isReported && text.includes(join(machine.folder, "share"))
  return {
    ...nothing,
    how: text,
    hasTargetFailed,
    problem: hasTargetFailed || explained(stage, error) ? undefined : text
  }
}

const nothing = { exitCode: undefined, statuses: [], synced: undefined, hasTargetFailed: false } as const

const succeeded = (synced: Synced): Ran => ({
  how: `exit ${synced.exitCode}, ${synced.requests} requests`,
  exitCode: synced.exitCode,
  statuses: synced.rows
    .filter(({ status }) => status !== "complete")
    .map(({ resource, status, warnings }) => `${resource} ${status}: ${warnings.join(", ")}`),
  synced,
  problem: undefined,
  hasTargetFailed: false
})

/** A run may fail if the disk is full or the token is revoked, and has to report this reason. */
const explained = ({ machine }: Stage, error: unknown): boolean =>
  (error instanceof Failure && error.reason._tag === "FileFailed" && machine.isFull && /ENOSPC/.test(error.message)) ||
  error instanceof BadCredentials

const targetsOf = ({ machine, output: { formats }, world }: Stage): ReadonlyArray<Target> => {
  if (!world.target) return []
  const place = join(machine.folder, "share", "desk")
  const destination: Target["destination"] = { kind: "folder", place, secrets: [], gets: "releases" }
  const isOfAll = { profile: "raw", formats, tables: undefined, placeOfTables: "", masking: undefined } as const
  return [{ name: "desk", folder: place, destination, ...isOfAll }]
}

/** What the settings of a world turn on. */
export const optionalOf = ({ files }: World) => (files ? { ...nothingOptional, files: ["all"] } : nothingOptional)

const program = (stage: Stage, { full, deletionShareMax }: Options) => {
  const { activity, catalogue, clock, crossed, logged, machine, output, random, services, warehouse, world } = stage
  const logger = Logger.make(({ message }) => void logged.push(JSON.stringify(message)))
  return Effect.gen(function* () {
    const vault = yield* machine.opened
    const accounts = yield* Effect.forEach(services, (account) =>
      Effect.gen(function* () {
        const { service } = account
        const built = yield* Layer.build(
          Api.layer({
            location: account.location,
            baseUrl: "http://service",
            credentials: { kind: "private", token: Redacted.make(service.tokens.privateToken) },
            limits: { burst: 100, windowMs: 10_000, reservePerDay: 0 },
            fileBytesMax: 1 << 28
          })
        ).pipe(Effect.provideService(Transport, account))
        const api = Context.get(built, Api)
        return {
          // Its waits are those of Node.js, which no virtual clock ends.
          api: { ...api, download: (...of: Parameters<typeof api.download>) => activity.during(api.download(...of)) },
          location: account.location,
          company: catalogue.familyByTable.has("locations") ? undefined : service.world.context.companyId,
          optional: optionalOf(world),
          deletionShareMax,
          counts: new Map()
        }
      })
    )
    return yield* sync({
      catalogue,
      accounts,
      output,
      policies: evolving,
      targets: targetsOf(stage),
      only: [],
      except: [],
      full,
      each: full,
      codeFor: () => 1,
      onBegin: () => {},
      onPlan: () => Effect.void
    }).pipe(Effect.provideService(Vault, vault))
  }).pipe(
    Effect.scoped,
    Effect.provideService(Warehouse, machine.watched(warehouse, world.commitMs)),
    Effect.provideService(Random.Random, {
      nextDoubleUnsafe: random,
      nextIntUnsafe: () => Math.floor(random() * Number.MAX_SAFE_INTEGER)
    }),
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(
      Limits,
      limitsOf(world.small, (name) => crossed.add(name))
    ),
    Effect.provideService(Logger.CurrentLoggers, new Set([logger]))
  )
}
