import { Clock } from "./account/clock.ts"
import type { Data } from "./account/collection.ts"
import { Random, streams } from "./account/random.ts"
import { Churn } from "./control/churn-rate.ts"
import { type Files, createFiles, showLinks } from "./files/files.ts"
import { ExportCursors } from "./families/conversations/export-cursors.ts"
import { Deliveries } from "./families/workflows/webhook-deliveries.ts"
import { Faults } from "./http/faults.ts"
import { Limiter, limitsOf } from "./http/limits.ts"
import { Statistics } from "./http/statistics.ts"
import { Tokens } from "./http/tokens.ts"
import { type SandboxOptions, type Settings, settle } from "./options.ts"
import { type World, createWorld } from "./world.ts"

/** The parts of one running sandbox. */
export interface Service {
  readonly settings: Settings
  readonly world: World
  readonly clock: Clock
  readonly tokens: Tokens
  readonly limiter: Limiter
  readonly faults: Faults
  readonly statistics: Statistics
  readonly exportCursors: ExportCursors
  readonly deliveries: Deliveries
  readonly churn: Churn
  /** The host behind links; undefined without the option `files`. */
  readonly files: Files | undefined
  /** Draws the ids of records that are created while the sandbox runs. */
  readonly random: Random
  /** Draws the ids and delays of requests. */
  readonly requestRandom: Random
  /** The locations of the agency, with their tokens and counts; none without an agency. */
  readonly locations: () => ReadonlyArray<Data>
  /** The address of the server; empty until it listens. */
  origin: string
}

/** The location and the credentials of the clients, and the records for tests. */
export interface Access {
  /** A private integration token, which never expires. */
  token: string
  locationId: string
  companyId: string
  clientId: string
  clientSecret: string
  /** Valid for the first refresh; each refresh returns the next. */
  refreshToken: string
  world: World
}

export const accessOf = ({ tokens, world }: Service): Access => ({
  token: tokens.privateToken,
  locationId: world.context.locationId,
  companyId: world.context.companyId,
  clientId: tokens.clientId,
  clientSecret: tokens.clientSecret,
  refreshToken: tokens.refreshToken,
  world
})

/** Creates a service without a socket. A simulation provides its own clock. */
export const createService = (options: SandboxOptions, clock?: Clock): Service =>
  createServiceOf(settle(options), clock)

/** As `createService`, for one location of an agency, with what is known of all of them. */
export const createServiceOf = (
  settings: Settings,
  clock: Clock = new Clock(settings.now),
  locations: Service["locations"] = () => [],
  files: Files | undefined = createFiles(settings, clock)
): Service => {
  const world = createWorld(settings)
  return {
    settings,
    world,
    clock,
    tokens: new Tokens(settings, world.context, clock),
    limiter: new Limiter(settings, clock),
    faults: new Faults(settings.faults, settings.seed),
    statistics: new Statistics(limitsOf(settings).intervalMs),
    deliveries: new Deliveries(settings, world, clock, (text) => showLinks(text, true, files)),
    churn: new Churn(),
    files,
    exportCursors: new ExportCursors(clock),
    random: new Random(settings.seed, streams.live, 0),
    requestRandom: new Random(settings.seed, streams.latency, 0),
    locations,
    origin: ""
  }
}
