/** A sync that another engine than a worker starts: the fence holds for it too. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Bucket, startBucket } from "../support/bucket.ts"
import { type Fleet, limit, limited, seconds, startFleet } from "../support/fleet.ts"
import { hasObjectStore } from "../support/object-store.ts"
import { postgresPrograms, sqlIn, withoutPostgres } from "../support/postgres.ts"
import { start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

describe.skipIf(postgresPrograms === undefined || !hasObjectStore)(
  postgresPrograms === undefined ? withoutPostgres : "a sync with its state in a bucket, without a worker",
  () => {
    let [fleet, bucket]: [Fleet, Bucket] = [] as never
    let location = ""
    beforeAll(async () => {
      bucket = await startBucket("state")
      fleet = await startFleet("--locations", "2", "--contacts", "20", ...limited)
      location = (await fleet.counts())[0]!.locationId
    })
    afterAll(async () => {
      await fleet.stop()
      await bucket.stop()
    })
    const sync = (cache: string, ...flags: ReadonlyArray<string>) =>
      start(["sync", "--location", location, ...flags], {
        ...fleet.environment,
        SLUICE_FLEET_STATE: "s3://state/agency",
        SLUICE_FLEET_CACHE: cache,
        SLUICE_FLEET_S3_ENDPOINT: bucket.endpoint,
        SLUICE_FLEET_S3_KEY: "test-key",
        SLUICE_FLEET_S3_SECRET: "test-secret"
      })
    const fence = (columns: string) => sqlIn(fleet.postgres, `SELECT ${columns} FROM sluice_fleet.fences`)
    const hasRequests = async (count: number) => {
      while ((await fleet.counts())[0]!.requests < count) await seconds(0.2)
    }

    it("is taken over by a later one, and stores nothing then, whether it was paused or not", async () => {
      const [first, second] = [newFolder(), newFolder()]
      const early = sync(first)
      await hasRequests(5)
      early.kill("SIGSTOP")
      const later = sync(second, "--json")
      const { code, stdout, stderr } = await later.ended
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(JSON.parse(stdout).schema, "sluice/sync/1")
      const stored = await fence("number, ended_cleanly, snapshot, owner IS NULL")
      assert.match(stored, /^2\|t\|.+\.json\|t$/)
      early.kill("SIGCONT")
      const lost = await early.ended
      // Its tether or its fence ends it, whichever the process looks at first when it wakes up.
      assert.include([1, 11], lost.code, lost.stderr)
      assert.match(lost.stderr, /Another owner has taken over|no longer says that it owns the location/)
      assert.strictEqual(await fence("number, ended_cleanly, snapshot, owner IS NULL"), stored)
      assert.deepStrictEqual(await fleet.differences(location, second), [])
    })

    it("continues elsewhere what a stopped one has saved, within the limit of the service", async () => {
      const before = (await fleet.counts())[0]!.requests
      const stopped = sync(newFolder(), "--again=all")
      await hasRequests(before + 20)
      stopped.kill("SIGTERM")
      assert.strictEqual((await stopped.ended).code, 143)
      assert.strictEqual(await fence("ended_cleanly"), "t")
      const folder = newFolder()
      const { code, stderr } = await sync(folder).ended
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(await fleet.differences(location, folder), [])
      const { fullestWindow, refused429 } = (await fleet.counts())[0]!
      assert.isAtMost(fullestWindow, limit)
      assert.strictEqual(refused429, 0)
    })

    it("does not disturb a worker", async () => {
      await fleet.run("locations", "add", location)
      await sqlIn(
        fleet.postgres,
        `INSERT INTO sluice_fleet.job (name, singleton_key, state, heartbeat_on, data, started_on)
         VALUES ('runs', '${location}', 'active', now(), '{"kind": "sync"}', now())`
      )
      const { code, stderr } = await sync(newFolder()).ended
      assert.strictEqual(code, 11, stderr)
      assert.match(stderr, /worker .* runs /)
    })
  }
)
