/** The flag `--deadline`: a run stops in time, keeps what it has read, and the next run resumes. */
import { assert, describe, it } from "@effect/vitest"
import { discard, openAccount, openTables } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

describe("a deadline", () => {
  it(
    "stops a sync with 75 once the requests in flight have ended, and the next sync repeats none of them",
    { tags: ["slow"] },
    async () => {
      // 50 virtual seconds are five seconds, in which twelve concurrent requests of 125 ms are at most 480 requests.
      const account = await openTables("contacts,contact_notes", "--contacts", "600", "--latency", "125")
      try {
        const flags = ["sync", ...account.selection, "--deadline", "50s"]
        const stopped = await sluice(flags, account.environment, { overrides: acceleratedClock() })
        assert.strictEqual(stopped.code, 75, stopped.stderr)
        assert.match(
          stopped.stderr,
          /^Stopped at the deadline\.\nNext: \.\/sluice sync; it resumes where it stopped\.$/m
        )
        assert.match(stopped.stderr, /^contact_notes: the deadline has passed$/m)
        const before = (await account.service.stats()).requestsByOperation
        const [run] = await query(
          account.warehouse,
          "SELECT status, exit_code FROM meta.runs ORDER BY run_id DESC LIMIT 1"
        )
        assert.deepStrictEqual(run, { status: "paused", exit_code: 75 })
        const [contacts] = await query(account.warehouse, "SELECT count(*)::INT AS n FROM crm.contacts")
        assert.strictEqual(contacts!["n"], 600)

        const resumed = await sluice(["sync", ...account.selection], account.environment, {
          overrides: acceleratedClock()
        })
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        assert.deepStrictEqual(await account.differences(), [])
        const notes = "GET /contacts/:contactId/notes"
        const after = (await account.service.stats()).requestsByOperation
        assert.isAbove(before[notes]!, 0)
        assert.isBelow(before[notes]!, 600)
        assert.strictEqual(after[notes], 600, "no request was repeated")
      } finally {
        discard(account)
      }
    }
  )

  it("that is over before the first request ends with 75, without a request", async () => {
    const account = await openAccount("--contacts", "10")
    try {
      for (const [command, ...flags] of [["sync"], ["backfill", "--from", "2025-01-01"]]) {
        const ran = await sluice([command!, ...flags, "--deadline", "0s"], account.environment)
        assert.strictEqual(ran.code, 75, ran.stderr)
        assert.include(ran.stderr, `Next: ./sluice ${[command, ...flags].join(" ")}; it resumes where it stopped.`)
      }
      assert.strictEqual((await account.service.stats()).requests, 0)
    } finally {
      discard(account)
    }
  })

  it("that a run keeps does not change it", async () => {
    const account = await openTables("pipelines", "--contacts", "10")
    try {
      const in23Hours = new Date(Date.now() + 23 * 3_600_000)
      const time = `${in23Hours.getHours()}:${String(in23Hours.getMinutes()).padStart(2, "0")}`
      const ran = await account.sync("--deadline", time, "--log-format", "json")
      assert.strictEqual(ran.code, 0, ran.stderr)
      const deadline = /"deadline":"([^"]+)"/.exec(ran.stderr)![1]!
      const expected = new Date(in23Hours).setSeconds(0, 0)
      assert.strictEqual(deadline, new Date(expected).toISOString())
    } finally {
      discard(account)
    }
  })

  it.each(["--deadline", "--wait"])("or a wait that is wrong is refused: %s", async (flag) => {
    for (const text of ["", "10", "5 h", "25:00", "1w", "1.5h"]) {
      const ran = await sluice(["sync", flag, text], {
        SLUICE_OUTPUT: newFolder(),
        SLUICE_BASE_URL: "http://127.0.0.1:1",
        SLUICE_TOKEN: "t",
        SLUICE_LOCATION_ID: "l"
      })
      assert.strictEqual(ran.code, 2, ran.stderr)
      assert.match(ran.stderr, new RegExp(`${flag}.*a duration`))
    }
  })
})
