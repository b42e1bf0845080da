/** A fleet whose workers share nothing but a bucket, beside a real PostgreSQL and the sandbox of an agency. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Fleet, assertComplete, limited, seconds, startFleet } from "../support/fleet.ts"
import { type Bucket, startBucket } from "../support/bucket.ts"
import { hasObjectStore } from "../support/object-store.ts"
import { postgresPrograms, withoutPostgres } from "../support/postgres.ts"
import { newFolder } from "../support/sluice.ts"

describe.skipIf(postgresPrograms === undefined || !hasObjectStore)(
  postgresPrograms === undefined ? withoutPostgres : "a fleet with its state in a bucket",
  () => {
    let [fleet, bucket]: [Fleet, Bucket] = [] as never
    beforeAll(async () => {
      bucket = await startBucket("state")
      fleet = await startFleet("--locations", "4", "--contacts", "20", ...limited)
      assert.strictEqual((await fleet.run("locations", "import")).code, 0)
    })
    afterAll(async () => {
      await fleet.stop()
      await bucket.stop()
    })
    const worker = (cache: string) =>
      fleet.worker({
        SLUICE_FLEET_STATE: "s3://state/agency",
        SLUICE_FLEET_CACHE: cache,
        SLUICE_FLEET_TOKEN: "",
        SLUICE_FLEET_REFRESH_TOKEN: `file:${fleet.secrets}/refresh-{location}`,
        SLUICE_CLIENT_ID: fleet.service.clientId,
        SLUICE_CLIENT_SECRET: fleet.service.clientSecret,
        SLUICE_FLEET_S3_ENDPOINT: bucket.endpoint,
        SLUICE_FLEET_S3_KEY: "test-key",
        SLUICE_FLEET_S3_SECRET: "test-secret"
      })

    it("moves to another worker after a kill, with the newest refresh tokens of the app, and waits for a bucket that answers 503 for 20 seconds", async () => {
      const [first, second, third] = [newFolder(), newFolder(), newFolder()]
      const killed = worker(first)
      const survivor = worker(second)
      assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
      await seconds(20)
      killed.kill("SIGKILL")
      bucket.setDown(true)
      // The outage begins when a worker notices it. Runs that have ended by now, on either worker, are queued again.
      for (let tries = 0; tries < 40 && bucket.counts().refused === 0; tries++) {
        assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
        await seconds(5)
      }
      await seconds(20)
      bucket.setDown(false)
      await fleet.reached(["done"], 200_000)
      assert.isAbove(bucket.counts().refused, 0)
      // Some locations ended on the worker that was killed.
      const before = new Map((await fleet.counts()).map(({ locationId, requests }) => [locationId, requests]))
      survivor.kill("SIGTERM")
      await survivor.ended

      // A worker that has nothing continues with what the others have stored.
      worker(third)
      assert.strictEqual((await fleet.run("enqueue", "--all")).code, 0)
      await seconds(3)
      await fleet.reached(["done"], 200_000)
      await assertComplete(fleet, third)
      for (const { locationId, requests } of await fleet.counts()) {
        assert.isTrue(existsSync(join(third, locationId, "tokens.json")), `${locationId} used the app`)
        assert.isBelow(requests - before.get(locationId)!, before.get(locationId)! / 2, locationId)
      }
    })
  }
)
