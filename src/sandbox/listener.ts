import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"
import { setTimeout as wait } from "node:timers/promises"
import { control } from "./control.ts"
import { deliver, type Outcome } from "./delivery.ts"
import { openapi } from "./description/openapi.ts"
import { page } from "./description/page.ts"
import { Refusal } from "./errors.ts"
import { Interruption, strikeBefore } from "./interruption.ts"
import { isMultipart, type Part, readParts } from "./multipart.ts"
import type { Service } from "./route.ts"
import { answer } from "./router.ts"
import { Random, streams } from "./world/random.ts"

/** Turns a request into an answer on the wire, and never throws. */
export const listener = (service: Service): RequestListener => {
  const random = new Random(service.settings.seed, streams.latency, 0)
  return (request, response) => {
    response.on("error", () => {})
    serve(request, response, service, random).catch((error: unknown) => {
      // A client that left is no news; anything else is a bug of the sandbox, and said so.
      if (request.socket.destroyed) return
      process.stderr.write(`sandbox: ${error instanceof Error ? error.stack : String(error)}\n`)
      if (!response.headersSent) response.statusCode = 500
      response.end(`{"statusCode":500,"message":"The sandbox has a bug"}`)
    })
  }
}

const serve = async (request: IncomingMessage, response: ServerResponse, service: Service, random: Random) => {
  const requestId = random.id()
  const contentType = request.headers["content-type"]
  const isForm = isMultipart(contentType)
  const bytes = await readBytes(request, isForm ? mostFormBytes : mostBytes)
  const text = isForm && bytes !== undefined ? "" : bytes?.toString()
  const parts = isForm && bytes !== undefined ? await readParts(bytes, contentType!) : undefined
  const isControl = request.url?.startsWith("/__sandbox/") ?? false
  const delay = isControl ? 0 : latency(service, random)
  if (delay > 0) await wait(delay)
  let outcome: Outcome
  try {
    if (isControl) {
      const body = control(
        { method: request.method ?? "", url: target(request), headers: {}, text: text ?? "" },
        service
      )
      if (typeof body !== "string") return void (await pipeline(batched(body), response))
      outcome = { status: 200, body, contentType: "application/json" }
    } else {
      outcome = described(request, service) ?? operated(request, text, parts, service)
    }
  } catch (error) {
    if (error instanceof Interruption) {
      if (error.kind === "reset-before") request.socket.resetAndDestroy()
      return
    }
    outcome = refused(error, requestId)
  }
  // Only the app asks for tokens, and it does so without one.
  const isApp = request.url === "/oauth/token"
  const integration = isApp ? "app" : service.tokens.integrationOf(request.headers.authorization)
  const limits: Record<string, string> = isControl ? {} : { ...service.limiter.headers(integration), ...crossOrigin }
  for (const [name, value] of Object.entries(limits)) response.setHeader(name, value)
  response.setHeader("Date", new Date(service.clock.now()).toUTCString())
  response.setHeader("x-account-platform-requestid", requestId)
  if (outcome.status === 429 && service.settings.retryAfter !== undefined) {
    response.setHeader("Retry-After", String(service.settings.retryAfter))
  }
  // The rest of a body that was too large is not read.
  if (text === undefined) response.setHeader("Connection", "close")
  await deliver(outcome, request, response, service.settings.compress)
}

/** What the sandbox says of itself, to anybody: the page and the description. */
const described = (request: IncomingMessage, service: Service): Outcome | undefined => {
  if (request.method !== "GET") return undefined
  if (request.url === "/") return { status: 200, body: page(service), contentType: "text/html" }
  if (request.url !== "/openapi.json") return undefined
  const url = `http://${request.headers.host ?? "127.0.0.1"}`
  return { status: 200, body: JSON.stringify(openapi(url)), contentType: "application/json" }
}

const operated = (
  request: IncomingMessage,
  text: string | undefined,
  parts: ReadonlyArray<Part> | undefined,
  service: Service
): Outcome => {
  const url = target(request)
  const method = request.method ?? ""
  if (method === "OPTIONS") return { status: 204, body: "", contentType: "" }
  if (text === undefined) throw new Refusal(413, "The body is too large")
  let fault: Outcome["fault"]
  const interrupt = (): void => {
    fault = service.faults.next(url.pathname, service.clock.now())
    if (fault === undefined) return
    service.statistics.strike(fault.kind)
    strikeBefore(fault.kind)
  }
  const arrived = { method, url, headers: request.headers, text, parts }
  const { body, status = 200, contentType = "application/json", fileName } = answer(arrived, service, interrupt)
  const whole = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  const outcome = {
    status,
    body: service.faults.repeated(fault?.kind, url.pathname, whole),
    contentType,
    ...(fileName !== undefined && { fileName })
  }
  return fault === undefined ? outcome : { ...outcome, fault }
}

const target = (request: IncomingMessage): URL => {
  const sent = request.url ?? ""
  // Resolved against a base, `//contacts/x` would name a host and `/../x` another path.
  const url = URL.parse(`http://sandbox${sent}`)
  if (url === null || !sent.startsWith("/")) throw new Refusal(400, "Malformed URL")
  if (url.pathname !== sent.split(/[?#]/)[0]) throw new Refusal(400, "Malformed URL")
  return url
}

const refused = (error: unknown, requestId: string): Outcome => {
  if (error instanceof URIError) return refused(new Refusal(400, "Malformed URL"), requestId)
  if (!(error instanceof Refusal)) throw error
  const { body, status } = error
  if (typeof body["html"] === "string") return { status, body: body["html"], contentType: "text/html" }
  // The token endpoint has no id, and a failed filter calls it requestId (A 7).
  const id = "error_description" in body ? {} : "field" in body ? { requestId } : { traceId: requestId }
  return { status, body: JSON.stringify({ ...body, ...id }), contentType: "application/json" }
}

/** Lines by the thousand, so that a long list is neither one string nor a million writes. */
function* batched(lines: Iterable<string>): Generator<string> {
  let batch: Array<string> = []
  for (const line of lines) {
    if (batch.push(line) < 1000) continue
    yield batch.join("")
    batch = []
  }
  yield batch.join("")
}

/** The bytes of the body; undefined when there are more than `most`. */
const readBytes = (request: IncomingMessage, most: number): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const parts: Array<Buffer> = []
    let size = 0
    request.on("data", (part: Buffer) => {
      size += part.length
      if (size > most) resolve(undefined)
      else parts.push(part)
    })
    request.on("end", () => resolve(Buffer.concat(parts)))
    request.on("error", reject)
  })

/** The documents cap files, not bodies: 50 MB each for custom fields (B 4.8); for JSON it is a limit of our own. */
const mostFormBytes = 120_000_000
const mostBytes = 1_048_576

const latency = ({ settings: { latencyMs } }: Service, random: Random): number =>
  typeof latencyMs === "number" ? latencyMs : random.between(latencyMs[0], latencyMs[1])

/** The preflight answer of A 5.7, on every response. */
const crossOrigin = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
  "Access-Control-Allow-Headers":
    "Authorization, Version, Content-Type, Accept, locationId, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID"
}
