const message = "Upstream timed out"

/** Errors that a service sends with the status 200, by name. */
export const errorBodies: Readonly<Record<string, unknown>> = {
  success: { success: false, message },
  ok: { ok: false, error: "upstream_timeout" },
  message: { message },
  messages: { message: [message], error: "Bad Gateway" },
  msg: { msg: message },
  error: { error: message },
  errorObject: { error: { code: "TIMEOUT", message } },
  errors: { errors: [message] },
  graphql: { data: null, errors: [{ message, path: ["search"] }] },
  statusCode: { statusCode: 500, message, error: "Internal Server Error" },
  notFound: { statusCode: 404, message: "Not Found" },
  status: { status: 502, message, name: "HttpException", traceId: "t1", options: {} },
  statusText: { status: "error", message },
  failed: { status: "failed", message, code: "UPSTREAM" },
  code: { code: "UPSTREAM_TIMEOUT", message },
  problem: { type: "about:blank", title: "Gateway Timeout", status: 504, detail: message },
  gateway: { timestamp: 1_767_261_600_000, status: 504, error: "Gateway Timeout", path: "/" },
  null: null,
  text: message,
  number: 0,
  empty: {}
}

export const errorAnswers: ReadonlyArray<string> = [...Object.keys(errorBodies), "html"]

/** Ends a request before it takes effect, with an error that has the status 200. */
export class ErrorAnswer extends Error {
  readonly content: { readonly body: string; readonly contentType: string }

  constructor(form: string) {
    super(form)
    this.content =
      form === "html"
        ? { body: `<html><body>${message}</body></html>`, contentType: "text/html" }
        : { body: JSON.stringify(errorBodies[form]), contentType: "application/json" }
  }
}
