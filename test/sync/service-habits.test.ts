import { assert, describe, it } from "@effect/vitest"
import { existsSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { openAccount, openAlone } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

interface Variant {
  readonly name: string
  /** Flags of the sandbox. */
  readonly flags: ReadonlyArray<string>
  /** The tables that it concerns, if not all core tables. */
  readonly tables?: string
  /** A warning that the run must report. */
  readonly warning?: RegExp
}
const contacts = { tables: "contacts" }
const opportunities = { tables: "pipelines,opportunities" }
const messages = { tables: "conversations,messages" }
const noCursor = /have no searchAfter/
const variants: ReadonlyArray<Variant> = [
  {
    name: "contacts have no cursor, and pages are numbered",
    flags: ["--quirk", "contactPaging=page", "--contacts", "700"],
    warning: noCursor,
    ...contacts
  },
  {
    name: "contacts have neither a cursor nor page numbers",
    flags: ["--quirk", "contactPaging=none", "--contacts", "1300"],
    warning: noCursor,
    ...contacts
  },
  {
    name: "contacts have neither a cursor nor page numbers, and pages are shorter than requested",
    flags: ["--quirk", "contactPaging=none", "--quirk", "pageCut=33", "--contacts", "450"],
    warning: noCursor,
    ...contacts
  },
  { name: "date filters need epoch milliseconds", flags: ["--quirk", "contactDateFilter=epoch"], ...contacts },
  { name: "date filters are refused", flags: ["--quirk", "contactDateFilter=refused"], ...contacts },
  {
    name: "filters on opportunities are refused",
    flags: ["--quirk", "opportunityFilters=refused"],
    ...opportunities
  },
  {
    name: "filters on opportunities are ignored",
    flags: ["--quirk", "opportunityFilters=ignored"],
    ...opportunities
  },
  { name: "a page of the export has at most 500 messages", flags: ["--quirk", "exportLimitMax=500"], ...messages },
  { name: "messages have no date of change", flags: ["--quirk", "messageDateUpdated=false"], ...messages },
  {
    name: "conversations have dates in epoch milliseconds",
    flags: ["--quirk", "conversationDates=epoch"],
    ...messages
  },
  {
    name: "another client of the account uses part of the rate limit",
    flags: ["--limits", "100/1000/200000", "--foreign", "40"]
  },
  { name: "the limits are lower than documented", flags: ["--limits", "25/500/10000"] },
  {
    name: "the rate limit counts in fixed windows",
    flags: ["--limits", "100/1000/200000", "--window-kind", "fixed"]
  },
  { name: "one request in twenty fails", flags: ["--faults", "0.05"] },
  {
    name: "some requests are refused with 429 below the rate limit",
    flags: ["--limits", "100/400/200000", "--faults", "429:0.03"]
  },
  { name: "one response in ten is truncated", flags: ["--faults", "truncate:0.1"] },
  { name: "one connection in ten is reset", flags: ["--faults", "reset-before:0.05,reset-after:0.05"] }
]

describe("a first and a second sync make the tables equal to the service even if", () => {
  it.each(variants)("$name", { tags: ["slow"] }, async ({ flags, tables, warning }) => {
    const account = await openAlone(tables, "--contacts", tables ? "120" : "40", ...flags)
    try {
      // Without a rate limit, only back-off and repeated readings wait.
      const options = flags.includes("--limits") ? {} : { overrides: acceleratedClock(600_000) }
      const run = () => sluice(["sync", ...account.selection], account.environment, options)
      const first = await run()
      assert.strictEqual(first.code, 0, first.stderr)
      if (warning) assert.match(first.stderr, warning)
      assert.deepStrictEqual(await account.differences(), [])
      await account.service.post("change", { contacts: 0.02, opportunities: 0.02, conversations: 0.02 })
      const second = await run()
      assert.strictEqual(second.code, 0, second.stderr)
      assert.deepStrictEqual(await account.differences(), [])
      // Requests of another client are known from the next response only.
      assert.isAtMost((await account.service.stats()).refused429, flags.includes("--foreign") ? 2 : 0)
    } finally {
      account.service.stop()
    }
  })
})

describe("responses without some records or fields", () => {
  it(
    "users whose detail does not exist keep the rows of the list, and their details are incomplete",
    { tags: ["slow"] },
    async () => {
      const account = await openAccount("--contacts", "20", "--quirk", "userReads=missing")
      try {
        for (let run = 0; run < 2; run++) {
          const ran = await account.sync("--only", "users")
          assert.strictEqual(ran.code, 3)
          assert.match(ran.stderr, /users\/details: failed requests: \d+, .* not found/)
        }
        const deleted = await query(account.warehouse, "SELECT id FROM crm.users WHERE _deleted_at IS NOT NULL")
        assert.deepStrictEqual(deleted, [])
        for (const table of ["user_permissions", "user_scopes", "user_phones"]) {
          const [row] = await query(account.warehouse, `SELECT count(*) AS n FROM crm.${table}`)
          assert.isAbove(Number(row!["n"]), 0, table)
        }
      } finally {
        account.service.stop()
      }
    }
  )

  it("the next sync reads a new contact without a date of change", async () => {
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
  it(
    "ends the run with 75 and publishes nothing; later runs publish, and keep the release if nothing has changed",
    { tags: ["slow"] },
    async () => {
      const account = await openAccount("--contacts", "20", "--faults", "500:1")
      try {
        const published = { ...account.environment, SLUICE_FORMATS: "csv" }
        const down = await sluice(["sync"], published, { overrides: acceleratedClock() })
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
    }
  )
})

describe("pages that are shorter than requested", () => {
  it("leave every table equal to the service", { tags: ["slow"] }, async () => {
    const account = await openAccount("--contacts", "60", "--quirk", "pageCut=33")
    try {
      const ran = await account.sync()
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(await account.differences(), [])
    } finally {
      account.service.stop()
    }
  })
})

describe("an account with invalid records", () => {
  it("every contact with an id is a row, and every other is a rejected record", { tags: ["slow"] }, async () => {
    const account = await openAccount("--contacts", "60", "--world", "nasty")
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
      assert.match(ran.stderr, /contacts.*: \d+ records have no key; see meta.rejected_records/)
      assert.strictEqual(rejects.length, invalidItems.filter((record) => !hasId(record)).length)
      const unexplained = await query(
        account.warehouse,
        `SELECT table_name, column_name, any_value(value) AS example FROM meta.rejected_values
         WHERE regexp_matches(value, '^"\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z"$') GROUP BY ALL`
      )
      assert.deepStrictEqual(unexplained, [], "well-formed instants are not rejected")
    } finally {
      account.service.stop()
    }
  })
})
