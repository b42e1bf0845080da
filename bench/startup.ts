/**
 * The time of short commands: `--help`, and `status` on a large warehouse.
 *
 *     node_modules/.bin/node bench/startup.ts [gigabytes] [runs]
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { statSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { join } from "node:path"
import { newStorage } from "../src/stores/warehouse/database.ts"
import { median, newFolder, run, startSandbox } from "./measure.ts"

const gigabytes = Number(process.argv[2] ?? 2)
const runs = Number(process.argv[3] ?? 9)

/** Inserts rows of incompressible text, a hundred thousand at a time, until the file is large enough. */
const fill = async (path: string) => {
  const instance = await DuckDBInstance.create(":memory:")
  const connection = await instance.connect()
  await connection.run(`ATTACH '${path}' AS warehouse (${newStorage}); USE warehouse`)
  const text = (words: number) => Array.from({ length: words }, () => "uuid()::VARCHAR").join(" || ")
  while (statSync(path).size < gigabytes * 1e9) {
    await connection.run(`
      INSERT INTO crm.contacts (location_id, id, first_name, last_name, email, phone, address1, date_added, _extra, _synced_at)
        SELECT 'here', ${text(1)}, ${text(1)}, ${text(1)}, ${text(2)}, ${text(1)}, ${text(2)}, now(), NULL, now()
        FROM range(100000);
      INSERT INTO crm.messages (location_id, id, conversation_id, contact_id, body, date_added, _synced_at)
        SELECT 'here', ${text(1)}, ${text(1)}, ${text(1)}, ${text(8)}, now(), now() FROM range(100000);
      CHECKPOINT`)
  }
  const rows = await connection.runAndReadAll(
    "SELECT (SELECT count(*) FROM crm.contacts) + (SELECT count(*) FROM crm.messages)"
  )
  connection.closeSync()
  instance.closeSync()
  return Number(rows.getRows()[0]![0])
}

const measure = async (name: string, args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => {
  const measured = []
  for (let n = 0; n < runs; n++) measured.push(await run(args, environment))
  const ms = (value: number) => String(Math.round(value * 1000)).padStart(6)
  const seconds = measured.map((one) => one.seconds)
  console.log(
    `${name.padEnd(34)} ${ms(median(seconds))} ms, at best ${ms(Math.min(...seconds))} ms; ` +
      `CPU ${ms(median(measured.map((one) => one.cpuSeconds)))} ms`
  )
}

const folder = newFolder()
const { bavail, bsize } = await statfs(folder)
if (bavail * bsize < gigabytes * 2e9) throw new Error(`${folder} has no space for a warehouse of ${gigabytes} GB`)

const sandbox = await startSandbox("--limits", "off", "--contacts", "100")
const environment = { SLUICE_OUTPUT: folder, SLUICE_FORMATS: "none" }
await run(["sync"], { ...sandbox.environment, ...environment })
sandbox.stop()

console.log(`median of ${runs}`)
await measure("--help", ["--help"], {})
const path = join(folder, "warehouse.duckdb")
const size = () => `${(statSync(path).size / 1e9).toFixed(2)} GB`
await measure(`status, ${size()}`, ["status"], environment)
const rows = await fill(path)
await measure(`status, ${size()}, ${(rows / 1e6).toFixed(1)} million rows`, ["status"], environment)
