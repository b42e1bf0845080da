/** A sandbox in the process of the test, on its own port, with access to its records. */
import { parseArgs } from "node:util"
import { type Flags, readOptions, flags as sandboxFlags } from "../../sandbox/flags.ts"
import { type Sandbox, startSandbox } from "../../sandbox/server.ts"

export interface Service {
  readonly url: string
  readonly token: string
  readonly locationId: string
  readonly companyId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  /** The address of the host of the files, with `--files`. */
  readonly files: string | undefined
  /** Absent without an agency. */
  readonly agencyToken: string | undefined
  /** Every record of a collection that is not deleted, in the form of a single read. */
  readonly records: (collection: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly stats: () => Promise<Stats>
  /** Returns when the service has received this number of requests, so that timing does not depend on the machine. */
  readonly requested: (count: number) => Promise<void>
  /** Every link of the account, with what a client should make of it. */
  readonly links: () => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly fileStats: () => Promise<Record<string, unknown>>
  readonly post: (path: string, body: unknown) => Promise<unknown>
  /** Sends one request as any client would. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>
  readonly listener: Sandbox["listener"]
  readonly stop: () => void
}
export interface Stats {
  readonly requests: number
  readonly requestsByOperation: Readonly<Record<string, number>>
  readonly fullestWindow: number
  readonly refused429: number
  readonly expiredCursorsShown: number
}

/** Takes the flags of `sluice sandbox`. */
export const startService = async (...flags: ReadonlyArray<string>): Promise<Service> => {
  const { values } = parseArgs({ args: [...flags], options: sandboxFlags, allowPositionals: false })
  const options = readOptions(values as Flags)
  const { close, handle, world: _, ...account } = await startSandbox(options)
  const control = async (path: string, { method = "GET", body = "" } = {}) => {
    const target = `/__sandbox/${path}`
    const response = await handle({ method, target, headers: {}, body: Buffer.from(body) })
    const text = typeof response.body === "string" ? response.body : [...(response.body as Iterable<string>)].join("")
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
    return text
  }
  return {
    ...account,
    records: async (collection) => linesOf(await control(`records/${collection}`)),
    links: async () => linesOf(await control("files")),
    fileStats: async () => JSON.parse(await control("files/stats")),
    stats: async () => JSON.parse(await control("stats")),
    requested: async (count) => {
      while (JSON.parse(await control("stats")).requests < count)
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    post: async (path, body) => {
      const text = await control(path, { method: "POST", body: JSON.stringify(body) })
      return text === "" ? undefined : JSON.parse(text)
    },
    call: async (method, path, body) => {
      const response = await fetch(account.url + path, {
        method,
        headers: {
          authorization: `Bearer ${account.token}`,
          version: "v3",
          ...(body !== undefined && { "content-type": "application/json" })
        },
        ...(body !== undefined && { body: JSON.stringify(body) })
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return text === "" ? undefined : JSON.parse(text)
    },
    stop: () => void close()
  }
}

const linesOf = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
