/**
 * Errors that arrive with the status 200, for every operation: they replace, empty, confirm and complete nothing, and the next
 * plain sync reads again. test/catalog/answer.test.ts has every form of them.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Catalogue, discover } from "../../src/catalog/discover.ts"
import { childRequestOf } from "../../src/catalog/resource.ts"
import { type Account, openAlone, openSynced } from "../support/account.ts"
import { acceleratedClock } from "../support/clock.ts"
import { inDatabase, query } from "../support/compare.ts"
import { alteredService } from "../support/proxy.ts"
import { sluice } from "../support/sluice.ts"

/** Requests for the children or the detail of single records, by their labels. */
const singleRequests = ({ resources }: Catalogue) =>
  resources.flatMap((resource) => {
    const request = childRequestOf(resource)
    return request && !request.enabledBy && !resource.enabledBy
      ? [{ label: request.label, path: request.strategy.request.path.replaceAll(/\{\w+\}/g, "*") }]
      : []
  })

describe("errors with the status 200", () => {
  let account: Account
  let catalogue: Catalogue
  const overrides = acceleratedClock()
  const sync = (...flags: ReadonlyArray<string>) => sluice(["sync", ...flags], account.environment, { overrides })
  const faults = (...rules: ReadonlyArray<unknown>) => account.service.post("faults", { rules })
  beforeAll(async () => {
    account = await openSynced({ flags: ["--contacts", "15"] })
    catalogue = await discover()
    const ran = await sync("--full")
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
  afterAll(() => account.service.stop())

  /** A fingerprint of every table. */
  const tables = () =>
    inDatabase(account.warehouse, async (ask) => {
      const found: Record<string, unknown> = {}
      for (const { name } of await ask(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'crm'"
      ))
        found[String(name)] = (
          await ask(`SELECT count(*) AS n, bit_xor(hash(t)) AS content FROM crm."${String(name)}" AS t`)
        )[0]
      return found
    })
  const statuses = async () =>
    new Map(
      (
        await query(
          account.warehouse,
          "SELECT resource, status, requests FROM meta.run_resources WHERE run_id = (SELECT max(run_id) FROM meta.runs)"
        )
      ).map((row) => [String(row["resource"]), row] as const)
    )

  it.each([
    ["success", "message"],
    ["html", "null"]
  ])(
    "%s for every request, %s for single records: nothing changes or is complete, and the next plain sync reads again",
    { tags: ["slow"] },
    async (form, ofSingles) => {
      const before = await tables()
      await faults({ kind: "200", form })
      const ran = await sync("--full")
      await faults()
      // Pages of a gateway in place of every response are an outage.
      assert.strictEqual(ran.code, form === "html" ? 75 : 3, ran.stderr)
      assert.deepStrictEqual(await tables(), before)
      for (const [resource, { status }] of await statuses()) assert.strictEqual(status, "incomplete", resource)

      // Lists are well, and every request for a single record or its children fails.
      const singles = singleRequests(catalogue)
      await faults(...singles.map(({ path }) => ({ kind: "200", form: ofSingles, match: path })))
      const again = await sync("--full")
      await faults()
      assert.strictEqual(again.code, 3, again.stderr)
      assert.deepStrictEqual(await tables(), before)
      const found = await statuses()
      for (const { label } of singles) assert.strictEqual(found.get(label)!["status"], "incomplete", label)

      const healed = await sync()
      assert.strictEqual(healed.code, 0, healed.stderr)
      const complete = await statuses()
      for (const [resource, { status }] of complete) assert.strictEqual(status, "complete", resource)
      for (const { label } of singles) assert.isAbove(Number(complete.get(label)!["requests"]), 0, label)
      assert.deepStrictEqual(await account.differences(), [])
    }
  )
})

it("an empty list beside a message is no notes: the sync is incomplete, and the next one has them", async () => {
  const alone = await openAlone("contacts,contact_notes", "--contacts", "4")
  let isDown = true
  const altered = await alteredService(alone.service, ({ path }, answer) =>
    isDown && path.endsWith("/notes") ? { message: "Upstream timed out", notes: [] } : answer
  )
  try {
    const environment = { ...alone.environment, SLUICE_BASE_URL: altered.url }
    const run = () => sluice(["sync", ...alone.selection], environment, { overrides: acceleratedClock() })
    const first = await run()
    assert.strictEqual(first.code, 3, first.stderr)
    isDown = false
    assert.strictEqual((await run()).code, 0)
    const [row] = await query(alone.warehouse, "SELECT count(*)::INT AS n FROM crm.contact_notes")
    assert.strictEqual(row!["n"], (await alone.service.records("notes")).length)
  } finally {
    altered.close()
    alone.service.stop()
  }
})
