/**
 * A night of a fleet whose workers are killed: prints whether every table equals the service afterwards, and the most requests
 * of a location that the service counted in 10 seconds. PostgreSQL has to be installed; it is restarted once.
 *
 *     node_modules/.bin/node bench/fleet-kills.ts [locations] [contacts of each] [workers] [parallel] [kills]
 *
 * A kill is `kill -9` of a worker at a random instant; each third one is a pause instead, after which another worker has its locations.
 */
import { startFleetIn } from "../test/support/fleet.ts"
import { startServer } from "../test/support/postgres.ts"
import { randomFrom } from "../test/support/random.ts"

const [locations = 60, contacts = 10, workers = 3, parallel = 3, kills = 20] = process.argv.slice(2).map(Number)
const random = randomFrom(Number(process.env["SLUICE_SEED"] ?? 1))
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const server = await startServer()
const fleet = await startFleetIn(server, "--locations", String(locations), "--contacts", String(contacts))
await fleet.run("locations", "import")
const begin = () => fleet.worker({ SLUICE_FLEET_PARALLEL: String(parallel) })
const running = Array.from({ length: workers }, begin)
await wait(3000)
const startedAt = Date.now()
await fleet.run("enqueue", "--all")
for (let kill = 1; kill <= kills; kill++) {
  await wait(5000 + random() * 15_000)
  const place = Math.floor(random() * workers)
  const worker = running[place]!
  if (kill % 3 === 0) {
    worker.kill("SIGSTOP")
    await wait(14_000)
    worker.kill("SIGCONT")
  } else {
    worker.kill("SIGKILL")
    running[place] = begin()
  }
  if (kill === Math.ceil(kills / 2)) {
    await server.stop()
    await server.start()
  }
}
const { locations: ended } = await fleet.reached(["done"], 3_600_000)
const minutes = (Date.now() - startedAt) / 60_000
const counts = await fleet.counts()
const fullest = Math.max(...counts.map(({ fullestWindow }) => fullestWindow))
const refused = counts.reduce((sum, { refused429 }) => sum + refused429, 0)
const again = ended.filter(({ attempts }) => Number(attempts) > 1).length
let different = 0
for (const { locationId } of counts) different += (await fleet.differences(locationId)).length
console.log(
  `${locations} locations, ${workers} workers, ${kills} kills and pauses: ${minutes.toFixed(1)} minutes, ${again} locations begun again`
)
console.log(
  `${different} differences from the service; at most ${fullest} requests of a location in 10 s, ${refused} refused`
)
await fleet.stop()
process.exit(0)
