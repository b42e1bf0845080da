/** A client of the explorer, as a browser that has opened the printed address. */
import { Effect, Exit, Scope } from "effect"
import { request } from "node:http"
import { join } from "node:path"
import { definedLinks } from "../../src/features/explore/defined-links.ts"
import { type Explorer, startExplorer } from "../../src/features/explore/server.ts"

export interface Client {
  readonly explorer: Explorer & { readonly close: () => Promise<void> }
  readonly origin: string
  readonly cookie: string
  /** The queries folder. */
  readonly queries: string
  readonly get: (path: string) => Promise<Answered>
  readonly post: (path: string, body: unknown, signal?: AbortSignal) => Promise<Answered>
  readonly query: (sql: string, signal?: AbortSignal) => Promise<Answered>
  readonly download: (sql: string, format: string, signal?: AbortSignal) => Promise<Response>
}

export interface Answered {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- Each test knows the shape of its answer.
  readonly body: any
}

export const openExplorer = async (output: string): Promise<Client> => {
  const queries = join(output, "queries")
  const scope = Scope.makeUnsafe()
  const starting = startExplorer({
    published: join(output, "published"),
    memoryMb: 128,
    queries,
    port: 0,
    output,
    dictionary: async () => '<link rel="icon" href="data:," /><h1>Dictionary</h1>',
    links: () => definedLinks(undefined, undefined)
  })
  const started = await Effect.runPromise(Scope.provide(starting, scope))
  const explorer = { ...started, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
  const origin = `http://127.0.0.1:${explorer.port}`
  const opened = await fetch(explorer.url, { redirect: "manual" })
  const cookie = opened.headers.get("set-cookie")!.split(";")[0]!
  const send = (path: string, init: RequestInit = {}) =>
    fetch(origin + path, { ...init, headers: { cookie, ...(init.method === "POST" && { origin }) } })
  const answered = async (response: Response) => ({ status: response.status, body: await response.json() })
  const post = async (path: string, body: unknown, signal?: AbortSignal) =>
    answered(await send(path, { method: "POST", body: JSON.stringify(body), ...(signal && { signal }) }))
  return {
    explorer,
    origin,
    cookie,
    queries,
    get: async (path) => answered(await send(path)),
    post,
    query: (sql, signal) => post("/api/query", { sql }, signal),
    download: (sql, format, signal) =>
      send("/api/download", { method: "POST", body: JSON.stringify({ sql, format }), ...(signal && { signal }) })
  }
}

/** The status of a request whose path and headers are sent as given: `fetch` would correct them. */
export const rawStatus = (
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET"
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, method }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on("error", reject)
    sent.end(method === "POST" ? "{}" : undefined)
  })
