import type { Tokens } from "./auth.ts"
import type { Churn } from "./churn.ts"
import type { Clock } from "./clock.ts"
import type { Deliveries } from "./deliveries.ts"
import type { ExportCursors } from "./export-cursors.ts"
import type { Faults } from "./faults.ts"
import type { Limiter } from "./limits.ts"
import type { Part } from "./multipart.ts"
import type { Settings } from "./options.ts"
import type { Schedule } from "./schedule.ts"
import type { Field, Shape } from "./shape.ts"
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
  readonly schedule: Schedule
  readonly deliveries: Deliveries
  readonly churn: Churn
  /** Draws the identifiers of records made while the sandbox runs. */
  readonly random: Random
  /** The address the server listens at, once it does. */
  origin: string
}

/** A request that has passed every check up to the parameters. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The JSON body, of a route with a `body` shape its members alone; an empty object when the operation takes none. */
  readonly body: Data
  /** The parts of a `multipart/form-data` body; empty for the operations that take JSON. */
  readonly parts: ReadonlyArray<Part>
  /** Sent with an older, date-based Version (A 9.2). */
  readonly isDated: boolean
}

export interface Answer {
  status?: number
  /** JSON text, or what becomes it; bytes go out as they are, as `contentType`. */
  body: string | Data | Uint8Array
  contentType?: string
  /** The name of a file to be saved under. */
  fileName?: string
}

/**
 * One operation. A resource is a file that lists its own.
 *
 * The description (`summary` to `errors`) serves twice: the router checks requests against `query` and `body` after the
 * location and before `handle` (see shape.ts for the builders), and openapi.ts writes it into `/openapi.json`.
 * A wrong type is 400 and so is an integer above `most`; anything else that is wrong or missing is 422.
 * Path parameters need no description. Only what answers with something other than JSON has no `returns`.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  /** Absent where any valid token will do. */
  readonly scope?: string
  /** Where the operation takes the location from; absent when a record id says it all. */
  readonly location?: { readonly in: "path" | "query" | "body"; readonly name: "locationId" | "altId" }
  /** One line, as a heading: "Create a contact". */
  readonly summary: string
  /** Query parameters besides the location. */
  readonly query?: Shape
  /** Members of the JSON body besides the location; `handle` sees these alone. Leave it out where there is no body. */
  readonly body?: Shape
  /** Appears in v3 only, and not under the older date-based versions (A 9.2). */
  readonly isNew?: true
  /** Keeps what the body names beyond its shape, where the documents leave the fields open. */
  readonly isOpen?: true
  /** Takes `multipart/form-data` instead of JSON, with these members besides the files. */
  readonly form?: Shape
  /** The status of success, when it is not 200. */
  readonly status?: 201 | 204
  /** The members of the answer, or what the whole answer is, such as `record("User")`. */
  readonly returns?: { readonly [name: string]: Field } | Field
  /** The content type of success, when it is not JSON. */
  readonly produces?: "audio/x-wav" | "text/plain"
  /** Statuses an operation answers with beside those all share: 400, 401, 403, 415, 422, 429, and 404 for an id. */
  readonly errors?: ReadonlyArray<409 | 413>
  readonly handle: (call: Call, service: Service) => Answer
}
