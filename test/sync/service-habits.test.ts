/** Ways of the service that a whole command has to live with. test/simulation/claims.test.ts has the others. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { openAccount, openAlone } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

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

it("an API that is down ends the run with 75, and publishes nothing", async () => {
  const account = await openAlone("forms", "--contacts", "2", "--faults", "500:1")
  try {
    const environment = { ...account.environment, SLUICE_FORMATS: "csv" }
    const down = await sluice(["sync", ...account.selection], environment, { overrides: acceleratedClock() })
    assert.strictEqual(down.code, 75, down.stderr)
    assert.isFalse(existsSync(join(account.output, "published")))
  } finally {
    account.service.stop()
  }
})
