import { control } from "../control/control.ts"
import { openapi } from "../description/openapi.ts"
import { page } from "../description/page.ts"
import type { Service } from "../service.ts"
import { HttpError } from "./errors.ts"
import { ErrorAnswer } from "./error-answers.ts"
import type { Fault } from "./faults.ts"
import { Interruption, applyBefore } from "./interruption.ts"
import { type Content, answer } from "./router.ts"

export interface HttpRequest {
  readonly method: string
  /** The request target as sent: path and query. */
  readonly target: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Undefined if the body is larger than `maxBodyBytes`. */
  readonly body: Buffer | undefined
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Chunks if the whole body may be too long for a string. */
  readonly body: string | Uint8Array | Iterable<string>
  /** The fault that the transport applies to this response. */
  readonly fault?: Fault | undefined
}

/** Handles one request, without a socket. Rejects with an `Interruption` if a fault ends the request without a response. */
export const handle = async (request: HttpRequest, service: Service): Promise<HttpResponse> => {
  const requestId = service.requestRandom.id()
  const text = request.body?.toString()
  if (request.target.startsWith("/__sandbox/")) return serveControl(request, text ?? "", requestId, service)
  await service.clock.wait(latency(service))
  const { fault, ...content } = catchErrors(requestId, () => serve(request, text, service))
  const { retryAfter } = service.settings
  return {
    status: content.status,
    headers: {
      ...service.limiter.headers(integrationOf(request, service)),
      ...crossOrigin,
      ...contentHeaders(content, requestId, service),
      ...(content.status === 429 && retryAfter !== undefined && { "Retry-After": String(retryAfter) }),
      // The connection cannot be reused, because the rest of a body that is too large is not read.
      ...(text === undefined && { Connection: "close" })
    },
    body: content.body,
    fault
  }
}

/** This limit is the sandbox's own. */
export const maxBodyBytes = 1_048_576

interface FaultyContent extends Content {
  readonly fault?: Fault | undefined
}

const serveControl = (request: HttpRequest, text: string, requestId: string, service: Service): HttpResponse => {
  let lines: Iterable<string> | undefined
  const content = catchErrors(requestId, () => {
    const body = control({ method: request.method, url: urlOf(request.target), headers: {}, text }, service)
    if (typeof body !== "string") lines = body
    return { status: 200, body: typeof body === "string" ? body : "", contentType: "application/json" }
  })
  if (lines !== undefined) return { status: 200, headers: {}, body: batches(lines) }
  return { status: content.status, headers: contentHeaders(content, requestId, service), body: content.body }
}

const serve = (request: HttpRequest, text: string | undefined, service: Service): FaultyContent => {
  const { headers, method, target } = request
  if (method === "GET" && target === "/") return { status: 200, body: page(service), contentType: "text/html" }
  if (method === "GET" && target === "/openapi.json") {
    const url = `http://${header(request, "host") ?? "127.0.0.1"}`
    return { status: 200, body: JSON.stringify(openapi(url)), contentType: "application/json" }
  }
  const url = urlOf(target)
  if (method === "OPTIONS") return { status: 204, body: "", contentType: "" }
  if (text === undefined) throw new HttpError(413, "The body is too large")
  let fault: Fault | undefined
  const interrupt = (): void => {
    fault = service.faults.next(url.pathname, service.clock.now())
    if (fault === undefined) return
    service.statistics.countFault(fault.kind)
    applyBefore(fault)
  }
  const answered = answer({ method, url, headers, text }, service, interrupt)
  return { ...answered, body: service.faults.repeated(fault?.kind, url.pathname, answered.body), fault }
}

const catchErrors = (requestId: string, act: () => FaultyContent): FaultyContent => {
  try {
    return act()
  } catch (error) {
    if (error instanceof Interruption) throw error
    if (error instanceof ErrorAnswer) return { status: 200, ...error.content }
    return errorContent(error instanceof URIError ? new HttpError(400, "Malformed URL") : error, requestId)
  }
}

const errorContent = (error: unknown, requestId: string): Content => {
  if (!(error instanceof HttpError)) throw error
  const { body, status } = error
  if (typeof body["html"] === "string") return { status, body: body["html"], contentType: "text/html" }
  // Errors of the token endpoint have no id, and those of an invalid filter name it requestId (A 7).
  const id = "error_description" in body ? {} : "field" in body ? { requestId } : { traceId: requestId }
  return { status, body: JSON.stringify({ ...body, ...id }), contentType: "application/json" }
}

const urlOf = (target: string): URL => {
  // Resolved against a base URL, `//contacts/x` would name a host, and `/../x` would become another path.
  const url = URL.parse(`http://sandbox${target}`)
  if (url === null || !target.startsWith("/")) throw new HttpError(400, "Malformed URL")
  if (url.pathname !== target.split(/[?#]/)[0]) throw new HttpError(400, "Malformed URL")
  return url
}

/** The integration of the request. Requests to the token endpoint have no token, and only the app sends them. */
const integrationOf = (request: HttpRequest, { tokens }: Service) =>
  request.target === "/oauth/token" ? "app" : tokens.integrationOf(header(request, "authorization"))

const contentHeaders = ({ contentType, fileName, status }: Content, requestId: string, { clock }: Service) => ({
  Date: new Date(clock.now()).toUTCString(),
  "x-account-platform-requestid": requestId,
  ...(status !== 204 && {
    "Content-Type": /^(text|application\/json)\b/.test(contentType) ? `${contentType}; charset=utf-8` : contentType
  }),
  ...(fileName !== undefined && { "Content-Disposition": `attachment; filename="${fileName}"` })
})

const header = ({ headers }: HttpRequest, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "object" ? value[0] : value
}

const latency = ({ requestRandom, settings: { latencyMs } }: Service): number =>
  typeof latencyMs === "number" ? latencyMs : requestRandom.between(latencyMs[0], latencyMs[1])

/** Joins lines in batches of 1,000, so that a long list needs neither one long string nor a write for each line. */
function* batches(lines: Iterable<string>): Generator<string> {
  let batch: Array<string> = []
  for (const line of lines) {
    if (batch.push(line) < 1000) continue
    yield batch.join("")
    batch = []
  }
  yield batch.join("")
}

/** The headers of the preflight response (A 5.7), which every response has. */
const crossOrigin = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
  "Access-Control-Allow-Headers":
    "Authorization, Version, Content-Type, Accept, locationId, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID"
}
