/** A server of a page: who may use it, its files, and what each address does. The explorer and the console are made of it. */
import { randomBytes } from "node:crypto"
import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import { portOf } from "../../values/port.ts"
import { type Body, HttpError, readJson, sendError, sendFile, sendJson } from "./http.ts"

export interface Call<Who = unknown> {
  readonly body: Body
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal
  readonly response: ServerResponse
  readonly who: Who
}

/** By method and path. A handler returns what is sent as JSON, or nothing if it has sent the answer. */
export type Api<Who = unknown> = ReadonlyMap<string, (call: Call<Who>) => Promise<unknown>>

export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
}

export interface Site<Who> {
  /** Who sends the request; `undefined` if it has sent the answer. Throws an HttpError for whoever may not use the server. */
  readonly admit: (visit: Visit) => Promise<Who | undefined>
  /** `nonce`: permits what is no file. */
  readonly page: (nonce: string, who: Who) => Promise<string>
  /** By the path of their address, the paths of all files that are served. */
  readonly assets: ReadonlyMap<string, string>
  readonly api: Api<Who>
  /** Answers an address of another kind; false if it is none. */
  readonly others: (visit: Visit, signal: AbortSignal) => Promise<boolean>
}

/** Rejects with the error of the system if the port is in use. `port`: 0 for a free one. */
export const serveSite = async <Who>(site: Site<Who>, host: string, port: number) => {
  const server = createServer((request, response) => {
    response.on("error", () => {})
    respond(request, response, site).catch((cause: unknown) => sendError(response, cause))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => resolve())
  })
  return {
    port: portOf(server),
    close: () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      return closed
    }
  }
}

const respond = async <Who>(request: IncomingMessage, response: ServerResponse, site: Site<Who>) => {
  for (const [header, value] of Object.entries(safety)) response.setHeader(header, value)
  const { method = "" } = request
  const url = URL.parse(request.url ?? "", "http://127.0.0.1")
  if (!url) throw new HttpError(400, "request", "The address cannot be read.")
  const { pathname } = url
  const visit = { request, response, url }
  const who = await site.admit(visit)
  if (who === undefined) return
  if (method === "GET" && pathname === "/") return sendPage(response, (nonce) => site.page(nonce, who))
  const asset = site.assets.get(pathname)
  if (method === "GET" && asset !== undefined) return sendFile(response, asset)
  const stopped = new AbortController()
  response.once("close", () => {
    if (!response.writableFinished) stopped.abort()
  })
  const { signal } = stopped
  if (method === "GET" && (await site.others(visit, signal))) return
  const route = site.api.get(`${method} ${pathname}`)
  if (!route) throw new HttpError(404, "not found", "There is nothing at this address.")
  const body = method === "POST" ? await readJson(request) : {}
  const result = await route({ body, signal, response, who })
  if (result !== undefined) sendJson(response, result)
}

/** For a person, who has opened another address than the printed one. */
export const sendText = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`)
}

const safety = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

export const sendPage = async (
  response: ServerResponse,
  page: (nonce: string) => Promise<string>,
  formAction: "'none'" | "'self'" = "'none'"
): Promise<void> => {
  const nonce = randomBytes(16).toString("base64")
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    // The editor adds rules of its own, and places its hints by style attributes.
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' blob: data:",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'"
  ].join("; ")
  // Without a referrer, a browser sends a form with `Origin: null`, as if it came from elsewhere.
  if (formAction !== "'none'") response.setHeader("referrer-policy", "same-origin")
  const html = await page(nonce)
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy }).end(html)
}
