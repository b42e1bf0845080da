import { afterAll } from "vitest"
import { Clock } from "../../sandbox/account/clock.ts"
import { handle } from "../../sandbox/http/handler.ts"
import type { SandboxOptions } from "../../sandbox/options.ts"
import { type Sandbox, startSandbox } from "../../sandbox/server.ts"
import { type Access, accessOf, createService } from "../../sandbox/service.ts"

export type Json = Record<string, any>

interface Reply {
  status: number
  headers: Headers
  body: Json
}

interface Init {
  method?: string
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal
}

export interface Client extends Access {
  url: string
  /** Like the global function; a path is relative to the sandbox. */
  fetch(path: string, init?: Init): Promise<Response>
  /** Sends with a valid version and token; headers set to "" are left out. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Every record of a collection, from the control address. */
  records(name: string, query?: string): Promise<Array<Json>>
}

export type Listening = Client & Pick<Sandbox, "agencyToken" | "files">

/** A clock that only `advance`, `wait` and the requests of a client move. */
export class VirtualClock extends Clock {
  #now: number

  constructor(now: number) {
    super(now)
    this.#now = now
  }

  override now(): number {
    return this.#now
  }

  override advance(milliseconds: number): void {
    this.#now += milliseconds
  }

  override async wait(milliseconds: number): Promise<void> {
    this.advance(milliseconds)
  }
}

/** A sandbox in this process, called without sockets. By default it is small and has no rate limit. */
export const sandbox = async (options: SandboxOptions = {}): Promise<Client & { clock: VirtualClock }> => {
  const clock = new VirtualClock(Math.max(options.now ?? 0, Date.now()))
  const service = createService({ ...small, ...options }, clock)
  service.origin = "http://sandbox"
  const fetch: Client["fetch"] = async (path, { body = "", headers = {}, method = "GET" } = {}) => {
    clock.advance(1)
    const request = {
      method,
      target: path.replace(service.origin, ""),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      body: Buffer.from(body)
    }
    const answered = await handle(request, service)
    const isWhole = typeof answered.body === "string" || answered.body instanceof Uint8Array
    const content = isWhole ? answered.body : [...(answered.body as Iterable<string>)].join("")
    const { headers: shown, status } = answered
    return new Response(status === 204 ? null : (content as string | Uint8Array<ArrayBuffer>), {
      status,
      headers: shown
    })
  }
  return { ...client(accessOf(service), service.origin, fetch), clock }
}

/** A sandbox with a socket, for tests that need one; it is closed after the test file. */
export const listening = async (options: SandboxOptions = {}): Promise<Listening> => {
  const running = await startSandbox({ ...small, ...options })
  afterAll(() => running.close())
  const { agencyToken, files, url } = running
  const sent = client(running, url, (path, init) => fetch(path.startsWith("/") ? url + path : path, init))
  return { ...sent, agencyToken, files }
}

const small: SandboxOptions = { contacts: 300, limits: "off" }

const client = (access: Access, url: string, fetch: Client["fetch"]): Client => {
  const send: Client["send"] = async (method, path, body, headers = {}) => {
    const all = {
      Version: "v3",
      Authorization: `Bearer ${access.token}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers
    }
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""))
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const response = await fetch(path, { method, headers: kept, ...(text !== undefined && { body: text }) })
    const answer = await response.text()
    return { status: response.status, headers: response.headers, body: answer === "" ? {} : JSON.parse(answer) }
  }
  const records: Client["records"] = async (name, query = "") => {
    const text = await (await fetch(`/__sandbox/records/${name}${query}`)).text()
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Json)
  }
  return {
    ...access,
    url,
    fetch,
    send,
    get: (path, headers) => send("GET", path, undefined, headers),
    post: (path, body, headers) => send("POST", path, body, headers),
    records
  }
}

/** The ids of rows, sorted, for comparing sets. */
export const ids = (rows: ReadonlyArray<Json>): Array<string> => rows.map((row) => row["id"] ?? row["_id"]).sort()
