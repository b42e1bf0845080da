import type { Data } from "../account/collection.ts"
import type { Service } from "../service.ts"
import type { Part } from "./multipart.ts"
import type { Field, Shape } from "./shape.ts"

/** A request that has passed every check up to the parameters. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  /** The described parameters that were sent: numbers, flags and lists as such, everything else as text. */
  readonly query: Data
  /** The described members of the JSON body; an empty object when the operation takes none. */
  readonly body: Data
  /** The parts of a `multipart/form-data` body; empty for the operations that take JSON. */
  readonly parts: ReadonlyArray<Part>
  /** Sent with an older, date-based Version (A 9.2). */
  readonly isDated: boolean
  /** A new identifier, for the answers that carry one. */
  readonly traceId: string
}

/** A JSON text, the value of one, or a file. */
export type Answer = string | Data | Download

/** An answer that is not JSON. */
export class Download {
  readonly body: string | Uint8Array
  readonly contentType: string
  /** The name to save the file under. */
  readonly fileName: string | undefined

  constructor(body: string | Uint8Array, contentType: string, fileName?: string) {
    this.body = body
    this.contentType = contentType
    this.fileName = fileName
  }
}

/**
 * One operation. Each file of a family lists its own.
 *
 * The description (`summary` to `errors`) serves twice: the router checks requests against `query` and `body` after the
 * location and before `handle` (see shape.ts for the builders), and openapi.ts writes it into `/openapi.json`.
 * A wrong type is 400 and so is an integer above its maximum; anything else that is wrong or missing is 422.
 * Path parameters need no description. Only operations that answer with something other than JSON have no `returns`.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  /** Absent where any valid token will do. */
  readonly scope?: string
  /** Where the operation takes the location from; absent when a record id description it all. */
  readonly location?: { readonly in: "path" | "query" | "body"; readonly name: "locationId" | "altId" }
  /** One line, as a heading: "Create a contact". */
  readonly summary: string
  /** Query parameters besides the location. */
  readonly query?: Shape
  /** Members of the JSON body besides the location. Leave it out where there is no body. */
  readonly body?: Shape
  /** A null in the body counts as not sent; elsewhere it clears a text, number or flag (A 2.1). */
  readonly ignoresNull?: true
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
