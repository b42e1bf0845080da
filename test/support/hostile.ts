/** A service that responds as a test defines, and the results of a run with it. */
import { assert } from "@effect/vitest"
import { type IncomingHttpHeaders, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { checksOf } from "./broken.ts"
import { acceleratedClock } from "./clock.ts"
import { inDatabase, query } from "./compare.ts"
import { newOutput } from "./fixtures.ts"
import { type Ran, environmentOf, knowing, newFolder, restrictedTo, sluice } from "./sluice.ts"

export interface ReceivedRequest {
  readonly method: string
  /** As received, with the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes are sent unchanged, anything else as JSON. */
  readonly body: unknown
}

export const token = "pit-0f8e/secret+token-4711"
export const locationId = "loc-hostile"

/** Responds with the location, or with 404, to requests for which `answers` returns undefined. */
export const hostileService = async (answers: (request: ReceivedRequest) => Reply | undefined, given?: string) => {
  const requests: Array<ReceivedRequest> = []
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const one: ReceivedRequest = { method: method!, path: url!, headers, body: Buffer.concat(chunks).toString() }
    requests.push(one)
    const reply = answers(one) ?? defaultReply(one)
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers })
    response.end(reply.body instanceof Uint8Array ? reply.body : JSON.stringify(reply.body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = given ?? (await newOutput())
  const environment: Record<string, string> = environmentOf({ url, token, locationId }, folder)
  return { url, requests, folder, environment, close: () => void server.close() }
}

const defaultReply = ({ path }: ReceivedRequest): Reply =>
  path.startsWith(`/locations/${locationId}`) && !path.includes("/", `/locations/${locationId}`.length)
    ? { body: { location: { id: locationId, name: "A place", companyId: "company-1" } } }
    : { status: 404, body: { statusCode: 404, message: "Not Found" } }

/** A body that `JSON.stringify` would not produce. */
export const raw = (text: string): Buffer => Buffer.from(text, "latin1")

/** A page of contacts; the records are JSON texts. */
export const contactsPage = (...records: ReadonlyArray<string>): Buffer => pageOf(records.length, ...records)

export const pageOf = (total: number, ...records: ReadonlyArray<string>): Buffer =>
  raw(`{"contacts":[${records.join(",")}],"total":${total}}`)

export interface HostileSync {
  readonly ran: Ran
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly requests: ReadonlyArray<ReceivedRequest>
  readonly rows: (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
}

/** Syncs once, and checks that a rebuild produces the same rows and that verify finds nothing wrong. */
export const syncHostile = async (
  answers: (request: ReceivedRequest) => Reply | undefined,
  only: string,
  environment: Readonly<Record<string, string>> = {}
): Promise<HostileSync> => {
  // The models of a release need more tables.
  const isAlone = environment["SLUICE_FORMATS"] === undefined
  const service = await hostileService(answers, isAlone ? newFolder() : undefined)
  try {
    const { folder } = service
    const known = isAlone ? knowing(only) : {}
    const all = { ...service.environment, ...known, ...environment }
    // Only back-off waits: a reading that lacks records is repeated after some seconds.
    const ran = await sluice(["sync", "--only", only], all, { overrides: acceleratedClock(600_000) })
    const warehouse = join(folder, "warehouse.duckdb")
    const rows = (sql: string) => query(warehouse, sql)
    assert.notMatch(ran.stderr, /Internal error|a defect/, ran.stderr)
    const before = await everyRow(warehouse, only)
    const rebuilt = await sluice(["rebuild"], all)
    assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
    assert.deepStrictEqual(await everyRow(warehouse, only), before)
    // Without the replay check, because the rebuild has replayed the vault.
    assert.deepStrictEqual((await checksOf(folder, restrictedTo(only)(await discover()))).wrong, [])
    return { ran, folder, environment: all, requests: service.requests, rows }
  } finally {
    service.close()
  }
}

const everyRow = (warehouse: string, only: string) => {
  const tables = [...only.split(",").map((table) => `crm.${table}`), "meta.rejected_values", "meta.rejected_records"]
  return inDatabase(warehouse, async (ask) => {
    const found: Array<ReadonlyArray<Readonly<Record<string, unknown>>>> = []
    for (const table of tables) found.push(await ask(`SELECT * FROM ${table} ORDER BY ALL`))
    return found
  })
}
