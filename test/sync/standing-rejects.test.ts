/** What was rejected stands in every night until the service mends it: unchanged rejects are in no later reading. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Account, discard, openAlone, openTables } from "../support/account.ts"
import { sluice } from "../support/sluice.ts"

describe("a rejected value or record", { tags: ["slow"] }, () => {
  let account: Account
  const run = (...args: ReadonlyArray<string>) => sluice(args, account.environment)
  const standing = async () => {
    const { data } = JSON.parse((await run("status", "--json")).stdout)
    return (data.standingRejects ?? []).map(
      ({ rejected, resource }: { readonly rejected: number; readonly resource: string }) => `${resource} ${rejected}`
    )
  }
  const edit = (collection: string, id: string, fields: Readonly<Record<string, unknown>>) =>
    account.service.post("edit", { collection, id, fields })

  beforeAll(async () => {
    account = await openTables("contacts,locations", "--contacts", "40")
  })
  afterAll(() => discard(account))

  it("stands over five nights, raises its alarm in each, and ends when the service sends something else", async () => {
    const ids = (await account.service.records("contacts")).slice(0, 6).map(({ id }) => String(id))
    for (const id of ids) await edit("contacts", id, { dateOfBirth: "the 31st of June" })
    for (let night = 1; night <= 5; night++) {
      const synced = await account.sync()
      assert.strictEqual(synced.code, 0, synced.stderr)
      assert.match(synced.stderr, /6 rejected values and records stand: contacts 6\. See meta/)
      assert.deepStrictEqual(await standing(), ["contacts 6"], `night ${night}`)
      const checked = await run("check")
      assert.strictEqual(checked.code, 4, `night ${night}: ${checked.stdout}`)
      assert.match(checked.stdout, /rejects:contacts: 6 rejected values and records stand, beside 4\d rows/)
    }
    await edit("contacts", ids[0]!, { dateOfBirth: "1980-02-03" })
    await edit("contacts", ids[1]!, { dateOfBirth: null })
    await account.sync()
    assert.deepStrictEqual(await standing(), ["contacts 4"])
    // Another change of a record whose value is as wrong as before.
    await edit("contacts", ids[2]!, { city: "Elsewhere" })
    await account.sync()
    assert.deepStrictEqual(await standing(), ["contacts 4"])
    await account.service.post("remove", { collection: "contacts", id: ids[3] })
    for (const id of ids.slice(4)) await edit("contacts", id, { dateOfBirth: "1980-02-03" })
    await account.sync("--full")
    assert.deepStrictEqual(await standing(), ["contacts 1"])
    assert.strictEqual((await run("check")).code, 0)
  })

  it("stands until a whole reading of its list does not find it, if it has no key", async () => {
    await account.service.post("poison", { collection: "contacts", count: 2 })
    const synced = await account.sync("--full")
    assert.match(synced.stderr, /contacts: 2 records have no key/)
    assert.deepStrictEqual(await standing(), ["contacts 3"])
    for (let night = 1; night <= 3; night++) {
      await account.sync()
      assert.deepStrictEqual(await standing(), ["contacts 3"], `night ${night}`)
    }
  })
})

describe("a value that was rejected", () => {
  it("stands in a night in which its record is not read, and ends with its correction", async () => {
    const account = await openAlone("contacts", "--contacts", "3")
    try {
      const [contact] = await account.service.records("contacts")
      const born = (dateOfBirth: string) =>
        account.service.post("edit", { collection: "contacts", id: contact!["id"], fields: { dateOfBirth } })
      const standing = async () =>
        JSON.parse((await sluice(["status", "--json"], account.environment)).stdout).data.standingRejects ?? []
      await born("the 31st of June")
      for (const night of [1, 2]) {
        assert.strictEqual((await account.sync()).code, 0)
        assert.deepInclude((await standing())[0], { resource: "contacts", rejected: 1 }, `night ${night}`)
      }
      await born("1980-02-03")
      await account.sync()
      assert.deepStrictEqual(await standing(), [])
    } finally {
      discard(account)
    }
  })
})
