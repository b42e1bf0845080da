/** The report of accounts that are empty, not complete, or not published. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { discard, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"
import { rowsOf, textOf } from "./reading.ts"

describe("the report", () => {
  it(
    "of an account without records has the name of its location, and a sentence for each topic",
    { tags: ["slow"] },
    async () => {
      const account = await openTables(
        "locations,contacts,opportunities,appointments,calendars,transactions,subscriptions,messages,conversations",
        "--contacts",
        "0"
      )
      try {
        const environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
        assert.strictEqual((await sluice(["sync", ...account.selection], environment)).code, 0)
        const html = readFileSync(join(account.output, "published/report/index.html"), "utf8")
        const [location] = await query(account.warehouse, "SELECT name FROM crm.locations")
        assert.include(html, `<h1>${String(location!["name"]).replace("&", "&#38;")}</h1>`)
        const text = textOf(html)
        assert.include(text, "no opportunities won ; no payments received ; no new contacts ; no appointments booked .")
        assert.include(text, "No opportunity is open.")
        assert.notMatch(html, /NaN|undefined|Infinity/)
      } finally {
        discard(account)
      }
    }
  )

  it("begins with what is incomplete, and why", async () => {
    const account = await openTables("table:calendars,appointments", "--contacts", "20")
    try {
      await account.service.post("token", { removeScope: "calendars.readonly" })
      assert.strictEqual((await account.sync()).code, 3)
      const path = join(account.output, "r.html")
      assert.strictEqual((await sluice(["report", "--to", path], account.environment)).code, 0)
      const html = readFileSync(path, "utf8")
      const text = textOf(html)
      const [top = ""] = text.split("What changed")
      assert.match(top, /Incomplete 0 of 2 resources are complete\./)
      assert.match(
        top,
        /calendars: refused by the service, which answers other requests: the service answered 40[13]; therefore also appointments\. Next: \.\/sluice doctor/
      )
      assert.deepStrictEqual(rowsOf(html, "readings")[0]!.slice(0, 2), ["appointments", "incomplete"])
      assert.include(text, "There is no published DuckDB file")
    } finally {
      discard(account)
    }
  })

  it("needs a run, and a release or a file to write to", async () => {
    const account = await openTables("contacts", "--contacts", "3")
    try {
      const missing = await sluice(["report"], account.environment)
      assert.strictEqual(missing.code, 1)
      assert.match(missing.stderr, /^Next: \.\/sluice sync/m)
      assert.strictEqual((await account.sync()).code, 0)
      const unpublished = await sluice(["report"], account.environment)
      assert.strictEqual(unpublished.code, 1)
      assert.match(unpublished.stderr, /^Next: \.\/sluice report --to report\.html/m)
      const path = join(account.output, "r.html")
      assert.strictEqual((await sluice(["report", "--to", path], account.environment)).code, 0)
      const html = readFileSync(path, "utf8")
      assert.include(textOf(html), "This is the first run: it read everything, so every row is new.")
      assert.include(textOf(html), "There is no published DuckDB file, so there is nothing to show here.")
    } finally {
      discard(account)
    }
  })
})
