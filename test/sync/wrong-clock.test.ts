/** The clock of the machine is wrong for a night: it is told, and the service dates what the night has read. */
import { assert, it } from "@effect/vitest"
import { openAlone } from "../support/account.ts"
import { wrongClock } from "../support/clock.ts"
import { begin } from "../support/life.ts"

const day = 86_400_000

it.each([
  ["ahead of", 2 * day, "48 h"],
  ["behind", -2 * day, "48 h"],
  ["behind", -600_000, "10 min"]
])(
  "a clock that is %s the service's by %s ms is told, and dates nothing",
  { tags: ["slow"] },
  async (where, ms, by) => {
    const life = await begin(openAlone("locations,users,contacts,contact_notes", "--contacts", "8"))
    const isNow = (name: string) => `abs(epoch(${name}) - ${Date.now() / 1000}) < 200`
    await life.sync()
    const [contact] = await life.ids("SELECT id FROM crm.contacts WHERE _deleted_at IS NULL ORDER BY id")
    const requestsOf = async () => Number((await life.service.stats()).requests)
    const before = await requestsOf()
    await life.sync("--again=all")
    const usual = (await requestsOf()) - before

    life.clock = wrongClock(ms)
    await life.edit("contacts", contact, { firstName: "Ada" })
    const sent = await requestsOf()
    const { stderr } = await life.sync("--again=all")
    assert.include(stderr.replaceAll(/\s+/g, " "), `the clock of this machine was ${by} ${where} the service's`)
    // All is read again, and a few answers more are asked for.
    assert.isAtLeast((await requestsOf()) - sent, usual)
    assert.isAtMost((await requestsOf()) - sent, usual + 5)
    const [run] = await life.ask("FROM meta.runs ORDER BY run_id DESC LIMIT 1")
    assert.closeTo(Number(run!["clock_ahead_ms"]), ms, 2000)
    assert.strictEqual(run!["status"], "complete_with_warnings")
    const wrong = await life.ask(
      `SELECT run_id FROM meta.runs WHERE NOT (${isNow("started_at")} AND ${isNow("finished_at")}) UNION ALL
     SELECT id FROM crm.contacts WHERE NOT ${isNow("_synced_at")} UNION ALL
     SELECT id FROM crm_history.contacts WHERE NOT (${isNow("_valid_from")} AND ${isNow("_valid_to")} AND _valid_to > _valid_from) UNION ALL
     SELECT resource FROM meta.watermarks WHERE NOT ${isNow("complete_at")}`
    )
    assert.deepStrictEqual(wrong, [])
    assert.include((await life.run(["status"])).stdout, "clock")
    const { code, stdout } = await life.run(["check"])
    assert.notStrictEqual(code, 0)
    assert.match(stdout, /warning\s+clock/)

    life.clock = undefined
    assert.notInclude((await life.sync()).stderr, "clock")
    assert.strictEqual((await life.run(["check"])).code, 0)
    await life.equalsService()
  }
)

it(
  "a wrong clock is told by a sync that does not read the location, too, and no version ends before it begins",
  { tags: ["slow"] },
  async () => {
    const life = await begin(openAlone("locations,contacts", "--contacts", "8"))
    const only = "--only contacts"
    const [contact] = (await life.service.records("contacts")).map(({ id }) => String(id))
    for (const [night, ms] of [0, 2 * day, 0].entries()) {
      life.clock = ms === 0 ? undefined : wrongClock(ms)
      await life.edit("contacts", contact, { firstName: `Ada ${night}` })
      const { stderr } = await life.sync(only)
      assert.strictEqual(stderr.includes("the clock of this machine was"), ms !== 0, stderr)
    }
    const told = await life.ask("SELECT clock_ahead_ms IS NOT NULL AS told FROM meta.runs ORDER BY run_id")
    assert.deepStrictEqual(told, [{ told: false }, { told: true }, { told: false }])
    assert.lengthOf(await life.ask("FROM crm_history.contacts"), 2)
    assert.deepStrictEqual(await life.ask("FROM crm_history.contacts WHERE _valid_to <= _valid_from"), [])
    assert.deepStrictEqual(await life.deleted("contacts"), [])
  }
)

it("a first sync under a clock that is two days ahead is told, and dated by the service", async () => {
  const life = await begin(openAlone("locations", "--contacts", "1"))
  life.clock = wrongClock(2 * day)
  const { stderr } = await life.sync()
  assert.include(stderr.replaceAll(/\s+/g, " "), "the clock of this machine was 48 h ahead of the service's")
  const [run] = await life.ask("FROM meta.runs")
  assert.closeTo(Number(run!["clock_ahead_ms"]), 2 * day, 2000)
  assert.closeTo(Date.parse(String(run!["started_at"])), Date.now(), 200_000)
})
