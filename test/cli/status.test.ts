/** What `status` says, compared with what is true of the output. */
import { assert, describe, it } from "@effect/vitest"
import { type Account, discard, openAlone, openTables } from "../support/account.ts"
import { acceleratedFrom } from "../support/clock.ts"
import { acceleratedClock } from "../support/clock.ts"
import { newFolder, sluice } from "../support/sluice.ts"

interface Reading {
  readonly location: string
  readonly resource: string
  readonly state: string
  readonly completeAt?: string
  readonly isStale: boolean
  readonly warnings: ReadonlyArray<string>
}

const statusOf = async ({ environment }: Account, ...flags: ReadonlyArray<string>) => {
  const ran = await sluice(["status", "--json", ...flags], environment)
  const { data, exitCode, next } = JSON.parse(ran.stdout)
  assert.strictEqual(ran.code, exitCode)
  const { readings, problems } = data as { readonly readings: ReadonlyArray<Reading>; readonly problems: number }
  const states = Object.fromEntries(readings.map(({ resource, state }) => [resource, state]))
  return { code: ran.code, readings, states, problems, next, data }
}
const tables = "contacts,contact_notes,calendars,appointments,form_submissions,forms"
const open = (...flags: ReadonlyArray<string>) => openTables(tables, "--contacts", "30", ...flags)

describe("status", () => {
  it("lists what was never read as a problem, and --only narrows the check", { tags: ["slow"] }, async () => {
    const account = await open()
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const all = await statusOf(account, "--check")
      assert.strictEqual(all.code, 3)
      assert.strictEqual(all.states["invoices"], "never")
      assert.strictEqual(all.states["contacts"], "complete")
      assert.isUndefined(all.readings.find(({ resource }) => resource === "invoices")!.completeAt)
      const narrow = await statusOf(account, "--check", ...account.selection)
      assert.strictEqual(narrow.code, 0)
      assert.strictEqual(narrow.problems, 0)
      assert.strictEqual((await statusOf(account)).code, 0, "without --check, the answer itself is the result")
      const shown = await sluice(["status", ...account.selection], account.environment)
      assert.match(shown.stdout, /^All \d+ resources are complete; the oldest, \w+(\/\w+)?, was read \d+ s ago\.$/m)
      const trouble = await sluice(["status"], account.environment)
      assert.match(trouble.stdout, /^\d+ resources \(--all names them\) +never read +never$/m)
      assert.notMatch(trouble.stdout, /^contacts |^invoices /m)
      assert.match((await sluice(["status", "--all"], account.environment)).stdout, /^invoices +never read +never$/m)
    } finally {
      discard(account)
    }
  })

  it("reports a reading as stale once it is older than --max-age, and not before", async () => {
    const account = await open()
    try {
      assert.strictEqual((await account.sync()).code, 0)
      assert.strictEqual((await statusOf(account, "--max-age", "1h", ...account.selection)).code, 0)
      const stale = await statusOf(account, "--max-age", "0s", ...account.selection)
      assert.strictEqual(stale.code, 3)
      assert.isTrue(stale.readings.every(({ isStale }) => isStale))
      // One cause of everything is one line: the answer to the only request.
      account.service.stop()
      const down = await sluice(["sync"], account.environment, {
        overrides: acceleratedFrom(Date.now())
      })
      assert.strictEqual(down.code, 75, down.stderr)
      const [, notRequested] = /^and (\d+) resources not requested$/m.exec(down.stdout) ?? []
      assert.isAbove(Number(notRequested), 80, down.stdout)
      const { stdout } = await sluice(["status", ...account.selection], account.environment)
      assert.isBelow(stdout.split("\n").filter((line) => line.includes("incomplete  ")).length, 4, stdout)
      const all = await sluice(["status", "--all", ...account.selection], account.environment)
      assert.isAbove(all.stdout.split("\n").filter((line) => line.includes("incomplete  ")).length, 5, all.stdout)
    } finally {
      discard(account)
    }
  })

  it(
    "shows the age of what was not due, and takes children of unchanged parents for current",
    { tags: ["slow"] },
    async () => {
      const account = await open()
      try {
        const hour = 3_600_000
        const earlier = acceleratedClock(9 * hour)
        const first = await sluice(["sync", ...account.selection], account.environment, { overrides: earlier })
        assert.strictEqual(first.code, 0, first.stderr)
        const requests = async () => (await account.service.stats()).requestsByOperation
        const before = await requests()
        assert.strictEqual((await account.sync()).code, 0)
        const after = await requests()
        const appointments = "GET /calendars/events"
        assert.isAbove(before[appointments]!, 0)
        assert.strictEqual(after[appointments], before[appointments], "they are read once in 10 to 20 hours")
        const { code, readings } = await statusOf(account, "--max-age", "1h", ...account.selection)
        assert.strictEqual(code, 3)
        const stale = readings.filter(({ isStale }) => isStale).map(({ resource }) => resource)
        assert.deepStrictEqual(stale, ["appointments"])
        const ageOf = (resource: string) =>
          (Date.now() - Date.parse(readings.find((one) => one.resource === resource)!.completeAt!)) / hour
        for (const resource of ["appointments", "contact_notes"]) assert.closeTo(ageOf(resource), 9, 0.2, resource)
        assert.isBelow(ageOf("contacts"), 0.2)
        assert.strictEqual((await statusOf(account, "--max-age", "10h", ...account.selection)).code, 0)
        const alarms = await sluice(["check"], account.environment)
        assert.strictEqual(alarms.code, 0, alarms.stdout)
        // A rebuild knows the same.
        assert.strictEqual((await sluice(["rebuild"], account.environment)).code, 0)
        const rebuilt = await statusOf(account, "--max-age", "1h", ...account.selection)
        assert.deepStrictEqual(
          rebuilt.readings.map(({ completeAt, isStale, resource }) => [resource, completeAt, isStale]),
          readings.map(({ completeAt, isStale, resource }) => [resource, completeAt, isStale])
        )
      } finally {
        discard(account)
      }
    }
  )

  it(
    "names the reason why a list and its children are incomplete, and keeps doing so after another sync",
    { tags: ["slow"] },
    async () => {
      const account = await open()
      try {
        await account.service.post("token", { removeScope: "calendars.readonly" })
        const ran = await account.sync()
        assert.strictEqual(ran.code, 3)
        assert.match(ran.stderr, /^Next: \.\/sluice doctor/m)
        for (let run = 0; run < 2; run++) {
          const { code, states, readings } = await statusOf(account, "--check", ...account.selection)
          assert.strictEqual(code, 3)
          assert.strictEqual(states["calendars"], "incomplete")
          assert.strictEqual(states["appointments"], "incomplete")
          assert.strictEqual(states["contacts"], "complete")
          assert.match(readings.find(({ resource }) => resource === "calendars")!.warnings.join(), /scope/)
          assert.strictEqual((await sluice(["sync", "--only", "contacts"], account.environment)).code, 0)
        }
      } finally {
        discard(account)
      }
    }
  )

  it(
    "lists the readings of a stopped run as interrupted or never read, until a sync completes them",
    { tags: ["slow"] },
    async () => {
      const account = await openTables(tables, "--contacts", "120", "--latency", "60")
      try {
        const stopped = new AbortController()
        const running = sluice(["sync", ...account.selection], account.environment, { signal: stopped.signal })
        await account.service.requested(60)
        stopped.abort(130)
        assert.strictEqual((await running).code, 130)
        const { code, states, data } = await statusOf(account, "--check", ...account.selection)
        assert.strictEqual(code, 3)
        assert.include(["interrupted", "never"], states["contact_notes"])
        assert.strictEqual(data.lastRun.status, "interrupted")
        // What had been read to its end when the run was stopped is complete, and nothing else is.
        assert.include(Object.values(states), "complete")
        for (const { completeAt, state } of data.readings)
          assert.strictEqual(state === "complete", completeAt !== undefined, JSON.stringify(data.readings))
        assert.strictEqual((await account.sync()).code, 0)
        assert.strictEqual((await statusOf(account, "--check", ...account.selection)).problems, 0)
      } finally {
        discard(account)
      }
    }
  )

  it(
    "reports nothing as complete after an outage, and everything as problems when the budget ended a first sync",
    { tags: ["slow"] },
    async () => {
      const down = await open("--faults", "500:1")
      const spent = await openTables(tables, "--contacts", "60", "--limits", "100/1000/1030")
      try {
        const failed = await sluice(["sync", ...down.selection], down.environment, { overrides: acceleratedClock() })
        assert.strictEqual(failed.code, 75)
        const outage = await statusOf(down, "--check", ...down.selection)
        assert.strictEqual(outage.code, 3)
        assert.isFalse(outage.readings.some(({ state }) => state.startsWith("complete")))
        assert.strictEqual((await spent.sync()).code, 75)
        const { code, states, data } = await statusOf(spent, "--check", ...spent.selection)
        assert.strictEqual(code, 3)
        assert.strictEqual(data.lastRun.status, "paused")
        assert.notStrictEqual(states["contact_notes"], "complete")
      } finally {
        discard(down, spent)
      }
    }
  )

  it(
    "counts as many readings as sync and check, also of what is embedded in another list",
    { tags: ["slow"] },
    async () => {
      const account = await openAlone("email_templates,email_template_folders")
      try {
        const { data } = JSON.parse((await sluice(["sync", "--json"], account.environment)).stdout)
        const read = data.resources.map(({ resource }: Reading) => resource).toSorted()
        const { readings } = await statusOf(account)
        assert.deepStrictEqual(readings.map(({ resource }) => resource).toSorted(), read)
        assert.include(read, "email_template_folders")
        const { stdout } = await sluice(["check"], account.environment)
        assert.include(stdout, `the age of ${read.length} resources`)
      } finally {
        discard(account)
      }
    }
  )

  it("lists a location that was never read beside one that is complete", async () => {
    const account = await open()
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const environment = { ...account.environment, SLUICE_LOCATION_ID: `${account.service.locationId},another` }
      const { readings } = await statusOf({ ...account, environment }, ...account.selection)
      const statesOf = (location: string) =>
        new Set(readings.filter((one) => one.location === location).map(({ state }) => state))
      assert.deepStrictEqual([...statesOf(account.service.locationId)], ["complete"])
      assert.deepStrictEqual([...statesOf("another")], ["never"])
      const { stdout } = await sluice(["status", ...account.selection], environment)
      assert.match(stdout, /^another +\d+ resources \(--all names them\) +never read/m)
      assert.match(stdout, /^another +0 +\d+ +never$/m)
    } finally {
      discard(account)
    }
  })

  it("fails if nothing was synced into the folder", async () => {
    const { code, stderr } = await sluice(["status"], { SLUICE_OUTPUT: newFolder() })
    assert.strictEqual(code, 1)
    assert.match(stderr, /^Next: \.\/sluice sync$/m)
  })
})
