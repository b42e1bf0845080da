/** The commands of a fleet without a worker: what they write into the database, and what they print. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Postgres, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { type Service, startService } from "../support/service.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe.skipIf(postgresPrograms === undefined)(
  postgresPrograms === undefined ? withoutPostgres : "a fleet without a worker",
  { tags: ["slow"] },
  () => {
    let service: Service
    let postgres: Postgres
    const folder = newFolder()
    const fleet = (...args: ReadonlyArray<string>) =>
      sluice(["fleet", ...args], {
        SLUICE_BASE_URL: service.url,
        SLUICE_FLEET_DATABASE: postgres.url,
        SLUICE_FLEET_AGENCY_TOKEN: service.agencyToken!
      })
    /** The result, after its schema has accepted it. */
    const result = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await fleet(...args, "--json")
      assert.strictEqual(code, 0, stderr)
      const printed = JSON.parse(stdout)
      const name = `fleet-${args[0]}`
      assert.strictEqual(printed.schema, `sluice/${name}/1`)
      const path = new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url)
      const schema = readFileSync(path, "utf8").replaceAll('Properties": true', 'Properties": false')
      const check = new Ajv2020({ allErrors: true }).compile(JSON.parse(schema))
      assert.isTrue(check(printed), JSON.stringify(check.errors))
      return printed.data
    }
    beforeAll(async () => {
      ;[service, postgres] = await Promise.all([
        startService("--locations", "120", "--contacts", "1", "--cut-limit", "9"),
        openDatabase()
      ])
    })
    afterAll(() => {
      service.stop()
      return postgres.stop()
    })
    beforeEach(() => sqlIn(postgres, "DROP SCHEMA IF EXISTS sluice_fleet CASCADE"))

    it("imports every location of the agency once, over several pages", async () => {
      assert.strictEqual((await result("locations", "import")).locations.length, 120)
      assert.deepStrictEqual(await result("locations", "import"), { locations: [], unchanged: 120 })
      const { counts, locations } = await result("status")
      assert.deepStrictEqual(counts, { none: 120 })
      assert.match(locations[0].name, /^Harbor & Pine Renovations/)
    })

    it("imports a CSV file, and refuses tokens, commands and ids that could be paths", async () => {
      const path = join(folder, "locations.csv")
      writeFileSync(path, 'name,location,token\n"North, Ltd",north,env:NORTH_TOKEN\nSouth,south,\n')
      assert.deepStrictEqual((await result("locations", "import", path)).locations.sort(), ["north", "south"])
      const rows = await sqlIn(postgres, "SELECT location, name, token FROM sluice_fleet.locations ORDER BY 1")
      assert.strictEqual(rows, "north|North, Ltd|env:NORTH_TOKEN\nsouth|South|")
      for (const [id, token] of [
        ["east", "pit-secret-token"],
        ["east", "cmd:cat /etc/passwd"],
        ["../east", "env:EAST"]
      ]) {
        writeFileSync(path, `location,token\n${id},${token}\n`)
        const { code, stderr } = await fleet("locations", "import", path)
        assert.strictEqual(code, 2, stderr)
        assert.notInclude(stderr, "secret-token")
      }
      assert.strictEqual(await sqlIn(postgres, "SELECT count(*) FROM sluice_fleet.locations"), "2")
    })

    it("shows people 500 locations that are not done, each failed one among them, and says how many more there are", async () => {
      const path = join(folder, "many.csv")
      writeFileSync(path, `location\n${Array.from({ length: 620 }, (_, index) => `L${1000 + index}`).join("\n")}\n`)
      await result("locations", "import", path)
      await result("enqueue", "--all")
      const end = (state: string, locations: string) =>
        sqlIn(postgres, `UPDATE sluice_fleet.job SET state = '${state}' WHERE singleton_key IN (${locations})`)
      await end("completed", "'L1000', 'L1001'")
      await end("failed", "'L1610'")
      const { code, stdout } = await fleet("status", "--check")
      assert.strictEqual(code, 4)
      const lines = stdout.trimEnd().split("\n")
      assert.lengthOf(
        lines.filter((line) => /^L\d+ /.test(line)),
        500
      )
      assert.match(stdout, /^L1610 +failed/m)
      assert.deepStrictEqual(lines.slice(-2), [
        "and 118 more that are not done; --all lists them",
        "620 locations: 2 done, 1 failed, 617 queued"
      ])
      assert.strictEqual((await fleet("status", "--all")).stdout.match(/^L\d+ /gm)!.length, 620)
      const { counts, locations } = await result("status")
      assert.deepStrictEqual([counts, locations.length], [{ done: 2, failed: 1, queued: 617 }, 620])
    })

    it("queues a location once, until its run is cancelled", async () => {
      await result("locations", "add", "north", "south")
      assert.deepStrictEqual(await result("enqueue", "--location", "north"), { locations: ["north"], unchanged: 0 })
      const { locations, unchanged } = await result("enqueue", "--all", "--from", "2025-01-01")
      assert.deepStrictEqual([locations, unchanged], [["south"], 1])
      assert.deepStrictEqual((await result("cancel", "--location", "north")).locations, ["north"])
      assert.deepStrictEqual((await result("enqueue", "--all", "--again=lists")).locations, ["north"])
      assert.strictEqual(
        await sqlIn(
          postgres,
          "SELECT location, kind, window_from, state FROM sluice_fleet.runs ORDER BY requested_at, location"
        ),
        "north|sync||cancelled\nsouth|backfill|2025-01-01|queued\nnorth|full||queued"
      )
    })

    it("pauses and resumes, and names what is wrong", async () => {
      await result("locations", "add", "north")
      assert.deepStrictEqual((await result("pause", "--all")).locations, ["north"])
      assert.deepStrictEqual(await result("pause", "--all"), { locations: [], unchanged: 1 })
      assert.isTrue((await result("status")).locations[0].paused)
      assert.deepStrictEqual((await result("resume", "--location", "north")).locations, ["north"])
      const unknown = await fleet("enqueue", "--location", "nort")
      assert.strictEqual(unknown.code, 2)
      assert.match(unknown.stderr, /--location nort: the fleet has no such location\..*Next: .*locations add nort/s)
      assert.strictEqual((await fleet("enqueue")).code, 2)
      assert.strictEqual((await fleet("enqueue", "--all", "--again=lists", "--from", "2025-01-01")).code, 2)
      assert.deepStrictEqual((await result("locations", "remove", "north")).locations, ["north"])
    })

    it("refuses a schedule and a time zone that do not exist, with the line of the file", async () => {
      const path = join(folder, "sluice.toml")
      for (const [setting, reason] of [
        ['schedule = "2:30"', /fleet\.schedule.*2:30.*five fields/],
        ['schedule = "30 2 * * *"\ntime_zone = "Mars"', /fleet\.time_zone.*Mars.*Europe\/Berlin/]
      ] as const) {
        writeFileSync(path, `[fleet]\n${setting}\n`)
        const { code, stderr } = await fleet("worker", "--config", path)
        assert.strictEqual(code, 78, stderr)
        assert.match(stderr.replaceAll("\n", " "), reason)
        assert.include(stderr, path)
      }
    })

    it("ends with 4 for a failed run if checked, with 75 without the database, and with 78 without its address", async () => {
      await result("locations", "add", "north")
      await result("enqueue", "--all")
      await sqlIn(
        postgres,
        `UPDATE sluice_fleet.job SET state = 'failed', output = '{"exitCode": 77, "message": "No token."}'`
      )
      const checked = await fleet("status", "--check")
      assert.strictEqual(checked.code, 4)
      assert.match(checked.stdout, /north +failed +never complete .*No token\./)
      const secret = "postgres://sluice:a-password@127.0.0.1:1/x"
      const down = await sluice(["fleet", "status"], { SLUICE_FLEET_DATABASE: secret })
      assert.strictEqual(down.code, 75, down.stderr)
      assert.notInclude(down.stderr, "a-password")
      const missing = await sluice(["fleet", "status"], {})
      assert.strictEqual(missing.code, 78)
      assert.include(missing.stderr, "SLUICE_FLEET_DATABASE")
    })
  }
)

/** With a database that nobody reaches, what is right ends with 75, and what is wrong before that. */
describe("a fleet whose database does not answer", () => {
  const fleet = (...args: ReadonlyArray<string>) =>
    sluice(["fleet", ...args], { SLUICE_FLEET_DATABASE: "postgres://sluice@127.0.0.1:1/x" })

  it("refuses locations and times that exclude each other", async () => {
    for (const locations of [[], ["--all"], ["--location=north"], ["--all", "--location=north"]])
      assert.strictEqual((await fleet("cancel", ...locations)).code, locations.length === 1 ? 75 : 2)
    for (const again of [undefined, "changed", "lists", "all"])
      for (const from of [undefined, "2025-01-01"])
        for (const to of [undefined, "2025-02-01"]) {
          const given = Object.entries({ again, from, to }).flatMap(([name, value]) =>
            value ? [`--${name}=${value}`] : []
          )
          const isRight = from === undefined ? to === undefined : again === undefined || again === "changed"
          const { code, stderr } = await fleet("enqueue", "--all", ...given)
          assert.strictEqual(code, isRight ? 75 : 2, `${given.join(" ")} ${stderr}`)
        }
  })

  it("adds ids that can be names of folders, with references that its database may have", async () => {
    for (const [id, isRight] of [
      ["north-1_A", true],
      ["a".repeat(64), true],
      ["a".repeat(65), false],
      ["../north", false],
      ["north south", false]
    ] as const)
      for (const [token, isReference] of [
        [undefined, true],
        ["env:NORTH", true],
        ["file:/run/secrets/north", true],
        ["file:north", false],
        ["cmd:pass north", false],
        ["pit-of-north", false]
      ] as const) {
        const { code, stderr } = await fleet("locations", "add", id, ...(token ? [`--token-ref=${token}`] : []))
        assert.strictEqual(code, isRight && isReference ? 75 : 2, `${id} ${token} ${stderr}`)
        assert.notInclude(stderr, "pit-of-north")
      }
  })
})

describe("a fleet without a database", () => {
  it("is refused with the name of the setting that is missing", async () => {
    const { code, stderr } = await sluice(["fleet", "status"], {})
    assert.strictEqual(code, 78)
    assert.include(stderr, "fleet.database")
  })
})
