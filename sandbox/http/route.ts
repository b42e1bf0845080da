import type { Data } from "../account/collection.ts"
import type { Service } from "../service.ts"
import type { Field, Shape } from "./shape.ts"

/** A request that has passed all checks, including those of its parameters. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  /** The parameters that the route describes and the request contains, in the types of their fields. */
  readonly query: Data
  /** The members that the route describes and the JSON body contains; empty if the operation expects no body. */
  readonly body: Data
  /** The request has an older, date-based Version (A 9.2). */
  readonly isDated: boolean
  /** A new identifier, for responses that contain one. */
  readonly traceId: string
}

/** The result of an operation: a JSON text, a value that becomes one, or a file. */
export type Answer = string | Data | Download

/** A result that is not JSON. */
export class Download {
  readonly body: string | Uint8Array
  readonly contentType: string
  /** The name for the header Content-Disposition. */
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
 * The description (`summary` to `errors`) has two uses: the router checks requests against `query` and `body`, after the
 * location and before `handle` (see shape.ts for the builders), and openapi.ts writes it to `/openapi.json`.
 * A wrong type is 400, and so is an integer above its maximum; any other invalid or missing value is 422.
 * Path parameters need no description. Only operations whose response is not JSON have no `returns`.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  /** The scope that the token needs. Default: any valid token is accepted. */
  readonly scope?: string
  /** Where the request names the location; absent if the id of a record suffices. */
  readonly location?: { readonly in: "path" | "query" | "body"; readonly name: "locationId" | "altId" }
  /** One line, like a heading: "Create a contact". */
  readonly summary: string
  /** Query parameters besides the location. */
  readonly query?: Shape
  /** Members of the JSON body besides the location; absent if the operation expects no body. */
  readonly body?: Shape
  /** A null in the body counts as not sent. Without this, it clears a text, number or boolean (A 2.1). */
  readonly ignoresNull?: true
  /** The operation exists only in v3, not in the older, date-based versions (A 9.2). */
  readonly isNew?: true
  /** The status of a successful response. Default: 200. */
  readonly status?: 201 | 204
  /** The members of the response, or a field for the whole response, such as `record("User")`. */
  readonly returns?: { readonly [name: string]: Field } | Field
  /** The content type of a successful response. Default: JSON. */
  readonly produces?: "audio/x-wav" | "text/plain"
  /** Error statuses besides 400, 401, 403, 422, 429 and 500, 404 for a path with an id, and 413 and 415 for a body. */
  readonly errors?: ReadonlyArray<409>
  readonly handle: (call: Call, service: Service) => Answer
}
