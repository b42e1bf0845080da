/** What each kind of destination promises, in the words of one list: places.ts has the kinds. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAlone, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Contact, type Place, kinds } from "./places.ts"

const sorted = (contacts: ReadonlyArray<Contact>) => contacts.toSorted((one, other) => (one.id < other.id ? -1 : 1))

describe.each(kinds)("$kind", { tags: ["slow"] }, ({ hasVersions, kind, missing, open }) => {
  if (missing !== undefined) console.log(`skipped: ${kind}: ${missing}`)
  let account: Account
  let place: Place
  let config: string
  const environmentOf = (output = account.output) => ({
    ...account.environment,
    ...place.environment,
    SLUICE_OUTPUT: output
  })
  const run = (...args: ReadonlyArray<string>) => sluice([...args, "--config", config], environmentOf())
  const succeeds = async (...args: ReadonlyArray<string>) => {
    const ran = await run(...args)
    assert.strictEqual(ran.code, 0, `${args.join(" ")}: ${ran.stdout}${ran.stderr}`)
    return ran
  }
  const expected = async () =>
    sorted((await query(account.warehouse, "SELECT id, city FROM crm.contacts")) as unknown as ReadonlyArray<Contact>)
  const assertEqual = async () => assert.deepStrictEqual(sorted(await place.contacts()), await expected())
  const changed = async (seed: number) => {
    await account.service.post("change", { contacts: 0.3, seed })
    await succeeds("sync", ...account.selection)
  }

  beforeAll(async () => {
    if (missing !== undefined) return
    account = await openPeople("locations,contacts", "--contacts", "12")
    place = await open()
    config = join(newFolder(), "sluice.toml")
    writeFileSync(config, place.settings)
  })
  afterAll(async () => {
    if (missing !== undefined) return
    await place.close()
    discard(account)
  })

  it.skipIf(missing)("gets every row, and nothing again while nothing changes", async () => {
    await succeeds("sync", ...account.selection)
    assert.isAbove((await place.contacts()).length, 10)
    await assertEqual()
    const again = await succeeds("publish")
    assert.notMatch(again.stdout, /[1-9]\d* (tables?|files?) changed/)
    await assertEqual()
  })

  it.skipIf(missing)("gets a changed release", async () => {
    const before = sorted(await place.contacts())
    await changed(1)
    await assertEqual()
    assert.notDeepEqual(sorted(await place.contacts()), before)
  })

  it.skipIf(missing)("gets everything after a delivery that was stopped", async () => {
    await account.service.post("change", { contacts: 0.3, seed: 2 })
    for (const ms of [5, 60, 250]) {
      const stopped = new AbortController()
      const timer = setTimeout(() => stopped.abort(130), ms)
      await sluice(["sync", ...account.selection, "--config", config], environmentOf(), { signal: stopped.signal })
      clearTimeout(timer)
    }
    await succeeds("sync", ...account.selection)
    await assertEqual()
    await succeeds("verify")
  })

  it.skipIf(missing)("is compared row by row, and repaired by publish --full", async () => {
    await place.loseRow()
    const lost = await run("verify")
    assert.strictEqual(lost.code, 1, lost.stdout)
    assert.match(lost.stdout + lost.stderr, /WRONG[^\n]*contacts/)
    await succeeds("publish", "--full")
    await assertEqual()
    await succeeds("verify")
  })

  it.skipIf(missing)(
    "gets again what somebody else removed there, in a night without a change, and says so once",
    async () => {
      for (const lose of [place.loseRow, place.loseTable]) {
        await lose()
        const { stderr } = await succeeds("sync", ...account.selection)
        assert.match(stderr, /lacks [^\n]*, or has it changed; it is sent again/)
        await assertEqual()
        assert.notInclude((await succeeds("sync", ...account.selection)).stderr, "is sent again")
      }
      await succeeds("verify")
    }
  )

  it.skipIf(missing)("keeps the rows of another output folder", async () => {
    const other = newFolder()
    cpSync(account.output, other, { recursive: true, verbatimSymlinks: true })
    rmSync(join(other, "owner.json"))
    const before = sorted(await place.contacts())
    const foreign = await sluice(["publish", "--config", config], environmentOf(other))
    assert.strictEqual(foreign.code, 1, foreign.stdout + foreign.stderr)
    assert.match(foreign.stdout + foreign.stderr, /another output folder/)
    assert.deepStrictEqual(sorted(await place.contacts()), before)
  })

  it.skipIf(missing)("keeps the rows of a later run when an earlier one comes back late", async () => {
    const stale = newFolder()
    cpSync(account.output, stale, { recursive: true, verbatimSymlinks: true })
    await changed(3)
    const late = await sluice(["publish", "--config", config], environmentOf(stale))
    assert.strictEqual(late.code, 1, late.stdout + late.stderr)
    assert.match(late.stdout + late.stderr, /of a later run/)
    await assertEqual()
  })

  it.skipIf(missing)("has nothing of a person who was erased", async () => {
    const [{ email, id }] = (await query(
      account.warehouse,
      "SELECT id, email FROM crm.contacts WHERE email IS NOT NULL ORDER BY id LIMIT 1"
    )) as [{ email: string; id: string }]
    assert.isTrue(await place.mentions(email))
    await succeeds("subject", "erase", "--contact", id, "--all", "--apply", "--reason", "test")
    for (const text of [email, id]) assert.isFalse(await place.mentions(text), text)
    await assertEqual()
    await succeeds("verify")
    const [name] = readdirSync(join(account.output, "certificates")).toSorted().slice(-1)
    const certificate = JSON.parse(readFileSync(join(account.output, "certificates", name!), "utf8"))
    assert.isTrue(certificate.isErased)
    for (const { name, state } of certificate.places) assert.strictEqual(state, "cleaned", name)
    assert.isAbove(certificate.places.length, 0)
  })

  it.skipIf(missing)("has nothing of a location that was removed", async () => {
    const removed = await sluice(["location", "remove", account.service.locationId, "--apply", "--config", config], {
      ...environmentOf(),
      SLUICE_LOCATION_ID: "another"
    })
    assert.strictEqual(removed.code, 0, removed.stdout + removed.stderr)
    assert.deepStrictEqual(await place.contacts(), [])
    if (hasVersions) assert.include(removed.stderr, "earlier versions keep them")
    else assert.isFalse(await place.mentions(account.service.locationId))
    rmSync(config)
  })
})

describe.each(kinds.filter(({ isOwn }) => isOwn))("$kind", ({ open }) => {
  it("gets every row of a small account", async () => {
    const account = await openAlone("contacts", "--contacts", "2")
    const place = await open()
    try {
      const config = join(account.output, "sluice.toml")
      writeFileSync(config, place.settings)
      const ran = await sluice(["sync", ...account.selection, "--config", config], account.environment)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const rows = await query(account.warehouse, "SELECT id, city FROM crm.contacts")
      assert.deepStrictEqual(sorted(await place.contacts()), sorted(rows as unknown as ReadonlyArray<Contact>))
    } finally {
      discard(account)
    }
  })
})
