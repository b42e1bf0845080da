/**
 * sluice and dlt (Python) copy the same contacts from the same sandbox, in the same pages, into the same three tables of a
 * DuckDB file. dlt infers its schema; sluice declares it. dlt runs with two workers, which is fastest, and with one, which
 * costs least CPU.
 *
 *     node_modules/.bin/node bench/side-by-side.ts [contacts] [runs]
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { query } from "../test/support/compare.ts"
import { type Measured, median, newFolder, run, runProgram, startContacts } from "./measure.ts"
import { environmentOf, environmentsFolder } from "./peers/packages.ts"

const contacts = Number(process.argv[2] ?? 20_000)
const runs = Number(process.argv[3] ?? 3)
const python = join(environmentOf("dlt", environmentsFolder), "bin", "python")
const script = fileURLToPath(new URL("dlt_contacts.py", import.meta.url))
const versions = execFileSync(python, [script, "versions"], { encoding: "utf8" })

const expected = [contacts, contacts * 2, contacts * 5]
const verify = (name: string, counted: ReadonlyArray<number>) => {
  if (String(counted) !== String(expected))
    throw new Error(`${name} wrote ${String(counted)} contacts, tags and custom values, not ${String(expected)}`)
}

const sandbox = await startContacts(contacts, "--warm")

const runSluice = async (): Promise<Measured> => {
  const folder = newFolder()
  const environment = { ...sandbox.environment, SLUICE_OUTPUT: folder, SLUICE_FORMATS: "none" }
  const measured = await run(["sync", "--only", "contacts", "--json"], environment)
  const [row] = await query(
    join(folder, "warehouse.duckdb"),
    `SELECT (SELECT count(*) FROM crm.contacts) AS contacts, (SELECT count(*) FROM crm.contact_tags) AS tags,
       (SELECT count(*) FROM crm.contact_custom_values) AS custom_values`
  )
  verify("sluice", Object.values(row!).map(Number))
  return measured
}

const runDlt = async (workers: number): Promise<Measured> => {
  const environment = { ...sandbox.environment, FOLDER: newFolder(), WORKERS: String(workers) }
  const measured = await runProgram(python, [script, "run"], environment)
  verify("dlt", JSON.parse((await runProgram(python, [script, "count"], environment)).stdout))
  return measured
}

try {
  const measured: Array<ReadonlyArray<Measured>> = []
  // Alternately, so that other load on the machine affects all of them.
  for (let n = 0; n < runs; n++) measured.push([await runSluice(), await runDlt(2), await runDlt(1)])

  console.log(`${contacts} contacts, median of ${runs}; ${versions.trim()}; Node ${process.versions.node}`)
  console.log("                          sluice       dlt   ratio  one worker  ratio")
  const line = (name: string, of: (run: Measured) => number) => {
    const [ours, ...theirs] = [0, 1, 2].map((tool) => median(measured.map((run) => of(run[tool]!)))) as [
      number,
      number,
      number
    ]
    const cells = [ours.toFixed(1), ...theirs.flatMap((value) => [value.toFixed(1), `x ${(value / ours).toFixed(2)}`])]
    console.log(name.padEnd(22) + cells.map((cell) => cell.padStart(10)).join(""))
  }
  line("wall, s", ({ seconds }) => seconds)
  line("CPU, s", ({ cpuSeconds }) => cpuSeconds)
  line("largest process, MB", ({ peakMb }) => peakMb)
} finally {
  sandbox.stop()
}
