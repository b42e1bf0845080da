/** The fleet with real workers, a real PostgreSQL, and the sandbox of an agency. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { type Fleet, assertComplete, limited, seconds, startFleet, startFleetIn } from "../support/fleet.ts"
import { type Server, postgresPrograms, sqlIn, startServer, withoutPostgres } from "../support/postgres.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a fleet of 6 locations and 3 workers",
  () => {
    let fleet: Fleet
    let server: Server
    beforeAll(async () => {
      server = await startServer()
      fleet = await startFleetIn(server, "--locations", "6", "--contacts", "30", ...limited)
      assert.strictEqual((await fleet.run("locations", "import")).code, 0)
    })
    afterAll(() => fleet.stop())

    it(`equals the service after kills, a pause, and a restart of the database (seed ${seed})`, async () => {
      const random = randomFrom(seed)
      const workers = [fleet.worker(), fleet.worker(), fleet.worker()]
      /** Takes the worker with most runs out of the list. */
      const busiest = async () => {
        const most =
          "SELECT worker FROM sluice_fleet.runs WHERE state = 'running' GROUP BY worker ORDER BY count(*) DESC"
        const name = (await sqlIn(fleet.postgres, most))
          .split("\n")
          .find((one) => workers.some(({ pid }) => one.endsWith(`:${pid}`)))
        return workers.splice(
          workers.findIndex(({ pid }) => name?.endsWith(`:${pid}`)),
          1
        )[0]!
      }
      assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
      await seconds(5 + random() * 8)
      const first = await busiest()
      first.kill("SIGKILL")
      await seconds(1)
      workers.push(fleet.worker())
      await seconds(3 + random() * 5)
      const second = await busiest()
      second.kill("SIGSTOP")
      await seconds(4)
      await server.stop()
      await server.start()
      await seconds(14)
      second.kill("SIGCONT")
      const { locations } = await fleet.reached(["done"], 200_000)
      assert.isAbove(
        locations.filter(({ attempts }) => Number(attempts) > 1).length,
        2,
        "the kills and the pause interrupted runs"
      )
      await assertComplete(fleet)
    })
  }
)

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a worker without work, beside a busy one",
  () => {
    let fleet: Fleet
    beforeAll(async () => {
      fleet = await startFleet("--locations", "5", "--contacts", "2", ...limited)
      assert.strictEqual((await fleet.run("locations", "import")).code, 0)
    })
    afterAll(() => fleet.stop())

    it("runs what waits, and what the busy one leaves if it dies", async () => {
      const busy = fleet.worker({ SLUICE_FLEET_PARALLEL: "1" })
      /** The locations that the busy worker runs, or the others run, once there are so many. */
      const begins = async (owner: "=" | "<>", count: number, withinSeconds: number) => {
        for (let waited = 0; ; waited++) {
          const rows = await sqlIn(
            fleet.postgres,
            `SELECT location FROM sluice_fleet.runs WHERE state = 'running' AND worker ${owner} '${hostname()}:${busy.pid}'`
          )
          const locations = rows.split("\n").filter((location) => location !== "")
          if (locations.length >= count || waited === withinSeconds) return locations
          await seconds(1)
        }
      }
      assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
      const [left] = await begins("=", 1, 30)
      const other = fleet.worker({ SLUICE_FLEET_PARALLEL: "8" })
      assert.lengthOf(await begins("<>", 4, 30), 4, "no location waits for the busy worker")
      busy.kill("SIGKILL")
      for (let waited = 0; waited < 30 && !(await begins("<>", 1, 30)).includes(left!); waited++) await seconds(1)
      assert.include(await begins("<>", 1, 0), left)
      await seconds(2)
      other.kill("SIGKILL")
      fleet.worker({ SLUICE_FLEET_PARALLEL: "8" })
      const { locations } = await fleet.reached(["done"], 200_000)
      const again = locations.filter(({ attempts }) => Number(attempts) > 1)
      assert.isNotEmpty(again, "the kills interrupted runs")
      await assertComplete(fleet)
    })
  }
)

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a worker with a schedule",
  () => {
    let fleet: Fleet
    beforeAll(async () => {
      fleet = await startFleet("--locations", "4", "--contacts", "2", "--limits", "off", "--latency", "500-1000")
      assert.strictEqual((await fleet.run("locations", "import")).code, 0)
    })
    afterAll(() => fleet.stop())

    it("queues every location that is not paused; one without a token stops no other, and a run can be cancelled", async () => {
      const [bad, paused, good, cancelled] = (await fleet.counts()).map(({ locationId }) => locationId) as [
        string,
        string,
        string,
        string
      ]
      writeFileSync(join(fleet.secrets, bad), "pit-wrong")
      assert.strictEqual((await fleet.run("pause", "--location", paused)).code, 0)
      const config = join(newFolder(), "sluice.toml")
      // One minute of an hour, which the worker reaches after its start: each further one would queue the locations again.
      const minute = new Date(Date.now() + 80_000).getUTCMinutes()
      writeFileSync(config, `[fleet]\nschedule = "${minute} * * * *"\ntime_zone = "Asia/Tokyo"\njitter = "1s"\n`)
      const worker = fleet.worker({}, "--config", config)
      /** The status of a location, when it meets a condition. */
      const becomes = async (location: string, state: string) => {
        const until = Date.now() + 200_000
        for (;;) {
          const found = (await fleet.status()).locations.find((one) => one.location === location)!
          if (found["state"] === state) return found
          if (Date.now() > until) throw new Error(JSON.stringify(found))
          await seconds(0.5)
        }
      }
      await becomes(cancelled, "running")
      assert.strictEqual((await fleet.run("cancel", "--location", cancelled)).code, 0)
      await becomes(cancelled, "cancelled")
      const failed = await becomes(bad, "failed")
      assert.strictEqual(failed["exitCode"], 77)
      assert.match(String(failed["message"]), /does not accept the token/)
      assert.strictEqual((await becomes(good, "done"))["attempts"], 1)
      assert.strictEqual((await becomes(paused, "none"))["paused"], true)
      assert.strictEqual((await fleet.run("status", "--check")).code, 4)
      assert.deepStrictEqual(await fleet.differences(good), [])

      worker.kill("SIGTERM")
      const { code, stderr } = await worker.ended
      assert.strictEqual(code, 143)
      assert.match(stderr, /message="the schedule queued runs"/)
      assert.notInclude(stderr, "pit-")
    })
  }
)
