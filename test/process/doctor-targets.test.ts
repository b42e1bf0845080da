/** `doctor` writes to each place that gets releases, says what is missing there, and leaves nothing. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAlone } from "../support/account.ts"
import { type Bucket, startBucket } from "../support/bucket.ts"
import { lakeExtensions } from "../support/extensions.ts"
import { hasObjectStore } from "../support/object-store.ts"
import { type Postgres, postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { python } from "../support/python.ts"

describe("doctor", () => {
  let account: Account
  const folder = newFolder()
  beforeAll(async () => {
    account = await openAlone("contacts", "--contacts", "5")
  })
  afterAll(() => {
    discard(account)
    rmSync(folder, { recursive: true })
  })
  /** What it says of the target, in a line; the settings are those of the target. */
  const check = async (settings: string, more: Readonly<Record<string, string>> = {}) => {
    const config = join(folder, "sluice.toml")
    writeFileSync(config, settings && `[[publish]]\nname = "night"\nprofile = "raw"\n${settings}\n`)
    const ran = await sluice(["doctor", "--json", "--config", config], { ...account.environment, ...more })
    const { data, exitCode } = JSON.parse(ran.stdout || assert.fail(ran.stderr))
    const { state, todo = "", what } = data.lines.find((line: { check: string }) => line.check.startsWith("target "))
    assert.strictEqual(exitCode, state === "ok" ? 0 : 1)
    return `${state}: ${what}. ${todo}`
  }

  it("writes into a folder, and beside a SQLite file", async () => {
    const file = join(folder, "file")
    writeFileSync(file, "mine")
    const there = readdirSync(folder)
    assert.match(await check(`folder = "${folder}/later/on"`), /^ok: \S+later\/on can be written/)
    assert.match(
      await check(`folder = "${file}/releases"`),
      /^problem: \S+ cannot be written: ENOTDIR.* \.\/sluice doctor$/
    )
    assert.match(await check(`sqlite = "${folder}/crm.sqlite"`), /^ok: /)
    assert.match(await check(`sqlite = "${file}"`), /^problem: .*: it exists already, and sluice did not create it/)
    assert.deepStrictEqual(readdirSync(folder).toSorted(), [...there, "sluice.toml"].toSorted())
  })

  it.skipIf(postgresPrograms === undefined)(
    `creates a table in PostgreSQL${postgresPrograms ? "" : ` (${withoutPostgres})`}`,
    async () => {
      const server: Postgres = await openDatabase()
      try {
        await sqlIn(server, "CREATE ROLE writer LOGIN PASSWORD 'hidden-word'")
        const url = server.url.replace(/\/\/[^@]*@/, "//writer:hidden-word@")
        const target = [`postgres = "env:CRM_DATABASE_URL"`, { CRM_DATABASE_URL: url }] as const
        const denied = await check(...target)
        assert.match(denied, /^problem: postgres:\/\/night\/crm cannot be written: permission denied for database/)
        assert.include(denied, "two schemas of its own")
        assert.notInclude(denied, "hidden-word")
        const [, database] = /\/([^/?]+)(\?|$)/.exec(url.replace("//", ""))!
        await sqlIn(server, `GRANT CREATE ON DATABASE "${database}" TO writer`)
        assert.match(await check(...target), /^ok: postgres:\/\/night\/crm can be written/)
        const left =
          "SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text LIKE 'crm%' OR relname LIKE '%sluice%'"
        assert.strictEqual(await sqlIn(server, left), "0")
        assert.strictEqual(await sqlIn(server, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'crm%'"), "0")
      } finally {
        server.stop()
      }
    }
  )

  it.skipIf(!hasObjectStore)("writes an object into a bucket", async () => {
    const bucket: Bucket = await startBucket("crm")
    try {
      const settings = `folder = "s3://crm/night"\ns3_key = "env:KEY"\ns3_secret = "env:KEY"\ns3_endpoint = "${bucket.endpoint}"`
      bucket.disturb(({ method }) => (method === "PUT" ? "denied" : undefined))
      const denied = await check(settings, { KEY: "word" })
      assert.match(denied, /^problem: s3:\/\/crm\/night cannot be written: PUT \S+ answered 403 AccessDenied/)
      assert.match(denied, /docs\/destinations\.md\. Correct this, then run \.\/sluice doctor$/)
      const methods: Array<string> = []
      bucket.disturb(({ method }) => (methods.push(method), undefined))
      assert.match(await check(settings, { KEY: "word" }), /^ok: /)
      assert.deepStrictEqual([methods.filter((one) => one === "PUT").length, methods.at(-1)], [1, "DELETE"])
    } finally {
      await bucket.stop()
    }
  })

  it.skipIf(python === undefined)("writes a table into a lake, which is not created", async () => {
    const environment = { SLUICE_FORMATS: "none", SLUICE_OUTPUT: join(folder, "output") }
    const place = join(environment.SLUICE_OUTPUT, "lake")
    const target = `lake = "${place}"\nextensions = "${lakeExtensions(python!)}"`
    const config = ["--config", join(folder, "sluice.toml")]
    assert.match(await check(target, environment), /^ok: \S+\/output\/\S+ can be written/)
    assert.isFalse(existsSync(environment.SLUICE_OUTPUT))
    const without = await check(`lake = "${place}"\nextensions = "${join(folder, "none")}"`, environment)
    assert.match(without, /^problem: .*the DuckDB extension ducklake could not be loaded/)
    mkdirSync(environment.SLUICE_OUTPUT, { mode: 0o700 })
    assert.match(await check(target, environment), /^ok: /)
    const synced = await sluice(["sync", "--only", "contacts", ...config], { ...account.environment, ...environment })
    assert.strictEqual(synced.code, 0, synced.stderr)
    const files = () => readdirSync(join(environment.SLUICE_OUTPUT, "lake"), { recursive: true }).toSorted()
    const before = files()
    assert.match(await check(target, environment), /^ok: /)
    assert.deepStrictEqual(files(), before)
    const verified = await sluice(["verify", ...config], { ...account.environment, ...environment })
    assert.strictEqual(verified.code, 0, verified.stdout)
  })
})
