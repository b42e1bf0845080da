/** The server of the explorer: who may use it, and what each address does. */
import { randomBytes } from "node:crypto"
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Access, newAccess } from "./access.ts"
import { type Api, apiRoutes } from "./api.ts"
import { assetPaths, pageHtml } from "./assets.ts"
import { HttpError, readJson, sendError, sendFile, sendJson } from "./http.ts"
import type { Links } from "./links.ts"
import { filesName } from "../../output/paths.ts"
import { sendStored } from "./stored-file.ts"
import { Releases, shownCatalogs } from "./releases.ts"

export interface ExplorerOptions {
  /** The published folder. */
  readonly published: string
  readonly memoryMb: number
  /** The folder of the saved queries. */
  readonly queries: string
  /** 0: a free one. */
  readonly port: number
  /** How the rows of tables refer to each other. */
  readonly links: () => Promise<Links>
}

export type Explorer = Awaited<ReturnType<typeof startExplorer>>

/** Listens on 127.0.0.1 only. Rejects with the error of the system if the port is in use. */
export const startExplorer = async (options: ExplorerOptions) => {
  const { published, memoryMb, queries, port } = options
  const releases = new Releases(published, memoryMb)
  const address = () => (server.address() as AddressInfo).port
  const access = newAccess(address)
  const downloads = new Set<Promise<unknown>>()
  const catalogOf = shownCatalogs(options.links)
  const api = apiRoutes({ releases, catalogOf, queries, downloads })
  const assets = assetPaths()
  const server: Server = createServer((request, response) => {
    response.on("error", () => {})
    respond(request, response, { access, api, assets, published, releases }).catch((cause: unknown) =>
      sendError(response, cause)
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => resolve())
  })
  // The page needs it first; why it cannot be read, the page will say.
  releases
    .current()
    .then(catalogOf)
    .catch(() => {})
  const urlOf = (token: string) => `http://127.0.0.1:${address()}/?token=${token}`
  const listened = address()
  return {
    port: listened,
    /** The address to open, with the token. */
    url: urlOf(access.token),
    /** As `url`, but valid once. */
    singleUseUrl: () => urlOf(access.newSingleUseToken()),
    /** Ends running queries and downloads, and removes their files. */
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      releases.close()
      await Promise.all([closed, Promise.allSettled(downloads)])
    }
  }
}

interface Parts {
  readonly access: Access
  readonly api: Api
  readonly assets: ReadonlyMap<string, string>
  readonly published: string
  readonly releases: Releases
}

const respond = async (request: IncomingMessage, response: ServerResponse, parts: Parts) => {
  const { access, api, assets, published, releases } = parts
  for (const [header, value] of Object.entries(safety)) response.setHeader(header, value)
  const { method = "" } = request
  const url = URL.parse(request.url ?? "", "http://127.0.0.1")
  if (!url) throw new HttpError(400, "request", "The address cannot be read.")
  const { pathname } = url
  if (method === "GET" && pathname === "/" && url.searchParams.has("token")) {
    // The token leaves the address bar, and with it the history and the bookmarks.
    const cookie = access.cookieFor(request, url.searchParams.get("token"))
    if (cookie === undefined) return void sendText(response, 401, refusals.token)
    return void response.writeHead(303, { location: "/", "set-cookie": cookie }).end()
  }
  const refusal = access.refusalOf(request)
  if (refusal && pathname === "/") return void sendText(response, refusal === "token" ? 401 : 403, refusals[refusal])
  if (refusal) throw new HttpError(refusal === "token" ? 401 : 403, refusal, refusals[refusal])
  if (method === "GET" && pathname === "/") return sendPage(response)
  const asset = assets.get(pathname)
  if (method === "GET" && asset !== undefined) return sendFile(response, asset)
  const stopped = new AbortController()
  response.once("close", () => {
    if (!response.writableFinished) stopped.abort()
  })
  if (method === "GET" && pathname.startsWith(`/${filesName}/`))
    return sendStored(response, releases, published, pathname, stopped.signal)
  const route = api.get(`${method} ${pathname}`)
  if (!route) throw new HttpError(404, "not found", "There is nothing at this address.")
  const body = method === "POST" ? await readJson(request) : {}
  const result = await route({ body, signal: stopped.signal, response })
  if (result !== undefined) sendJson(response, result)
}

const refusals = {
  token: "Open the address that ./sluice explore printed: it has the token of this session.",
  host: "This address is not the one that ./sluice explore printed.",
  origin: "The request comes from another page."
}

/** For a person, who has opened another address than the printed one. */
const sendText = (response: ServerResponse, status: number, text: string) =>
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`)

const safety = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const sendPage = async (response: ServerResponse) => {
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
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
  const html = await pageHtml(nonce)
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy }).end(html)
}
