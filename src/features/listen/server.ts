/** Receives the events: checks the secret, marks the tables as due, and acknowledges (A 6.4, 6.5). */
import { createHash, timingSafeEqual } from "node:crypto"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import { portOf } from "../../values/port.ts"
import { type Due, type WordsByTable, eventOf } from "./due.ts"

export interface ListenOptions {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** In the header `x-sluice-secret`, or in the query as `secret`. */
  readonly secret: string
  readonly locations: ReadonlySet<string>
  readonly tables: WordsByTable
  readonly due: Due
}

const bodyBytesMax = 1024 * 1024

/** Rejects with the error of the system if the port is in use. */
export const startListener = async (options: ListenOptions) => {
  const refused = { count: 0 }
  // Node looks at these limits every 30 seconds otherwise, and half a header would hold a connection that long.
  const timeouts = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 2_000 }
  const server = createServer(timeouts, (request, response) => {
    response.on("error", () => {})
    respond(request, options).then(
      (status) => {
        if (status >= 400) refused.count++
        end(response, status)
      },
      () => end(response, 500)
    )
  })
  server.maxConnections = 1000
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port, options.host, () => resolve())
  })
  return {
    port: portOf(server),
    refused,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const end = (response: ServerResponse, status: number) => {
  if (!response.headersSent) response.writeHead(status, status >= 400 ? { connection: "close" } : {})
  response.end()
}

/** The status of the response. A sender repeats an event unless it gets a 2xx, so only an event that may be lost has none. */
const respond = async (request: IncomingMessage, options: ListenOptions): Promise<number> => {
  const url = URL.parse(request.url ?? "", "http://listener")
  if (request.method === "GET" && url?.pathname === "/health") return 200
  const given = request.headers["x-sluice-secret"] ?? url?.searchParams.get("secret")
  if (typeof given !== "string" || !isEqual(given, options.secret)) return 401
  if (request.method !== "POST") return 405
  const body = await bodyOf(request)
  if (body === undefined) return 413
  const event = eventOf(body, options.tables)
  if (event === undefined) return 422
  // Events of other locations are none of ours, and to repeat them would not help.
  if (!options.locations.has(event.location)) return 202
  await options.due.mark(event, Date.now())
  return 202
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const parts: Array<Buffer> = []
  let bytes = 0
  const sent: AsyncIterable<Buffer> = request
  for await (const part of sent) {
    bytes += part.length
    if (bytes > bodyBytesMax) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Takes the same time for every wrong text of any length. */
const isEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))
const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
