/**
 * CPU of sluice and bytes sent to a PostgreSQL database: the first load, a night after which 1 % of the contacts have changed,
 * and a publish that finds nothing changed. What a publish of the same changes without the database takes is subtracted.
 * PostgreSQL has to be installed.
 *
 *     node_modules/.bin/node bench/postgres.ts [contacts] [nights]
 */
import { writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"
import { startServer } from "../test/support/postgres.ts"
import { median, newFolder, run, startContacts } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 200_000)
const nights = Number(process.argv[3] ?? 4)
const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

const server = await startServer()
let sent = 0
/** Counts the bytes on their way. */
const counter = createServer((client) => {
  const upstream = connect(Number(new URL(server.url).port), "127.0.0.1")
  client.on("data", (chunk) => (sent += chunk.length))
  client.pipe(upstream).pipe(client)
  client.on("error", () => upstream.destroy())
  upstream.on("error", () => client.destroy())
})
await new Promise<void>((resolve) => counter.listen(0, "127.0.0.1", resolve))
const url = new URL(server.url)
url.port = String((counter.address() as AddressInfo).port)

const sandbox = await startContacts(contacts, "--warm")
try {
  const folder = newFolder()
  const environment = {
    ...sandbox.environment,
    SLUICE_OUTPUT: join(folder, "output"),
    SLUICE_FORMATS: "duckdb",
    CRM_DATABASE_URL: url.href
  }
  const config = join(folder, "sluice.toml")
  writeFileSync(config, '[[publish]]\nname = "database"\npostgres = "env:CRM_DATABASE_URL"\nprofile = "raw"\n')
  const sync = () => run(["sync", "--only", "contacts"], { ...environment, SLUICE_FORMATS: "none" })
  const measured = async () => {
    sent = 0
    const { cpuSeconds, peakMb, seconds } = await run(["publish", "--config", config], environment)
    return { cpuSeconds, peakMb, seconds, bytes: sent }
  }
  const change = async (seed: number) => {
    const body = JSON.stringify({ contacts: 0.01, opportunities: 0, conversations: 0, seed })
    const { ok } = await fetch(`${sandbox.url}/__sandbox/change`, { method: "POST", body })
    if (!ok) throw new Error("the sandbox refused the change")
    await sync()
  }
  const plain = async () => (await run(["publish"], environment)).cpuSeconds
  await sync()
  await plain()
  const unchanged = median([await plain(), await plain(), await plain()])
  const first = await measured()
  const withoutDatabase: Array<number> = []
  const rounds: Array<typeof first> = []
  // The main release is written anew every other night, so the order alternates.
  for (let night = 1; night <= nights; night++)
    for (const isLoaded of night % 2 === 0 ? [true, false] : [false, true]) {
      await change(2 * night + Number(isLoaded))
      if (isLoaded) rounds.push(await measured())
      else {
        withoutDatabase.push(await plain())
        await measured()
      }
    }
  const nothing = await measured()
  const changed = mean(withoutDatabase)
  const firstCpu = first.cpuSeconds - unchanged
  const show = (name: string, { bytes, cpuSeconds, peakMb, seconds }: typeof first, without: number) => {
    const cpu = cpuSeconds - without
    console.log(
      `${name}: ${cpu.toFixed(2)} s CPU (${(cpu / firstCpu).toFixed(3)} of the first), ${seconds.toFixed(1)} s, ` +
        `${(bytes / 1e6).toFixed(2)} MB (${(bytes / first.bytes).toFixed(3)}), peak ${Math.round(peakMb)} MB`
    )
  }
  console.log(
    `${contacts} contacts; without the database: ${changed.toFixed(2)} s CPU for 1 %, ${unchanged.toFixed(2)} for nothing`
  )
  show("first load", first, unchanged)
  const by = (key: keyof typeof first) => mean(rounds.map((one) => one[key]))
  const night = { bytes: by("bytes"), cpuSeconds: by("cpuSeconds"), peakMb: by("peakMb"), seconds: by("seconds") }
  show("1 % changed", night, changed)
  show("nothing changed", nothing, unchanged)
} finally {
  sandbox.stop()
  counter.close()
  await server.stop()
  process.exit(0)
}
