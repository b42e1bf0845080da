/** An error response. Any code below the handler may throw it; the handler converts it to the body of A 7. */
export class HttpError extends Error {
  readonly status: number
  readonly body: Record<string, unknown>

  constructor(status: number, message: string | ReadonlyArray<string>, body?: Record<string, unknown>) {
    super(String(message))
    this.status = status
    this.body = body ?? { statusCode: status, message, error: names[status] ?? "Error" }
  }
}

/** 400: the request is malformed, a value has the wrong type, or a limit exceeds its maximum (A 7, field-notes 1). */
export const malformed = (message: string): HttpError => new HttpError(400, message)

export const notFound = (message: string): HttpError => new HttpError(404, message)

/** 422: the request is well-formed but not valid. Only this error has a list as its message (A 7). */
export const invalid = (...messages: ReadonlyArray<string>): HttpError => new HttpError(422, messages)

/** 422 for an invalid contact filter, with the body `error`, `field` and `requestId` (A 7). The handler adds the id. */
export const invalidFilter = (field: string, error: string): HttpError => new HttpError(422, error, { error, field })

const names: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable"
}
