import type { Tokens } from "./auth.ts"
import type { Clock } from "./clock.ts"
import type { ExportCursors } from "./export-cursors.ts"
import type { Faults } from "./faults.ts"
import type { Limiter } from "./limits.ts"
import type { Settings } from "./options.ts"
import type { Statistics } from "./statistics.ts"
import type { Data } from "./world/collection.ts"
import type { Random } from "./world/random.ts"
import type { World } from "./world/world.ts"

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
  /** Draws the identifiers of records made while the sandbox runs. */
  readonly random: Random
}

/** A request that has passed every check up to the parameters. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The JSON body; an empty object when the operation takes none. */
  readonly body: Data
  /** Sent with an older, date-based Version (A 9.2). */
  readonly isDated: boolean
}

export interface Answer {
  status?: number
  /** JSON text, or what becomes it. */
  body: string | Data
}

/** One operation. A resource is a file that lists its own. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly scope: string
  /** Where the operation takes the location from; absent when a record id says it all. */
  readonly location?: { readonly in: "path" | "query" | "body"; readonly name: "locationId" | "altId" }
  readonly handle: (call: Call, service: Service) => Answer
}
