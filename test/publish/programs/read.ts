/**
 * A reader in another process that reads `published` in a loop until its input ends: every file that the manifest
 * lists, through the target of the link and through the link itself. Prints how often, how many releases, and every error.
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { verified } from "../verify.ts"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const published = process.argv[2]!
const seen = { readings: 0, versions: new Set<string>(), wrong: [] as Array<string> }
let stopped = false
process.stdin.once("end", () => (stopped = true)).resume()

const oneGeneration = (names: ReadonlySet<unknown>, rows: number, what: string) => {
  if (names.size !== 1 || rows !== 500) seen.wrong.push(`${what}: ${rows} rows of ${names.size} generations`)
}

for (let last = false; !last;) {
  last = stopped
  try {
    seen.versions.add(verified(published).run)
    const lines = readFileSync(join(published, "csv/things.csv"), "utf8").split("\r\n").slice(1, -1)
    oneGeneration(new Set(lines.map((line) => line.split(",")[2])), lines.length, "csv")
    const instance = await DuckDBInstance.create(join(published, "crm.duckdb"), { access_mode: "READ_ONLY" })
    const connection = await instance.connect()
    const names = (await connection.runAndReadAll("SELECT name FROM crm.things")).getRowsJson()
    oneGeneration(new Set(names.map(([name]) => name)), names.length, "duckdb")
    connection.closeSync()
    instance.closeSync()
  } catch (error) {
    seen.wrong.push(String(error))
  }
  if (seen.readings++ === 0) process.stderr.write("reading\n")
  await new Promise((resolve) => setImmediate(resolve))
}
process.stdout.write(JSON.stringify({ ...seen, versions: seen.versions.size }))
