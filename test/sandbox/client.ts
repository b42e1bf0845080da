import { afterAll } from "vitest"
import type { SandboxOptions } from "../../src/sandbox/options.ts"
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts"

export type Json = Record<string, any>

interface Reply {
  status: number
  headers: Headers
  body: Json
}

export interface Client extends Sandbox {
  /** Sends with a valid version and token; headers set to "" are left out. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Every record of a collection, from the control address. */
  records(name: string, query?: string): Promise<Array<Json>>
}

/** A sandbox of its own for a test file, closed after it. Small and without limits unless the test says otherwise. */
export const sandbox = async (options: SandboxOptions = {}): Promise<Client> => {
  const running = await startSandbox({ contacts: 300, limits: "off", ...options })
  afterAll(() => running.close())
  const send: Client["send"] = async (method, path, body, headers = {}) => {
    const all = {
      Version: "v3",
      Authorization: `Bearer ${running.token}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers
    }
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""))
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const response = await fetch(running.url + path, {
      method,
      headers: kept,
      ...(text !== undefined && { body: text })
    })
    const answer = await response.text()
    return { status: response.status, headers: response.headers, body: answer === "" ? {} : JSON.parse(answer) }
  }
  const records = async (name: string, query = "") => {
    const text = await (await fetch(`${running.url}/__sandbox/records/${name}${query}`)).text()
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Json)
  }
  return {
    ...running,
    send,
    get: (path, headers) => send("GET", path, undefined, headers),
    post: (path, body, headers) => send("POST", path, body, headers),
    records
  }
}

/** The ids of rows, sorted, for comparing sets. */
export const ids = (rows: ReadonlyArray<Json>): Array<string> => rows.map((row) => row["id"] ?? row["_id"]).sort()
