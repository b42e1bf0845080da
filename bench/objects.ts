/**
 * What an account of records of its own objects costs: six objects with as many fields, whose records have values in some of them.
 * First sync, a quiet night, a night of 1 %, each with what publishing takes; verify, rebuild, PostgreSQL, and what somebody waits
 * for who looks at a wide table. The sandbox has few such records, so this file serves them, and the sandbox everything else.
 * CPU of all processes, also of the server of PostgreSQL, which has to be installed.
 *
 *     node_modules/.bin/node bench/objects.ts [records,records…] [fields] [filled]
 */
import { rmSync, writeFileSync } from "node:fs"
import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { sqlIn, startServer } from "../test/support/postgres.ts"
import { openExplorer } from "./explorer.ts"
import { cpuOf, newFolder, run, startSandbox } from "./measure.ts"

const sizes = (process.argv[2] ?? "4000,40000").split(",").map(Number)
const [fields = 200, filled = 50] = process.argv.slice(3).map(Number)
const kinds = ["boats", "engines", "berths", "sails", "trips", "repairs"]
const begin = Date.parse("2026-01-01T00:00:00Z")
const iso = (at: number) => new Date(at).toISOString()

const sandbox = await startSandbox("--limits", "off", "--warm", "--contacts", "60")
let records = 0
/** Of the records that have changed, the last time; each has one number in the account, and its object by that. */
const changed = new Map<number, number>()

const objects = kinds.map((name) => ({
  id: `object ${name}`,
  standard: false,
  key: `custom_objects.${name}`,
  labels: { singular: name, plural: name },
  locationId: sandbox.account.locationId,
  primaryDisplayProperty: `custom_objects.${name}.field_0`,
  dateAdded: iso(begin),
  dateUpdated: iso(begin),
  type: "USER_DEFINED"
}))
const types = ["TEXT", "NUMERICAL", "DATE", "MONETORY", "MULTIPLE_OPTIONS"]
const fieldsOf = (key: string) =>
  Array.from({ length: fields }, (_, n) => ({
    id: `${key} ${n}`,
    name: `Field ${n}`,
    fieldKey: `${key.replace("objects", "object")}.field_${n}`,
    dataType: types[n % types.length],
    objectKey: key,
    dateAdded: iso(begin),
    dateUpdated: iso(begin)
  }))
const valueOf = (field: number, n: number) =>
  [
    `text ${n} of field ${field}`,
    n / 4,
    iso(begin + n * 86_400_000).slice(0, 10),
    { currency: "EUR", value: n },
    ["a", "b"]
  ][field % types.length]!
const updatedAt = (n: number) => changed.get(n) ?? begin + n * 1000
const recordOf = (n: number, key: string) => ({
  id: `record${n}`,
  locationId: sandbox.account.locationId,
  objectId: `object ${key}`,
  objectKey: key,
  owner: [],
  followers: [],
  properties: Object.fromEntries(
    Array.from({ length: Math.min(filled, fields) }, (_, i) => {
      const field = (n + i * 7) % fields
      return [`field_${field}`, valueOf(field, n + (changed.has(n) ? updatedAt(n) % 1000 : 0))]
    })
  ),
  createdAt: iso(begin + n * 1000),
  updatedAt: iso(updatedAt(n)),
  searchAfter: [updatedAt(n), `record${n}`]
})

/** Pages by time of change, then by number. */
const search = (key: string, { filters = [], pageLimit, searchAfter = [] }: Record<string, any>) => {
  const since = Date.parse(filters[0]?.value?.gte ?? 0)
  const [time = -1, id = ""] = searchAfter as [number?, string?]
  const kind = kinds.findIndex((name) => key.endsWith(name))
  const all = Array.from({ length: records }, (_, n) => n)
    .filter((n) => n % kinds.length === kind && updatedAt(n) >= (since || 0))
    .toSorted((a, b) => updatedAt(a) - updatedAt(b) || a - b)
  const behind = all.findIndex((n) => updatedAt(n) === time && `record${n}` === id) + 1
  return { records: all.slice(behind, behind + pageLimit).map((n) => recordOf(n, key)), total: all.length }
}

const server = createServer((asked, answer) => {
  const chunks: Array<Buffer> = []
  asked.on("data", (chunk: Buffer) => chunks.push(chunk))
  asked.on("end", () => {
    const body = Buffer.concat(chunks)
    const path = new URL(asked.url!, sandbox.url).pathname
    const key = decodeURIComponent(/custom_objects\.\w+/.exec(path)?.[0] ?? "")
    const own =
      path === "/objects/"
        ? { objects }
        : key === ""
          ? undefined
          : path.startsWith("/custom-fields/")
            ? { fields: fieldsOf(key), folders: [] }
            : search(key, JSON.parse(String(body)))
    if (own !== undefined) {
      answer.writeHead(200, { "content-type": "application/json", date: new Date().toUTCString() })
      return answer.end(JSON.stringify(own))
    }
    const { headers, method, url } = asked
    forward(sandbox.url + url, { method, headers }, (sent) => {
      answer.writeHead(sent.statusCode!, sent.headers)
      sent.pipe(answer)
    }).end(body)
  })
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const database = await startServer()
const sql = (text: string) => sqlIn(database, text)
const postmaster = Number((await sql("SELECT pg_read_file('postmaster.pid')")).split("\n")[0])
const formats = "duckdb,parquet"
const tables = "objects,object_fields,object_folders,object_records"

for (const size of sizes) {
  records = size
  changed.clear()
  const folder = newFolder()
  const environment = { ...sandbox.environment, SLUICE_BASE_URL: url, SLUICE_OUTPUT: join(folder, "output") }
  const config = join(folder, "sluice.toml")
  writeFileSync(config, '[[publish]]\nname = "database"\npostgres = "env:CRM_DATABASE_URL"\nprofile = "raw"\n')
  const rows: Array<readonly [string, number, number]> = []
  const measured = async (name: string, formats: string, ...args: ReadonlyArray<string>) => {
    const { cpuSeconds, peakMb } = await run(args, {
      ...environment,
      SLUICE_FORMATS: formats,
      CRM_DATABASE_URL: database.url
    })
    rows.push([name, cpuSeconds, peakMb])
  }
  const night = async (name: string) => {
    await measured(`${name}: sync`, "none", "sync", "--only", tables)
    const before = cpuOf(postmaster)
    await measured(`${name}: crm.duckdb, Parquet, PostgreSQL`, formats, "publish", "--config", config)
    rows.push([`${name}: PostgreSQL, server`, cpuOf(postmaster) - before, 0])
  }
  await sql("SET client_min_messages = warning; DROP SCHEMA IF EXISTS crm, crm_bi CASCADE")
  await night("first")
  await night("nothing changed")
  for (let n = 0; n < size / 100; n++) changed.set(n * 100, Date.now() + n)
  await night("1 % changed")
  await measured("verify", formats, "verify")
  await measured("rebuild", "none", "rebuild")
  const wide = `object_records_wide_${kinds[0]}`
  const loaded = await sql(`SELECT count(*) FROM crm.object_records`)
  console.log(
    `\n${size} records of ${kinds.length} objects, ${filled} of ${fields} fields filled; PostgreSQL has ${loaded}`
  )
  for (const [name, cpu, mb] of rows)
    console.log(
      `${name.padEnd(40)}${cpu.toFixed(1).padStart(8)} s CPU${mb > 0 ? `${mb.toFixed(0).padStart(7)} MB` : ""}`
    )
  const looks = await openExplorer({ ...environment, SLUICE_FORMATS: formats }, [wide])
  for (const [name, ms] of looks) console.log(`${name.padEnd(50)}${ms.toFixed(0).padStart(6)} ms`)
  rmSync(folder, { recursive: true, force: true })
}
sandbox.stop()
server.close()
await database.stop()
process.exit(0)
