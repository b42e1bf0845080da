/**
 * A night of a fleet: from the first queued run to the last commit in the lake. Prints locations per minute, the share of the
 * time in which a commit held the lock of the lake, connections to PostgreSQL, and the memory of a worker. The lake has its
 * catalog in PostgreSQL and its files in a folder.
 *
 *     node_modules/.bin/node bench/fleet.ts [locations] [workers] [contacts of each] [nights]
 *     node_modules/.bin/node bench/fleet.ts --locations 100000 --stub [--hours 1]     see fleet-stub.ts
 *
 * BENCH_ONLY: the tables that are read, separated by commas; without it, all.
 */
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { withLake } from "../test/support/extensions.ts"
import { python } from "../test/support/python.ts"
import { sqlIn, startServer } from "../test/support/postgres.ts"
import { simulate } from "./fleet-stub.ts"
import { median, newFolder, run, startSandbox } from "./measure.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { locations: { type: "string" }, stub: { type: "boolean" }, hours: { type: "string" } }
})
if (flags.stub) {
  await simulate(Number(flags.locations ?? 2000), Number(flags.hours ?? 24))
  process.exit(0)
}
const [locations = 100, workers = 2, contacts = 50, nights = 2] = positionals.map(Number)
const only = process.env["BENCH_ONLY"]
const launcher = fileURLToPath(new URL("../sluice", import.meta.url))
const chosenTables = new URL("fleet-only.ts", import.meta.url).href

const postgres = await startServer()
const sandbox = await startSandbox("--locations", String(locations), "--contacts", String(contacts))
const children: Array<ReturnType<typeof spawn>> = []
try {
  const folder = newFolder()
  const { hostname, port } = new URL(postgres.url)
  const listed = (await (await fetch(`${sandbox.url}/__sandbox/locations`)).json()) as ReadonlyArray<{
    readonly locationId: string
    readonly token: string
  }>
  const tokens = join(folder, "tokens")
  mkdirSync(tokens)
  for (const { locationId, token } of listed) writeFileSync(join(tokens, locationId), token)
  writeFileSync(join(folder, "locations.csv"), `location\n${listed.map(({ locationId }) => locationId).join("\n")}\n`)
  const environment = {
    SLUICE_BASE_URL: sandbox.url,
    SLUICE_FLEET_DATABASE: postgres.url,
    SLUICE_FLEET_STATE: join(folder, "state"),
    SLUICE_FLEET_TOKEN: `file:${tokens}/{location}`,
    SLUICE_FLEET_PARALLEL: process.env["SLUICE_FLEET_PARALLEL"] ?? "2",
    SLUICE_FORMATS: "none"
  }
  const catalog = `postgres:dbname=postgres host=${hostname} port=${port} user=sluice`
  const config = withLake(python!, { lake: join(folder, "lake"), catalog })
  await run(["fleet", "locations", "import", join(folder, "locations.csv")], environment)
  for (let index = 0; index < workers; index++)
    children.push(
      spawn(launcher, ["fleet", "worker", "--quiet", ...config], {
        env: {
          PATH: process.env["PATH"],
          ...environment,
          ...(only !== undefined && { BENCH_ONLY: only, NODE_OPTIONS: `--import ${chosenTables}` })
        },
        stdio: "ignore"
      })
    )
  const night = async (name: string) => {
    const begun = Date.now()
    await run(["fleet", "enqueue", "--all"], environment)
    let [connections, held, asked, memoryMb, saidAt] = [0, 0, 0, 0, begun]
    for (;;) {
      const [all, locks, open] = (
        await sqlIn(
          postgres,
          `SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
             (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = 7310423),
             (SELECT count(*) FROM sluice_fleet.runs WHERE state NOT IN ('done', 'failed', 'cancelled', 'partial'))`
        )
      )
        .split("|")
        .map(Number) as [number, number, number]
      connections = Math.max(connections, all)
      held += Math.min(1, locks)
      asked++
      for (const { pid } of children) memoryMb = Math.max(memoryMb, residentMb(pid!))
      if (open === 0) break
      if (Date.now() - saidAt > 60_000) {
        saidAt = Date.now()
        console.error(`${((saidAt - begun) / 60_000).toFixed(0)} min: ${locations - open} of ${locations}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    const minutes = (Date.now() - begun) / 60_000
    console.log(
      `${name}: ${locations} locations of ${contacts} contacts on ${workers} workers in ${minutes.toFixed(1)} min, ${(locations / minutes).toFixed(0)} a minute; lock of the lake held ${((held / asked) * 100).toFixed(0)} % of the time; at most ${connections} connections; ${Math.round(memoryMb)} MB a worker`
    )
  }
  for (let index = 1; index <= nights; index++) await night(`night ${index}`)
  const seconds = await sqlIn(
    postgres,
    "SELECT extract(epoch FROM ended_at - started_at) FROM sluice_fleet.runs WHERE state = 'done'"
  )
  console.log(`median run ${median(seconds.split("\n").map(Number)).toFixed(1)} s`)
  console.log(await sqlIn(postgres, "SELECT state, count(*) FROM sluice_fleet.runs GROUP BY 1"))
} finally {
  for (const child of children) child.kill("SIGTERM")
  sandbox.stop()
  await new Promise((resolve) => setTimeout(resolve, 3000))
  await postgres.stop()
}

/** Of the process alone, without those of the runs. */
function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000
  } catch {
    return 0
  }
}
