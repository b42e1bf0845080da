/** A nightly sync reads changes only, and compares the service's totals, so it finds deletions the same night. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, discard, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { Refusal, alteredService } from "../support/proxy.ts"
import { sluice } from "../support/sluice.ts"

describe("after a reading of changes, the service's total", () => {
  let account: Account
  let total = (answered: number): unknown => answered
  let altered: Awaited<ReturnType<typeof alteredService>>
  const pages: Array<number> = []
  beforeAll(async () => {
    account = await openAlone("contacts,opportunities", "--contacts", "30")
    altered = await alteredService(account.service, ({ path, body }, answer) => {
      if (!path.startsWith("/contacts/search")) return answer
      const { filters, pageLimit: size } = JSON.parse(body)
      if (size > 10) pages.push(size)
      if (filters !== undefined) return answer
      const sent = answer as { readonly total: number }
      const changed = total(sent.total)
      if (!(changed instanceof Refusal)) return { ...sent, total: changed }
      return size > 10 ? { ...sent, total: sent.total - 1 } : changed
    })
    const ran = await sync()
    assert.strictEqual(ran.code, 0, ran.stderr)
  })
  afterAll(() => {
    altered.close()
    discard(account)
  })
  const sync = (...flags: ReadonlyArray<string>) =>
    sluice(["sync", ...account.selection, ...flags], { ...account.environment, SLUICE_BASE_URL: altered.url })
  const ids = async (sql: string) => (await query(account.warehouse, sql)).map((row) => String(row["id"]))
  const live = (table: string) => ids(`SELECT id FROM crm.${table} WHERE _deleted_at IS NULL ORDER BY id`)
  const remove = (path: string) => account.service.call("DELETE", path)
  /** Pages of contacts that a sync requests, other than the request for the total. */
  const nightOf = async () => {
    pages.length = 0
    const ran = await sync()
    return { code: ran.code, stderr: ran.stderr, pages: pages.length }
  }

  it("finds deletions of each such list in a plain sync, and a quiet night costs one request for each", async () => {
    await account.service.post("stats/reset", {})
    const quiet = await nightOf()
    const { requestsByOperation } = await account.service.stats()
    assert.strictEqual(requestsByOperation["GET /opportunities/search"], 1)
    const contacts = (await live("contacts")).slice(0, 6)
    const [deal] = await live("opportunities")
    for (const id of contacts) await remove(`/contacts/${id}`)
    await remove(`/opportunities/${deal}`)
    const found = await nightOf()
    assert.strictEqual(found.code, 0, found.stderr)
    assert.deepStrictEqual(await account.differences(), [])
    assert.isAbove(found.pages, quiet.pages)
    assert.isEmpty(contacts.filter((id) => found.stderr.includes(id)))
    assert.strictEqual((await nightOf()).pages, quiet.pages)
  })

  it(
    "that is wrong by a constant is told once, and deletions are found in spite of it",
    { tags: ["slow"] },
    async () => {
      const quiet = await nightOf()
      total = (answered) => answered - 7
      const first = await nightOf()
      assert.strictEqual(first.code, 0, first.stderr)
      assert.match(first.stderr, /the service counts \d+ records, and there are \d+ rows also after a full reading/)
      const second = await nightOf()
      assert.strictEqual(second.pages, quiet.pages)
      assert.notMatch(second.stderr, /the service counts/)
      const [id] = await live("contacts")
      await remove(`/contacts/${id}`)
      await nightOf()
      assert.notInclude(await live("contacts"), id)
    }
  )

  it(
    "that exceeds a full reading by a fifth is believed to be wrong on another day, once, and until it changes",
    { tags: ["slow"], timeout: 120_000 },
    async () => {
      const nextDay = () =>
        query(
          account.warehouse,
          "UPDATE meta.run_resources SET finished_at = finished_at - INTERVAL 1 DAY",
          "READ_WRITE"
        )
      total = (answered) => Math.round(answered * 1.2)
      for (const code of [3, 3]) assert.strictEqual((await sync("--again=lists")).code, code)
      await nextDay()
      const told = await sync("--again=lists")
      assert.strictEqual(told.code, 0, told.stderr)
      assert.match(told.stderr, /the service counts \d+ records, and there are \d+ rows also after a full reading/)
      for (const flags of [[], ["--again=lists"]]) {
        const quiet = await sync(...flags)
        assert.strictEqual(quiet.code, 0, quiet.stderr)
        assert.notMatch(quiet.stderr, /the service counts/)
      }
      total = (answered) => answered * 3
      await nextDay()
      for (const code of [3, 3]) assert.strictEqual((await sync("--again=lists")).code, code)
      await nextDay()
      // Most of what it counts was never returned.
      assert.strictEqual((await sync("--again=lists")).code, 3)
      total = (answered) => answered
      await sync("--again=lists")
    }
  )

  it(
    "that differs each night makes no more than three full readings, and one that fails is told",
    { tags: ["slow"] },
    async () => {
      let night = 0
      total = (answered) => answered - ++night
      const nights = [await nightOf(), await nightOf(), await nightOf(), await nightOf()].map(({ pages }) => pages)
      assert.isBelow(nights[3]!, nights[2]!)
      total = (answered) => answered
      await sync("--again=lists")
      total = () => new Refusal(503, { message: "down" })
      const failed = await nightOf()
      assert.match(failed.stderr, /deleted rows were not looked for/)
      total = () => undefined
      assert.strictEqual((await nightOf()).code, 0)
      total = (answered) => answered
      const status = await sluice(["status", ...account.selection, "--json"], account.environment)
      const { readings } = JSON.parse(status.stdout).data as { readings: ReadonlyArray<Record<string, unknown>> }
      for (const one of readings) assert.isString(one["deletionsSoughtAt"], String(one["resource"]))
    }
  )
})
