/** The fleet with real workers, a real PostgreSQL, and the sandbox of an agency. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Fleet, startFleet } from "../support/fleet.ts"
import { postgresPrograms, withoutPostgres } from "../support/postgres.ts"
import { randomFrom } from "../support/random.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)
const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000))

/** Every location equals the service, and the service never counted more than its limit. */
const assertComplete = async (fleet: Fleet) => {
  for (const { fullestWindow, locationId, refused429 } of await fleet.counts()) {
    assert.deepStrictEqual(await fleet.differences(locationId), [], locationId)
    assert.isAtMost(fullestWindow, 100, locationId)
    assert.strictEqual(refused429, 0, locationId)
  }
}

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a fleet of 20 locations and 3 workers",
  () => {
    let fleet: Fleet
    beforeAll(async () => {
      fleet = await startFleet("--locations", "20", "--contacts", "10")
      assert.strictEqual((await fleet.run("locations", "import")).code, 0)
    })
    afterAll(() => fleet.stop())

    it(`equals the service after kills, a pause longer than the lease, and a restart of the database (seed ${seed})`, async () => {
      const random = randomFrom(seed)
      const [first, second] = [fleet.worker(), fleet.worker()]
      fleet.worker()
      assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
      await seconds(5 + random() * 8)
      first.kill("SIGKILL")
      await seconds(1)
      fleet.worker()
      await seconds(3 + random() * 5)
      second.kill("SIGSTOP")
      await seconds(4)
      await fleet.postgres.restart()
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
