/** Fields and values without a definition are kept and reported once, left in the vault only, or make the resource incomplete. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { query } from "../support/compare.ts"
import { type Reply, hostileService } from "../support/hostile.ts"
import { knowing, newFolder, sluice } from "../support/sluice.ts"

const slow = { tags: ["slow"] }
const plain = { id: "c1", firstName: "Ann", type: "lead", customFields: [{ id: "f1", value: "x" }] }
const unusual = {
  ...plain,
  id: "c2",
  loyaltyTier: { level: 3 },
  dnd: "sometimes",
  customFields: [{ id: "f1", value: "y", unit: "kg" }]
}

describe("a field that no definition has", () => {
  let service: Awaited<ReturnType<typeof hostileService>>
  let contacts: ReadonlyArray<unknown> = []
  let folder = ""
  beforeAll(async () => {
    const answers = ({ path }: { readonly path: string }): Reply | undefined => {
      if (path === "/contacts/search") return { body: { contacts, total: contacts.length } }
      return path.startsWith("/workflows/")
        ? { body: { workflows: [{ id: "w1", novelty: 1, status: "frozen_over" }] } }
        : undefined
    }
    service = await hostileService(answers, newFolder())
  })
  beforeEach(() => {
    folder = newFolder()
    contacts = [plain]
  })
  afterAll(() => service.close())

  /** Runs a command with these settings, and expects its exit code; returns what it says. */
  const run = async (command: string, settings: string, code = 0) => {
    const config = join(newFolder(), "sluice.toml")
    writeFileSync(config, settings)
    const environment = { ...service.environment, ...knowing("contacts,workflows"), SLUICE_OUTPUT: folder }
    const ran = await sluice([...command.split(" "), "--config", config], environment)
    assert.strictEqual(ran.code, code, ran.stdout + ran.stderr)
    return ran.stderr
  }
  const sync = (settings: string, code = 0) => run("sync --only contacts,workflows --again=all", settings, code)
  const rows = (sql: string) => query(join(folder, "warehouse.duckdb"), sql)
  const extras = async () => {
    const found = await rows(
      `SELECT _extra::VARCHAR AS extra FROM crm.contacts WHERE _extra IS NOT NULL
       UNION ALL SELECT _extra::VARCHAR FROM crm.contact_custom_values WHERE _extra IS NOT NULL ORDER BY ALL`
    )
    return found.map(({ extra }) => extra)
  }
  const changes = async () => {
    const found = await rows(
      "SELECT table_name || '.' || field || ': ' || kind || ' ' || sample || ' ' || seen AS change FROM meta.schema_changes WHERE table_name <> 'workflows' ORDER BY ALL"
    )
    return found.map(({ change }) => change)
  }
  const reported = (seen: number) => [
    `contact_custom_values.unit: new field "kg" ${seen}`,
    `contacts.dnd: different type "sometimes" ${seen}`,
    `contacts.loyaltyTier: new field {"level":3} ${seen}`
  ]
  const all = ['{"loyaltyTier":{"level":3}}', '{"unit":"kg"}']
  const workflows = async () => (await rows("SELECT _extra::VARCHAR AS extra FROM crm.workflows"))[0]!["extra"]

  it("is kept and reported once with a sample, and so is an undocumented value: evolve, the default", async () => {
    const first = await sync("")
    assert.match(first, /Undocumented enum values, stored unchanged: workflows\.status = frozen_over\./)
    contacts = [plain, { ...unusual, type: "patron" }]
    const second = await sync("")
    assert.match(second, /The service sent new fields or types.*contacts\.loyaltyTier \(new field\)/)
    assert.match(second, /contacts\.type = patron \(new value\)/)
    assert.deepStrictEqual(await extras(), all)
    // A value is new once.
    const patron = "contacts.type = patron: new value patron 1"
    assert.deepStrictEqual(await changes(), [...reported(1), patron])
    const third = await sync("")
    assert.notMatch(second + third, /Undocumented enum values/)
    assert.notMatch(third, /The service sent new fields or types/)
    assert.deepStrictEqual(await changes(), [...reported(2), patron])
  })

  it("is reported and not loaded: discard, until a rebuild with evolve", slow, async () => {
    contacts = [plain, unusual]
    const discard = '[schema]\npolicy = "discard"\n'
    const said = await sync(`${discard}[schema.resources]\nworkflows = "evolve"`)
    assert.match(said, /The service sent new fields or types.*contacts\.loyaltyTier \(new field\)/)
    assert.deepStrictEqual(await extras(), [])
    assert.strictEqual(await workflows(), '{"novelty":1}')
    assert.deepStrictEqual(await changes(), reported(1))
    await run("rebuild", discard)
    assert.deepStrictEqual(await extras(), [])
    await run("rebuild", "")
    assert.deepStrictEqual(await extras(), all)
    assert.deepStrictEqual(await changes(), reported(1))
  })

  it("makes its resource incomplete: freeze names the setting that accepts it, and loads all else", slow, async () => {
    const frozen = '[schema.resources]\ncontacts = "freeze"\n'
    await sync(frozen)
    contacts = [plain, unusual]
    const said = await sync(frozen, 3)
    const names = ["contact_custom_values.unit", "contacts.dnd", "contacts.loyaltyTier"]
    const places = JSON.stringify(names)
    assert.include(said, `accepted = ${places} under [schema] in the settings file`)
    const sent = "contacts: the schema is frozen, and the service sent new fields or values:"
    assert.include(said, `${sent} ${names.join(", ")}.`)
    const statuses = await rows(
      "SELECT resource, status FROM meta.run_resources WHERE run_id = (SELECT max(run_id) FROM meta.runs) AND resource <> 'locations' ORDER BY ALL"
    )
    assert.deepStrictEqual(statuses, [
      { resource: "contacts", status: "incomplete" },
      { resource: "workflows", status: "complete" }
    ])
    const [ended] = await rows("SELECT status, exit_code FROM meta.runs ORDER BY run_id DESC LIMIT 1")
    assert.deepStrictEqual(ended, { status: "incomplete", exit_code: 3 })
    const before = await rows("SELECT * FROM crm.contacts ORDER BY id")
    assert.deepStrictEqual(
      before.map((row) => [row["id"], row["first_name"]]),
      [
        ["c1", "Ann"],
        ["c2", "Ann"]
      ]
    )
    assert.deepStrictEqual(await extras(), [])
    assert.strictEqual(await workflows(), '{"novelty":1}')
    assert.deepStrictEqual(await changes(), reported(1))
    await run("rebuild", frozen)
    assert.deepStrictEqual(await rows("SELECT * FROM crm.contacts ORDER BY id"), before)
    await run("verify", frozen)

    // A blocked field is reported as long as the service sends it; an accepted one is not.
    await sync(frozen, 3)
    const some = await sync(`[schema]\naccepted = ["contacts.loyaltyTier", "contacts.dnd"]\n${frozen}`, 3)
    assert.include(some, `${sent} contact_custom_values.unit.`)
    const accepted = `[schema]\naccepted = ${places}\n${frozen}`
    await run("rebuild", accepted)
    assert.deepStrictEqual(await extras(), all)
    await sync(accepted)
    // A new value makes one run incomplete, and is stored.
    contacts = [{ ...plain, type: "patron" }, unusual]
    assert.include(await sync(accepted, 3), `${sent} contacts.type = patron.`)
    assert.deepStrictEqual(await rows("SELECT type FROM crm.contacts WHERE id = 'c1'"), [{ type: "patron" }])
    await sync(accepted)
  })
})
