/** Set-up and settings over HTTP: what the page writes, and what it refuses to. */
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type SettingProblem, settingOf } from "../../src/settings/errors.ts"
import { sections } from "../../src/settings/sections.ts"
import { readSettings } from "../../src/settings/read.ts"
import { closeAll, open, program } from "./visitors.ts"

let page: Awaited<ReturnType<typeof open>>
let owner: string
afterAll(closeAll)
beforeAll(async () => {
  page = await open(program)
  owner = await page.enter("owner-password")
})

const isOfUrl = (problem: SettingProblem) => settingOf(problem) === "console.url"

describe("set-up", () => {
  const answers = {
    baseUrl: "https://crm.example.com",
    formats: ["duckdb"],
    locations: [{ id: "north", token: "pit-secret-token" }]
  }
  const post = (pathname: string, body: unknown) =>
    page.send("POST", pathname, { cookie: owner, body: JSON.stringify(body) })
  it("refuses what init would refuse, with the reason", async () => {
    const cases: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, RegExp]> = [
      [{ baseUrl: "crm" }, /http or https address/],
      [{ formats: ["xml"] }, /not a list/],
      [{ locations: [] }, /at least one/],
      [{ locations: [{ id: "a b", token: "x" }] }, /letters and digits/],
      [{ locations: [{ id: "<script>", token: "x" }] }, /letters and digits/],
      [{ locations: [{ id: "north", token: "" }] }, /missing/],
      [{ locations: [{ id: "north", token: "cmd:touch /tmp/x" }] }, /by hand/],
      [
        {
          locations: [
            { id: "n", token: "x" },
            { id: "n", token: "y" }
          ]
        },
        /twice/
      ]
    ]
    for (const [wrong, why] of cases) {
      const { status, text } = await post("/api/setup", { ...answers, ...wrong })
      assert.strictEqual(status, 400, JSON.stringify(wrong))
      assert.match(JSON.parse(text).error.message, why)
    }
    assert.isFalse(existsSync(page.config))
  })
  it("writes the settings with each token in a file of its own, and never shows a token", async () => {
    const locations = [...answers.locations, { id: "south", token: "pit-other-token" }]
    assert.strictEqual((await post("/api/setup", { ...answers, locations })).status, 200)
    const folder = join(page.config, "..")
    assert.deepStrictEqual(readdirSync(folder).toSorted(), ["sluice.toml", "token", "token-south"])
    const content = readFileSync(page.config, "utf8")
    assert.notInclude(content, "pit-")
    assert.strictEqual(readFileSync(join(folder, "token-south"), "utf8"), "pit-other-token\n")
    assert.strictEqual((await post("/api/setup", answers)).status, 409)
    const settings = (await page.send("GET", "/api/settings", { cookie: owner })).text
    assert.notInclude(settings, "pit-")
    assert.includeMembers(
      (JSON.parse(settings).settings as ReadonlyArray<{ shown: string }>).map(({ shown }) => shown),
      ["north", "south"]
    )
    assert.strictEqual(JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text).needsSetup, false)
  })
  it("adds a location, and changes a setting only after its difference was shown", async () => {
    assert.strictEqual((await post("/api/locations", { id: "south", token: "x" })).status, 409)
    assert.strictEqual((await post("/api/locations", { id: "west", token: "env:SLUICE_TOKEN_WEST" })).status, 200)
    const before = readFileSync(page.config, "utf8")
    assert.include(before, '[[locations]]\nid = "west"\ntoken = "env:SLUICE_TOKEN_WEST"\n')
    const changes = { "schedule.times": ["03:30"] }
    const shown = JSON.parse((await post("/api/settings", { changes })).text)
    assert.deepInclude(shown.diff, { kind: "added", text: 'times = ["03:30"]' })
    assert.strictEqual(readFileSync(page.config, "utf8"), before)
    writeFileSync(page.config, `${before}# by hand\n`)
    assert.strictEqual((await post("/api/settings", { changes, apply: true, basis: shown.basis })).status, 409)
    const again = JSON.parse((await post("/api/settings", { changes })).text)
    assert.isTrue(JSON.parse((await post("/api/settings", { changes, apply: true, basis: again.basis })).text).written)
    assert.include(readFileSync(page.config, "utf8"), 'times = ["03:30"]')
    const { schedule } = JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text)
    assert.strictEqual(schedule.next.length, 3)
    // A mistake in the file ends no schedule.
    const right = readFileSync(page.config, "utf8")
    for (const wrong of [right.replace('["03:30"]', '["3:30"]'), `${right}[`]) {
      writeFileSync(page.config, wrong)
      const state = JSON.parse((await page.send("GET", "/api/console", { cookie: owner })).text)
      assert.deepStrictEqual(state.schedule.times, ["03:30"])
    }
    writeFileSync(page.config, right)
  })
  it("says a mistake at its field, in words that name neither the file nor the setting", async () => {
    const problem = `${page.config}:3: schedule.times is ["25:00"]; expected a list of times.`
    const data = JSON.stringify({ problems: [problem, "Another."], settings: ["schedule.times", "account.token"] })
    const wrong = await open(`echo '{"schema":"x","exitCode":78,"data":${data}}'`)
    const cookie = await wrong.enter("owner-password")
    mkdirSync(dirname(wrong.config))
    writeFileSync(wrong.config, "[schedule]\n")
    const body = JSON.stringify({ changes: { "schedule.times": ["25:00"] }, apply: true })
    const { problems, written } = JSON.parse((await wrong.send("POST", "/api/settings", { cookie, body })).text)
    assert.isFalse(written)
    assert.deepStrictEqual(problems, [
      { message: 'is ["25:00"]; expected a list of times.', field: "schedule.times" },
      { message: "Another.", field: "account.token" }
    ])
    for (const url of ["https://crm.example.com/sluice", "https://crm.example.com/?a"])
      assert.isNotEmpty(readSettings({}, { SLUICE_CONSOLE_URL: url }).problems.filter(isOfUrl), url)
    for (const url of ["https://crm.example.com", "https://crm.example.com/", "http://crm:8080"])
      assert.isEmpty(readSettings({}, { SLUICE_CONSOLE_URL: url }).problems.filter(isOfUrl), url)
    // A program that sends mail would take it for an option.
    const isAddress = Schema.is(sections.signals.mail_to.schema)
    assert.deepStrictEqual(["-oQ/tmp@x.de", "ops@x.de"].map(isAddress), [false, true])
  })
  it("adds what of a table is never stored, and a silence, as lists and days", async () => {
    const exclude = { list: "tables", values: { table: "contacts", exclude: "email, phone", only: "" } }
    const silence = { list: "silence", values: { alarm: "freshness", reason: 'It is "closed"', until: "2030-01-31" } }
    for (const add of [exclude, silence])
      assert.isTrue(JSON.parse((await post("/api/settings", { add, apply: true })).text).written)
    const text = readFileSync(page.config, "utf8")
    assert.include(text, '[tables.contacts]\nexclude = ["email", "phone"]\n')
    assert.include(text, '[[silence]]\nalarm = "freshness"\nreason = "It is \\"closed\\""\nuntil = ')
    // What was added here is taken back here, and nothing else.
    for (const remove of [
      { list: "locations", item: "0" },
      { list: "account", item: "token" },
      { list: "silence", item: 0 }
    ]) {
      const { status } = await post("/api/settings", { remove, apply: true })
      assert.strictEqual(status, 400, JSON.stringify(remove))
    }
    const without = JSON.parse(
      (await post("/api/settings", { remove: { list: "silence", item: "0" }, apply: true })).text
    )
    assert.isTrue(without.written)
    assert.strictEqual(readFileSync(page.config, "utf8"), text.slice(0, text.indexOf("\n[[silence]]")))
    const again = JSON.parse((await post("/api/settings", { add: exclude, apply: true })).text)
    assert.deepStrictEqual(again.written, false)
    assert.match(again.problems[0].message, /is in the file already/)
  })
  it("changes nothing that could be a secret, a program or a path of the server", async () => {
    const wrong = [
      { changes: { "account.token": "env:X" } },
      { changes: { "signals.sendmail": "/bin/sh" } },
      { changes: { "signals.webhook_url": "https://example.com/secret" } },
      { changes: { "signals.webhook_url": "cmd:id" } },
      { changes: { "__proto__.x": 1 } },
      { add: { list: "publish", values: { name: "x", postgres: "postgres://u:p@h/d" } } },
      { add: { list: "publish", values: { name: "x", s3_secret: "y" } } },
      { add: { list: "tables", values: { exclude: "email" } } },
      { add: { list: "tables", values: { table: "contacts", hash: "email" } } }
    ]
    const noList = { add: { list: "locations", values: { id: "x" } }, apply: true }
    assert.strictEqual((await post("/api/settings", noList)).status, 400)
    for (const one of wrong) {
      const { diff, problems, written } = JSON.parse((await post("/api/settings", { ...one, apply: true })).text)
      assert.deepStrictEqual(
        { diff, written, count: problems.length },
        { diff: [], written: false, count: 1 },
        JSON.stringify(one)
      )
    }
  })
})
