/** Holds and retention periods. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

describe("a hold", () => {
  let account: Account
  let contact: string
  const run = (...args: ReadonlyArray<string>) => sluice(args, account.environment)
  const erase = (...args: ReadonlyArray<string>) => run("subject", "erase", "--contact", contact, ...args)
  const idsOf = async (table: string) =>
    (await query(account.warehouse, `SELECT id FROM crm.${table} ORDER BY id`)).map(({ id }) => String(id))
  const settings = (text: string) => {
    const path = join(account.output, "settings.toml")
    writeFileSync(path, text)
    return ["--config", path]
  }
  beforeAll(async () => {
    account = await openPeople("contacts,contact_notes,conversations,messages,location_timezones", "--contacts", "30")
    assert.strictEqual((await account.sync()).code, 0)
    const [row] = await query(
      account.warehouse,
      "SELECT contact_id AS id FROM crm.messages WHERE contact_id IS NOT NULL GROUP BY ALL ORDER BY min(date_added), id LIMIT 1"
    )
    contact = String(row!["id"])
  })
  afterAll(() => discard(account))

  it("on a contact or a table refuses an erasure, which begins once it is released", { tags: ["slow"] }, async () => {
    for (const scope of [
      ["--contact", contact],
      ["--table", "messages"],
      ["--table", "*"]
    ]) {
      const added = await run("hold", "add", "case-1", ...scope, "--reason", "court order", "--by", "counsel")
      assert.strictEqual(added.code, 0, added.stderr)
      for (const flags of [[], ["--apply", "--reason", "a request"]]) {
        const { code, stderr } = await erase(...flags)
        assert.strictEqual(code, 1)
        assert.match(stderr, /The hold case-1 \(court order, by counsel, 20.*\) covers what would be erased/)
      }
      assert.include(await idsOf("contacts"), contact)
      assert.strictEqual((await run("hold", "release", "case-1")).code, 0)
    }
    assert.strictEqual((await erase()).code, 0)
  })

  it("is listed with its reason, and refused without one, twice, or for a table that does not exist", async () => {
    assert.strictEqual((await run("hold", "add", "h", "--contact", "x", "--reason", "audit", "--by", "me")).code, 0)
    assert.match((await run("hold", "list")).stdout, /^h +20\S+ +me +x +audit$/m)
    const wrong = [
      [["add", "h", "--contact", "x", "--reason", "audit"], /There is a hold h already/],
      [["add", "i", "--contact", "x"], /needs a --reason/],
      [["add", "i", "--reason", "audit"], /needs a --contact or a --table/],
      [["add", "i", "--table", "mesages", "--reason", "audit"], /did you mean messages\?/],
      [["release", "j"], /There is no hold j/]
    ] as const
    for (const [args, message] of wrong) {
      const { code, stderr } = await run("hold", ...args)
      assert.isAbove(code!, 0)
      assert.match(stderr, message)
    }
    assert.strictEqual((await run("hold", "release", "h")).code, 0)
  })

  it("that cannot be read stops an erasure", async () => {
    const path = join(account.output, "holds.json")
    const before = readFileSync(path)
    writeFileSync(path, "{")
    assert.strictEqual((await erase("--apply", "--reason", "a request")).code, 1)
    writeFileSync(path, before)
    assert.include(await idsOf("contacts"), contact)
  })

  it("comes before a retention period, which erases older records for good", { tags: ["slow"] }, async () => {
    const times = await query(
      account.warehouse,
      "SELECT id, contact_id, date_added < now() - INTERVAL 1 YEAR AS old FROM crm.messages"
    )
    const old = times.filter(({ old }) => old === true)
    assert.isAbove(old.length, 5)
    assert.isBelow(old.length, times.length)
    const flags = settings('[retention]\nperiods = { messages = "1 years" }\n')
    const plan = await run("retention", ...flags)
    assert.match(plan.stdout, new RegExp(`^messages +${old.length}$`, "m"), plan.stderr)
    assert.lengthOf(await idsOf("messages"), times.length)
    assert.strictEqual((await run("hold", "add", "h", "--contact", contact, "--reason", "audit")).code, 0)
    const applied = await run("retention", "--apply", ...flags)
    assert.strictEqual(applied.code, 0, applied.stderr)
    const kept = times
      .filter((row) => row["old"] !== true || row["contact_id"] === contact)
      .map(({ id }) => String(id))
      .toSorted()
    assert.isAbove(kept.length, times.length - old.length)
    assert.deepStrictEqual(await idsOf("messages"), kept)
    assert.strictEqual((await account.sync("--again=all")).code, 0)
    assert.deepStrictEqual(await idsOf("messages"), kept)
    assert.strictEqual((await run("rebuild")).code, 0)
    assert.deepStrictEqual(await idsOf("messages"), kept)
  })

  it.each([
    ['[retention]\nperiods = { messages = "soon" }\n', 78, /retention\.periods/],
    ['[retention]\nperiods = { mesages = "1 years" }\n', 2, /retention\.mesages: there is no such list of records/],
    ['[retention]\nperiods = { location_timezones = "1 years" }\n', 2, /no time at which they were made/],
    // A time in the call is no age.
    ['[retention]\nperiods = { transcript_sentences = "1 years" }\n', 2, /no time at which they were made/],
    ["", 2, /No table has a retention period/]
  ])("is not mistaken for a period that is wrong: %s", async (text, code, message) => {
    const ran = await run("retention", ...settings(text))
    assert.strictEqual(ran.code, code, ran.stderr)
    assert.match(ran.stderr, message)
  })
})
