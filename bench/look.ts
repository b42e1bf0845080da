/**
 * What somebody waits for who looks at an account of many contacts: the explorer until it has its address, the names of all tables,
 * the first rows of a table and of a wide one, and the whole catalogue; and the report. Beside the rows, the time in which DuckDB
 * alone reads them from the same file. Medians of several starts.
 *
 *     node_modules/.bin/node bench/look.ts [contacts] [starts]
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { join } from "node:path"
import { firstRows, openExplorer } from "./explorer.ts"
import { median, newFolder, run, startContacts } from "./measure.ts"

const [contacts = 200_000, starts = 5] = process.argv.slice(2).map(Number)
const tables = ["contacts", "contacts_wide"]

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
  for (const [name, ms] of await openExplorer(environment, tables)) times.set(name, [...(times.get(name) ?? []), ms])
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
