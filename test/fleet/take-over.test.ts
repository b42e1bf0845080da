/** A database of the version before, which had tables of runs and leases, is that of this one after the first command. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { type Postgres, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { sluice } from "../support/sluice.ts"

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a database of the version before",
  { tags: ["slow"] },
  () => {
    let postgres: Postgres
    const status = async () => {
      const ran = await sluice(["fleet", "status", "--json"], { SLUICE_FLEET_DATABASE: postgres.url })
      assert.strictEqual(ran.code, 0, ran.stderr)
      return JSON.parse(ran.stdout).data.locations as ReadonlyArray<Readonly<Record<string, unknown>>>
    }
    beforeAll(async () => {
      postgres = await openDatabase()
      await sqlIn(postgres, readFileSync(new URL("../fixtures/fleet-leases.sql", import.meta.url), "utf8"))
    })
    afterAll(() => postgres.stop())

    it("keeps its locations and runs; those that were open are queued again", async () => {
      // Several workers start at once.
      const [locations] = await Promise.all([status(), status(), status()])
      const shown = locations.map(({ attempts, exitCode, location, message, state }) =>
        [location, state, attempts, exitCode, message].join("|")
      )
      assert.deepStrictEqual(shown.toSorted(), [
        "cancelling|cancelled|1||",
        "done|done|1|0|",
        "failed|failed|1|77|The service does not accept the token.",
        "paused|queued|0||",
        "queued|queued|0||",
        "running|queued|2||",
        "waiting|waiting|1|75|The day is used up."
      ])
      const of = (wanted: string) => locations.find(({ location }) => location === wanted)!
      assert.strictEqual(of("waiting")["notBefore"], "2999-01-01T00:00:00.000Z")
      assert.isUndefined(of("paused")["notBefore"], "it waits for the end of the pause")
      assert.strictEqual(of("done")["freshAt"], "2026-11-01T02:30:00.000Z")
      assert.strictEqual(of("queued")["name"], "Queued, Ltd")
    })

    it("continues with the numbers and snapshots of its locations, and with what a run is to read", async () => {
      assert.strictEqual(
        await sqlIn(
          postgres,
          `SELECT location, number, ended_cleanly, snapshot FROM sluice_fleet.fences
           WHERE number > 0 ORDER BY location`
        ),
        "done|3|t|done/manifests/two.json\nrunning|41|f|running/manifests/one.json"
      )
      assert.strictEqual(
        await sqlIn(
          postgres,
          `SELECT kind, window_from, window_to, failures FROM sluice_fleet.runs WHERE location = 'waiting'`
        ),
        "backfill|2025-01-01|2025-02-01|2"
      )
      const tables = `SELECT count(*) FROM pg_tables WHERE schemaname = 'sluice_fleet' AND tablename ~ '^(runs|schedules)'`
      assert.strictEqual(await sqlIn(postgres, tables), "0")
    })

    it("has one open run of a location, and can cancel it", async () => {
      const run = (...args: ReadonlyArray<string>) =>
        sluice(["fleet", ...args], { SLUICE_FLEET_DATABASE: postgres.url })
      assert.match((await run("enqueue", "--all")).stdout, /^3 locations queued; 4 unchanged/)
      assert.match((await run("cancel", "--all")).stdout, /runs of 7 locations end/)
    })
  }
)
