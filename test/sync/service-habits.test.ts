import { assert, describe, it } from "@effect/vitest"
import { existsSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { coreFlags, openAccount, openCore } from "../support/account.ts"
import { hurriedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

type Habit = [name: string, flags: ReadonlyArray<string>, warning?: RegExp]
/** Flags of the sandbox, and what the run must say about them, if anything. */
const habits: Array<Habit> = [
  [
    "contacts carry no cursor, pages are numbered",
    ["--quirk", "contactPaging=page", "--contacts", "700"],
    /have no searchAfter/
  ],
  [
    "contacts have neither cursor nor pages",
    ["--quirk", "contactPaging=none", "--contacts", "1300"],
    /have no searchAfter/
  ],
  [
    "contacts have neither cursor nor pages, and pages are cut",
    ["--quirk", "contactPaging=none", "--quirk", "pageCut=33", "--contacts", "450"],
    /have no searchAfter/
  ],
  ["date filters want epoch milliseconds", ["--quirk", "contactDateFilter=epoch"]],
  ["date filters are refused", ["--quirk", "contactDateFilter=refused"]],
  ["deals cannot be filtered", ["--quirk", "opportunityFilters=refused"]],
  ["the filter on deals is ignored", ["--quirk", "opportunityFilters=ignored"]],
  ["the export gives 500 at most", ["--quirk", "exportLimitMax=500"]],
  ["messages do not show when they changed", ["--quirk", "messageDateUpdated=false"]],
  ["conversations carry epoch milliseconds", ["--quirk", "conversationDates=epoch"]],
  ["a client of the same account takes part of the budget", ["--limits", "100/1000/200000", "--foreign", "40"]],
  ["the limits are lower than documented", ["--limits", "25/500/10000"]],
  ["the service counts in fixed windows", ["--limits", "100/1000/200000", "--window-kind", "fixed"]],
  ["one request in twenty fails in some way", ["--faults", "0.05"]],
  ["requests are refused for no reason", ["--limits", "100/400/200000", "--faults", "429:0.03"]],
  ["one answer in ten is cut off", ["--faults", "truncate:0.1"]],
  ["one connection in ten dies before the answer", ["--faults", "reset-before:0.05,reset-after:0.05"]]
]

describe("whatever the service's habits, two runs bring every table to what it holds", () => {
  it.each<Habit>(habits)("%s", async (...[, flags, warning]: Habit) => {
    const account = await openCore("--contacts", "120", ...flags)
    try {
      // Where nothing is limited, time passes in back-off alone.
      const run = () =>
        sluice(
          ["sync", ...coreFlags],
          account.environment,
          flags.includes("--faults") && !flags.includes("--limits") ? { overrides: hurriedClock() } : {}
        )
      const first = await run()
      assert.strictEqual(first.code, 0, first.stderr)
      if (warning) assert.match(first.stderr, warning)
      assert.deepStrictEqual(await account.differences(), [])
      await account.service.post("change", { contacts: 0.02, opportunities: 0.02, conversations: 0.02 })
      const second = await run()
      assert.strictEqual(second.code, 0, second.stderr)
      assert.deepStrictEqual(await account.differences(), [])
      assert.strictEqual((await account.service.stats()).refused429, 0)
    } finally {
      account.service.stop()
    }
  })
})

describe("what a service leaves out", () => {
  it("users that cannot be read alone keep what the list shows of them", async () => {
    const account = await openAccount("--contacts", "20", "--quirk", "userReads=missing")
    try {
      for (let run = 0; run < 2; run++) assert.strictEqual((await account.sync("--only", "users")).code, 0)
      for (const table of ["user_permissions", "user_scopes", "user_phones"]) {
        const [row] = await query(account.warehouse, `SELECT count(*) AS n FROM crm.${table}`)
        assert.isAbove(Number(row!["n"]), 0, table)
      }
    } finally {
      account.service.stop()
    }
  })

  it("a new contact without a date of change comes with the next sync", async () => {
    const account = await openAccount("--contacts", "20", "--quirk", "contactDateUpdated=once changed")
    try {
      const only = ["--only", "contacts"]
      assert.strictEqual((await account.sync(...only)).code, 0)
      const { locationId } = account.service
      const created = await account.service.call("POST", "/contacts/", { locationId, firstName: "New" })
      const { contact } = created as { readonly contact: Readonly<Record<string, unknown>> }
      assert.notProperty(contact, "dateUpdated")
      const ran = await account.sync(...only)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const rows = await query(
        account.warehouse,
        "SELECT first_name, date_updated FROM crm.contacts WHERE id = '" + contact["id"] + "'"
      )
      assert.deepStrictEqual(rows, [{ first_name: "New", date_updated: null }])
    } finally {
      account.service.stop()
    }
  })
})

describe("an API that is down", () => {
  it("ends the run for now, publishes nothing, and loses nothing of what is published", async () => {
    const account = await openAccount("--contacts", "20", "--faults", "500:1")
    try {
      const published = { ...account.environment, SLUICE_FORMATS: "csv" }
      const down = await sluice(["sync"], published, { overrides: hurriedClock() })
      assert.strictEqual(down.code, 75, down.stderr)
      assert.isFalse(existsSync(join(account.output, "published")))
      assert.isAtMost((await account.service.stats()).requests, 14)
      await account.service.post("faults", { rules: 0 })
      assert.strictEqual((await sluice(["sync", "--only", "forms,calendars"], published)).code, 0)
      const version = readlinkSync(join(account.output, "published"))
      const unchanged = await sluice(["sync", "--only", "forms,calendars"], published)
      assert.strictEqual(unchanged.code, 0, unchanged.stderr)
      assert.match(unchanged.stderr, /Nothing changed; the published files stay as they are/)
      assert.strictEqual(readlinkSync(join(account.output, "published")), version)
    } finally {
      account.service.stop()
    }
  })
})

describe("pages cut to a length of the service's own", () => {
  it("lose nothing of any table", async () => {
    const account = await openAccount("--quirk", "pageCut=33")
    try {
      const ran = await account.sync()
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await account.differences(), [])
    } finally {
      account.service.stop()
    }
  })
})

describe("a nasty account", () => {
  it("loses nothing: every record with an id is a row, and every other is among the rejects", async () => {
    const account = await openAccount("--world", "nasty")
    try {
      const ran = await account.sync()
      assert.strictEqual(ran.code, 0, ran.stderr)
      const invalidItems = await account.service.records("contacts?strays=1")
      const sent = [...(await account.service.records("contacts")), ...invalidItems]
      const hasId = (record: Readonly<Record<string, unknown>>) =>
        typeof record["id"] === "string" && record["id"] !== ""
      const rows = await query(account.warehouse, "SELECT id FROM crm.contacts")
      assert.deepStrictEqual(
        rows.map(({ id }) => String(id)).sort(),
        [...new Set(sent.filter(hasId).map(({ id }) => String(id)))].sort()
      )
      const rejects = await query(
        account.warehouse,
        "SELECT record FROM meta.rejected_records WHERE table_name = 'contacts'"
      )
      assert.isAbove(rejects.length, 0)
      assert.match(ran.stderr, /contacts: \d+ records have no key; see meta.rejected_records/)
      assert.strictEqual(rejects.length, invalidItems.filter((record) => !hasId(record)).length)
      const unexplained = await query(
        account.warehouse,
        `SELECT table_name, column_name, any_value(value) AS example FROM meta.rejected_values
         WHERE regexp_matches(value, '^"\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z"$') GROUP BY ALL`
      )
      assert.deepStrictEqual(unexplained, [], "well-formed instants are no rejects")
    } finally {
      account.service.stop()
    }
  })
})
