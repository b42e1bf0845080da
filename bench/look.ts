/**
 * What somebody waits for who looks at an account of many contacts: the explorer until it has its address, the names of all tables,
 * the first rows of a table and of a wide one, and the whole catalogue; and the report. Beside the rows, the time in which DuckDB
 * alone reads them from the same file. Medians of several starts.
 *
 *     node_modules/.bin/node bench/look.ts [contacts] [starts]
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { median, newFolder, run, startContacts } from "./measure.ts"

const [contacts = 200_000, starts = 5] = process.argv.slice(2).map(Number)
const launcher = fileURLToPath(new URL("../sluice", import.meta.url))
const tables = ["contacts", "contacts_wide"]
const firstRows = (table: string) => `SELECT * FROM ${table} LIMIT 100`

const times = new Map<string, Array<number>>()
const timed = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
  const start = performance.now()
  const result = await work()
  times.set(name, [...(times.get(name) ?? []), performance.now() - start])
  return result
}

const sandbox = await startContacts(contacts, "--warm")
const output = newFolder()
const environment = { ...sandbox.environment, SLUICE_OUTPUT: output, SLUICE_FORMATS: "duckdb" }
try {
  await run(["sync", "--only", "contacts"], environment)
} finally {
  sandbox.stop()
}

const look = async () => {
  const child = spawn(launcher, ["explore"], { env: { PATH: process.env["PATH"], ...environment } })
  try {
    const address = await timed("explorer: its address is printed", async () => {
      for await (const line of createInterface(child.stdout)) {
        const found = /http:\/\/\S+/.exec(line)
        if (found) return new URL(found[0])
      }
      throw new Error("the explorer has printed no address")
    })
    const { origin } = address
    const opened = await timed("explorer: its page", () => fetch(address, { redirect: "manual" }))
    const cookie = opened.headers.get("set-cookie")!.split(";")[0]!
    const ask = async (path: string, body?: object) => {
      const init = body && { method: "POST", body: JSON.stringify(body) }
      const response = await fetch(origin + path, { ...init, headers: { cookie, origin } })
      if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      return response.arrayBuffer()
    }
    await timed("explorer: names and rows of all tables", () => ask("/api/tables"))
    for (const table of tables)
      await timed(`explorer: first rows of ${table}`, () => ask("/api/query", { sql: firstRows(table) }))
    await timed("explorer: columns of all tables", () => ask("/api/catalog"))
  } finally {
    child.kill()
  }
}

/** In the process of this benchmark, which runs already. */
const readAlone = async () => {
  const instance = await DuckDBInstance.create(join(output, "published", "crm.duckdb"), { access_mode: "READ_ONLY" })
  const connection = await instance.connect()
  for (const table of tables)
    await timed(`DuckDB alone: first rows of ${table}`, async () =>
      (await connection.runAndReadAll(firstRows(table))).getRowsJson()
    )
  connection.closeSync()
  instance.closeSync()
}

for (let n = 0; n < starts; n++) {
  await look()
  await readAlone()
  await timed("report", () => run(["report"], environment))
  await timed("status, for comparison", () => run(["status"], environment))
}
console.log(`${contacts} contacts, ms, medians of ${starts}`)
for (const [name, found] of times) console.log(`${name.padEnd(44)}${median(found).toFixed(0).padStart(6)}`)
process.exit(0)
