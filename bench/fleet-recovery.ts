/**
 * How long a location waits after its worker has died, beside an idle worker: until the other owns it, and until the other begins
 * its run, which waits until the service has forgotten what the first one sent. Prints the seconds of each round, after `kill -9` and after a
 * pause that does not end, and the connections to PostgreSQL that a worker has. PostgreSQL has to be installed.
 *
 *     node_modules/.bin/node bench/fleet-recovery.ts [rounds of each] [locations]
 */
import { readFileSync, readdirSync } from "node:fs"
import { startFleet } from "../test/support/fleet.ts"
import { sqlIn } from "../test/support/postgres.ts"
import { median } from "./measure.ts"

const [rounds = 3, locations = 4] = process.argv.slice(2).map(Number)
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const fleet = await startFleet("--locations", String(locations), "--contacts", "10")
await fleet.run("locations", "import")
const begin = () => fleet.worker({ SLUICE_FLEET_PARALLEL: String(locations) })
const ask = async (sql: string) => Number(await sqlIn(fleet.postgres, sql))
/** Resolves when the statement counts that many rows. */
const until = async (count: number, sql: string) => {
  while ((await ask(sql)) < count) await wait(100)
  return Date.now()
}
const running = "FROM sluice_fleet.runs WHERE state = 'running'"

/** The syncs that a worker has begun. */
const processesOf = async (pid: number) =>
  readdirSync(`/proc/${pid}/task/${pid}`).includes("children")
    ? readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).length
    : locations

for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
  const [owned, begun]: [Array<number>, Array<number>] = [[], []]
  for (let round = 1; round <= rounds; round++) {
    const first = begin()
    await wait(3000)
    await fleet.run("enqueue", "--all", "--again=lists")
    await until(locations, `SELECT count(*) ${running}`)
    // A run that has begun has sent requests.
    await wait(2000)
    const other = begin()
    await wait(3000)
    const name = /(?:address|worker)=(\S+)/.exec(first.stderr())![1]
    const mine = await ask(`SELECT count(*) ${running} AND worker = '${name}'`)
    const connections = await ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice'")
    first.kill(signal)
    const at = Date.now()
    const others = `SELECT count(*) ${running} AND worker <> '${name}'`
    owned.push(((await until(locations, others)) - at) / 1000)
    while ((await processesOf(other.pid)) < locations) await wait(100)
    begun.push((Date.now() - at) / 1000)
    console.log(
      `${signal}: ${mine} locations owned by the other after ${owned.at(-1)!.toFixed(1)} s, begun after ${begun.at(-1)!.toFixed(1)} s; ${connections / 2} connections a worker`
    )
    await fleet.run("cancel", "--all")
    first.kill("SIGKILL")
    other.kill("SIGKILL")
    await wait(10_000)
  }
  console.log(`${signal}: median ${median(owned).toFixed(1)} s and ${median(begun).toFixed(1)} s`)
}
await fleet.stop()
process.exit(0)
