/** Fields without a definition are kept, left in the vault only, or make the resource incomplete. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { type Reply, hostileService } from "../support/hostile.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const settings = (text: string) => {
  const path = join(newFolder(), "sluice.toml")
  writeFileSync(path, text)
  return path
}
const plain = { id: "c1", firstName: "Ann", type: "lead", customFields: [{ id: "f1", value: "x" }] }
const unusual = {
  ...plain,
  id: "c2",
  loyaltyTier: { level: 3 },
  dnd: "sometimes",
  customFields: [{ id: "f1", value: "y", unit: "kg" }]
}

describe("the schema policy", () => {
  let service: Awaited<ReturnType<typeof hostileService>>
  let contacts: ReadonlyArray<unknown> = []
  let folder = ""
  beforeAll(async () => {
    service = await hostileService(({ path }): Reply | undefined =>
      path === "/contacts/search"
        ? { body: { contacts, total: contacts.length } }
        : path.startsWith("/workflows/")
          ? { body: { workflows: [{ id: "w1", novelty: 1 }] } }
          : undefined
    )
  })
  afterAll(() => service.close())
  const run = (command: string, config: string, ...flags: ReadonlyArray<string>) =>
    sluice([command, ...flags, "--config", settings(config)], { ...service.environment, SLUICE_OUTPUT: folder })
  const sync = (config: string) => run("sync", config, "--only", "contacts,workflows", "--full")
  const rows = (sql: string) => query(join(folder, "warehouse.duckdb"), sql)
  const extras = async () => {
    const found = await rows(
      `SELECT id, _extra::VARCHAR AS extra FROM crm.contacts WHERE _extra IS NOT NULL
       UNION ALL SELECT contact_id, _extra::VARCHAR FROM crm.contact_custom_values WHERE _extra IS NOT NULL ORDER BY ALL`
    )
    return found.map(({ extra }) => extra)
  }
  const changes = () =>
    rows(
      "SELECT table_name || '.' || field AS place, kind, sample FROM meta.schema_changes WHERE table_name <> 'workflows' ORDER BY ALL"
    )
  const reported = [
    { place: "contact_custom_values.unit", kind: "new field", sample: '"kg"' },
    { place: "contacts.dnd", kind: "different type", sample: '"sometimes"' },
    { place: "contacts.loyaltyTier", kind: "new field", sample: '{"level":3}' }
  ]
  const all = ['{"loyaltyTier":{"level":3}}', '{"unit":"kg"}']
  const workflows = async () => (await rows("SELECT _extra::VARCHAR AS extra FROM crm.workflows"))[0]!["extra"]

  it("evolve, the default, keeps and reports unknown fields", async () => {
    folder = await newOutput()
    contacts = [plain, unusual]
    const ran = await sync("")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(await extras(), all)
    assert.deepStrictEqual(await changes(), reported)
  })

  it(
    "discard does not load unknown fields but reports them, and a rebuild with evolve restores them",
    { tags: ["slow"] },
    async () => {
      folder = await newOutput()
      contacts = [plain, unusual]
      const ran = await sync('[schema]\npolicy = "discard"\n[schema.resources]\nworkflows = "evolve"')
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.match(ran.stderr, /The service sent new fields or types.*contacts\.loyaltyTier \(new field\)/)
      assert.deepStrictEqual(await extras(), [])
      assert.strictEqual(await workflows(), '{"novelty":1}')
      assert.deepStrictEqual(await changes(), reported)
      assert.strictEqual((await run("rebuild", '[schema]\npolicy = "discard"')).code, 0)
      assert.deepStrictEqual(await extras(), [])
      assert.strictEqual((await run("rebuild", "")).code, 0)
      assert.deepStrictEqual(await extras(), all)
      assert.deepStrictEqual(await changes(), reported)
    }
  )

  it(
    "freeze makes the resource incomplete, names the setting that accepts the fields, and loads the other fields",
    { tags: ["slow"] },
    async () => {
      folder = await newOutput()
      contacts = [plain]
      const frozen = '[schema.resources]\ncontacts = "freeze"\n'
      const first = await sync(frozen)
      assert.strictEqual(first.code, 0, first.stderr)
      contacts = [plain, unusual]
      const second = await sync(frozen)
      assert.strictEqual(second.code, 3, second.stderr)
      const places = '["contact_custom_values.unit","contacts.dnd","contacts.loyaltyTier"]'
      assert.include(second.stderr, `accepted = ${places} under [schema] in the settings file`)
      assert.match(
        second.stderr,
        /contacts: the schema is frozen, and the service sent new fields or values: contact_custom_values\.unit, contacts\.dnd, contacts\.loyaltyTier\./
      )
      const statuses = await rows(
        "SELECT resource, status FROM meta.run_resources WHERE run_id = (SELECT max(run_id) FROM meta.runs) AND resource <> 'locations' ORDER BY ALL"
      )
      assert.deepStrictEqual(statuses, [
        { resource: "contacts", status: "incomplete" },
        { resource: "workflows", status: "complete" }
      ])
      const [run_] = await rows("SELECT status, exit_code FROM meta.runs ORDER BY run_id DESC LIMIT 1")
      assert.deepStrictEqual(run_, { status: "incomplete", exit_code: 3 })
      assert.deepStrictEqual(await rows("SELECT id, first_name FROM crm.contacts ORDER BY id"), [
        { id: "c1", first_name: "Ann" },
        { id: "c2", first_name: "Ann" }
      ])
      assert.deepStrictEqual(await extras(), [])
      assert.strictEqual(await workflows(), '{"novelty":1}')
      assert.deepStrictEqual(await changes(), reported)
      const before = await rows("SELECT * FROM crm.contacts ORDER BY id")
      assert.strictEqual((await run("rebuild", frozen)).code, 0)
      assert.deepStrictEqual(await rows("SELECT * FROM crm.contacts ORDER BY id"), before)
      const verified = await run("verify", frozen)
      assert.strictEqual(verified.code, 0, verified.stdout + verified.stderr)

      // A blocked field is reported as long as the service sends it; an accepted one is not.
      assert.strictEqual((await sync(frozen)).code, 3)
      const some = await sync(`[schema]\naccepted = ["contacts.loyaltyTier", "contacts.dnd"]\n${frozen}`)
      assert.strictEqual(some.code, 3)
      assert.match(some.stderr, /new fields or values: contact_custom_values\.unit\./)
      const accepted = `[schema]\naccepted = ${places}\n${frozen}`
      assert.strictEqual((await run("rebuild", accepted)).code, 0)
      assert.deepStrictEqual(await extras(), all)
      const last = await sync(accepted)
      assert.strictEqual(last.code, 0, last.stderr)
    }
  )

  it(
    "a new enum value of a frozen resource makes one run incomplete and is stored in the row",
    { tags: ["slow"] },
    async () => {
      folder = await newOutput()
      contacts = [plain]
      const frozen = '[schema]\npolicy = "freeze"\naccepted = ["workflows.novelty"]\n'
      assert.strictEqual((await sync(frozen)).code, 0)
      contacts = [{ ...plain, type: "patron" }]
      const second = await sync(frozen)
      assert.strictEqual(second.code, 3, second.stderr)
      assert.match(
        second.stderr,
        /contacts: the schema is frozen, and the service sent new fields or values: contacts\.type = patron\./
      )
      assert.deepStrictEqual(await rows("SELECT type FROM crm.contacts"), [{ type: "patron" }])
      assert.strictEqual((await sync(frozen)).code, 0)
    }
  )

  it.each([
    ['[schema]\npolicy = "evolv"', /policy/],
    ['[schema.resources]\ncontacts = "frozen"', /contacts/],
    [
      '[schema.resources]\ncontcats = "freeze"',
      /sluice\.toml:\d+: schema\.resources\.contcats: there is no such resource; did you mean contacts\?/
    ],
    ['[schema]\naccepted = ["contcats.x"]', /sluice\.toml:\d+: schema\.accepted: contcats\.x/],
    [
      '[schema]\naccepted = ["contacts"]',
      /sluice\.toml:\d+: schema\.accepted: contacts does not name a table and one of its fields/
    ],
    ["[schema]\npolicies = 1", /policies/]
  ])("an unknown policy, setting or name exits with 78 and is named: %j", async (config, place) => {
    folder = await newOutput()
    const ran = await sync(config)
    assert.strictEqual(ran.code, 78, ran.stderr)
    assert.match(ran.stderr, place)
  })
})
