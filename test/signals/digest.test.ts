/** The message of each morning, also when all is well. */
import { assert, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { digestOf, isDigestDue } from "../../src/features/operations/signals/digest.ts"
import { discard, openAlone } from "../support/account.ts"
import { acceleratedFrom } from "../support/clock.ts"
import { startReceiver } from "../support/receiver.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const hour = 3_600_000
const day = 24 * hour

it("is due once a day or a week, and when the clock was ahead", () => {
  const due = (digest: "daily" | "weekly" | undefined, since: number | undefined) =>
    isDigestDue({ digest }, since === undefined ? {} : { digestAt: 100 * day - since }, {
      now: 100 * day,
      isAtEndOfSync: true
    })
  assert.isTrue(due("daily", undefined))
  assert.isFalse(due("daily", 6 * hour))
  assert.isTrue(due("daily", 23 * hour))
  assert.isFalse(due("weekly", 6 * day))
  assert.isTrue(due("weekly", 7 * day - hour))
  assert.isTrue(due("daily", -day))
  assert.isFalse(due(undefined, undefined))
})

it("is due by a check only if one was due before and was not accepted", () => {
  const check = { now: 100 * day, isAtEndOfSync: false }
  assert.isFalse(isDigestDue({ digest: "daily" }, {}, check))
  assert.isTrue(isDigestDue({ digest: "daily" }, { digestDue: 99 * day }, check))
  assert.isFalse(isDigestDue({ digest: undefined }, { digestDue: 99 * day }, check))
})

it("says what the release has, and claims nothing without tables", () => {
  const parts = { output: "o", runsAt: undefined, tables: "117 tables, 4,091 rows" }
  const { text } = digestOf({ alarms: [], now: 0, saying: "Nothing was read yet." }, undefined, parts)
  assert.strictEqual(
    text,
    "sluice: nothing was read yet (o)\nNothing was read yet.\nThe release has 117 tables, 4,091 rows."
  )
})

it(
  "says what was read, what stands, and when the next run is; and never that all is well after a failure",
  { tags: ["slow"] },
  async () => {
    const account = await openAlone("contacts,users", "--contacts", "20")
    const receiver = await startReceiver()
    onTestFinished(() => {
      receiver.stop()
      discard(account)
    })
    const settings = join(newFolder(), "sluice.toml")
    writeFileSync(
      settings,
      '[signals]\nwebhook_url = "env:HOOK"\ndigest = "daily"\n[schedule]\ntimes = ["03:30"]\ntime_zone = "Europe/Berlin"\n'
    )
    let passed = 0
    /** `later`: milliseconds after the first run, on this machine and at the service. */
    const run = async (command: string, later: number) => {
      await account.service.post("clock", { advanceMs: later - passed })
      passed = later
      const environment = { ...account.environment, HOOK: `${receiver.url}/hook` }
      await sluice([command, "--config", settings], environment, { overrides: acceleratedFrom(at + later) })
      return receiver.received.splice(0).map(({ body }) => JSON.parse(String(body)))
    }
    const at = Date.now()
    const [first, ...others] = await run("sync", 0)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(first, { schema: "sluice/alarms/1", state: "digest", level: "ok", title: "sluice: all is well" })
    assert.match(first.text, /\nLast sync: complete, \d+ requests?; \d+ new, 0 changed and 0 deleted rows\.\n/)
    assert.match(first.text, /\nThe next run is at 03:30 \(Europe\/Berlin\)\.$/)

    // Twice in a day, and by a check, it says nothing.
    assert.deepStrictEqual(await run("sync", 3 * hour), [])
    assert.deepStrictEqual(await run("check", 23 * hour), [])

    await account.service.post("token", { revoke: true })
    const failed = await run("sync", day)
    assert.deepStrictEqual(
      failed.map(({ state }) => state),
      ["alarm", "digest"]
    )
    assert.include(failed[1].title, "1 alarm")
    assert.strictEqual(failed[1].level, "error")
  }
)
