/** What was rejected stands in every night until the service mends it: unchanged rejects are in no later reading. */
import { assert, describe, it } from "@effect/vitest"
import { openAlone } from "../support/account.ts"
import { type Life, begin, beginForAll } from "../support/life.ts"

const standsIn = async ({ run }: Life) => {
  const { data } = JSON.parse((await run(["status", "--json"])).stdout)
  const standing: ReadonlyArray<{ readonly rejected: number; readonly resource: string }> = data.standingRejects ?? []
  return standing.map(({ rejected, resource }) => `${resource} ${rejected}`)
}
const born = (life: Life, id: unknown, dateOfBirth: string | null) => life.edit("contacts", id, { dateOfBirth })

it("a rejected value stands in a night in which its record is not read, and ends with its correction", async () => {
  const life = await begin(openAlone("contacts", "--contacts", "3"))
  const [contact] = await life.service.records("contacts")
  await born(life, contact!["id"], "the 31st of June")
  for (const night of [1, 2]) {
    await life.sync()
    assert.deepStrictEqual(await standsIn(life), ["contacts 1"], `night ${night}`)
  }
  await born(life, contact!["id"], "1980-02-03")
  await life.sync()
  assert.deepStrictEqual(await standsIn(life), [])
})

describe("a rejected value or record", { tags: ["slow"] }, () => {
  const life = beginForAll(() => openAlone("contacts,locations", "--contacts", "40"))

  it("raises its alarm in each night, and ends when the service sends something else", async () => {
    const ids = (await life.service.records("contacts")).slice(0, 6).map(({ id }) => String(id))
    for (const id of ids) await born(life, id, "the 31st of June")
    for (const night of [1, 2]) {
      assert.match((await life.sync()).stderr, /6 rejected values and records stand: contacts 6\. See meta/)
      const checked = await life.run(["check"])
      assert.strictEqual(checked.code, 4, `night ${night}: ${checked.stdout}`)
      assert.match(checked.stdout, /rejects:contacts: 6 rejected values and records stand, beside 4\d rows/)
    }
    const [corrected, cleared, elsewhere, removed, ...others] = ids
    await born(life, corrected, "1980-02-03")
    await born(life, cleared, null)
    // Another change of a record whose value is as wrong as before.
    await life.edit("contacts", elsewhere, { city: "Elsewhere" })
    await life.sync()
    assert.deepStrictEqual(await standsIn(life), ["contacts 4"])
    await life.service.post("remove", { collection: "contacts", id: removed })
    for (const id of others) await born(life, id, "1980-02-03")
    await life.sync("--again=all")
    assert.deepStrictEqual(await standsIn(life), ["contacts 1"])
    assert.strictEqual((await life.run(["check"])).code, 0)
  })

  it("stands until a whole reading of its list does not find it, if it has no key", async () => {
    const before = (await standsIn(life)).length
    await life.service.post("poison", { collection: "contacts", count: 2 })
    assert.match((await life.sync("--again=all")).stderr, /contacts: 2 records have no key/)
    for (const night of [1, 2]) {
      assert.deepStrictEqual(await standsIn(life), [`contacts ${before + 2}`], `night ${night}`)
      await life.sync()
    }
  })
})
