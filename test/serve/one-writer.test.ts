/** Files of the user that several hands change at once: whoever is told that it is written finds it there. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { saveQuery, savedQueries } from "../../src/features/explore/saved-queries.ts"
import { asking } from "../../src/features/serve/ask.ts"
import { addLocation, checkSetup, replaceToken, writeSetup } from "../../src/features/serve/set-up.ts"
import { changeSettings, settingsOf } from "../../src/features/serve/settings-page.ts"
import { FileChanged, writePrivately } from "../../src/settings/new-file.ts"
import { newFolder } from "../support/sluice.ts"

const baseUrl = "https://crm.example.com"
/** `onValidate`: what happens while the new content is checked. */
const optionsOf = (onValidate: () => void = () => {}) => {
  const path = join(newFolder(), "sluice.toml")
  const real = asking(["false"], () => [], {})
  const ask = {
    ...real,
    json: async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      onValidate()
      return { schema: "", exitCode: 0, data: { problems: [] } }
    }
  }
  return { path, output: join(dirname(path), "output"), ask, environment: {} }
}
const settled = async (works: ReadonlyArray<Promise<unknown>>) =>
  (await Promise.allSettled(works)).map((one) =>
    one.status === "fulfilled" ? "written" : (one.reason as { readonly code?: string }).code
  )

describe("settings", () => {
  it("that several browsers change at once are all there, or are refused to whoever lost", async () => {
    for (let round = 0; round < 10; round++) {
      const options = optionsOf()
      writeFileSync(options.path, "[schedule]\n")
      const page = { ...options, output: undefined }
      const { basis } = (await changeSettings(page, { changes: { "models.build": false } })) as { basis: string }
      const changes = [{ "models.build": false }, { "alarms.warn_after": "20h" }, { "schedule.times": ["03:30"] }]
      const told = await settled(changes.map((one) => changeSettings(page, { changes: one, apply: true, basis })))
      assert.deepStrictEqual(told.toSorted(), ["changed", "changed", "written"])
      const without = await settled(changes.map((one) => changeSettings(page, { changes: one, apply: true })))
      assert.deepStrictEqual(new Set(without), new Set(["written"]))
      const content = readFileSync(options.path, "utf8")
      for (const line of ["build = false", 'warn_after = "20h"', 'times = ["03:30"]']) assert.include(content, line)
      assert.isTrue(settingsOf(page).exists)
    }
  })
  it("to which a hand adds a line meanwhile keep it, and the change is refused", async () => {
    let path = ""
    const options = optionsOf(() => writeFileSync(path, '[tables.notes]\nexclude = ["body"]\n'))
    path = options.path
    writeFileSync(path, "[schedule]\n")
    const change = changeSettings(
      { ...options, output: undefined },
      { changes: { "models.build": false }, apply: true }
    )
    assert.deepStrictEqual(await settled([change]), ["changed"])
    assert.strictEqual(readFileSync(path, "utf8"), '[tables.notes]\nexclude = ["body"]\n')
    assert.deepStrictEqual(readdirSync(dirname(path)), ["sluice.toml"])
  })
})

it("of several set-ups at once one is written, with its tokens, and the others are refused", async () => {
  for (let round = 0; round < 10; round++) {
    const options = optionsOf()
    const works = ["north", "south", "west"].map((id) =>
      writeSetup(options, { baseUrl, formats: ["csv"], locations: [{ id, token: `pit-${id}` }] })
    )
    assert.deepStrictEqual((await settled(works)).toSorted(), ["exists", "exists", "written"])
    const [, id] = /location_id = "(\w+)"/.exec(readFileSync(options.path, "utf8"))!
    assert.strictEqual(readFileSync(join(dirname(options.path), "token"), "utf8"), `pit-${id}\n`)
    const more = ["a", "b", "c", "d"].map((one) => addLocation(options, { id: one, token: `pit-${one}` }))
    assert.deepStrictEqual(new Set(await settled(more)), new Set(["written"]))
    for (const one of ["a", "b", "c", "d"]) {
      assert.include(readFileSync(options.path, "utf8"), `id = "${one}"`)
      assert.isTrue(existsSync(join(dirname(options.path), `token-${one}`)))
    }
  }
})

it("a file that has changed since it was read stays, and no part is left", async () => {
  const path = join(newFolder(), "f")
  await writePrivately(path, "one", null)
  for (const read of [null, "another"]) {
    const refused = await writePrivately(path, "two", read).then(
      () => undefined,
      (cause: unknown) => cause
    )
    assert.instanceOf(refused, FileChanged)
  }
  assert.strictEqual(readFileSync(path, "utf8"), "one")
  await writePrivately(path, "two", "one")
  assert.deepStrictEqual(readdirSync(dirname(path)), ["f"])
})

it("a stored token is sent to no address but that of the settings, and no other file or variable to any", async () => {
  const options = optionsOf()
  await writeSetup(options, { baseUrl, formats: ["csv"], locations: [{ id: "north", token: "pit-north" }] })
  const token = join(dirname(options.path), "token")
  const refused = async (address: string, given: string) =>
    (
      await settled([
        checkSetup(options, { baseUrl: address, formats: ["csv"], locations: [{ id: "north", token: given }] })
      ])
    )[0]
  assert.strictEqual(await refused("https://elsewhere.example", "pit-typed"), "baseUrl")
  for (const given of [`file:${token}`, "file:/etc/hostname", "env:PATH", "file:/run/secrets/../../etc/hostname"])
    assert.strictEqual(await refused(baseUrl, given), "token", given)
  for (const given of ["pit-typed", "file:/run/secrets/crm-token", "env:SLUICE_TOKEN"])
    assert.strictEqual(await refused(baseUrl, given), "written", given)
})

it("a reference that leads elsewhere is neither written nor added, and none is taken for an address that is typed", async () => {
  const first = optionsOf()
  const setUp = (given: string, options = first) =>
    settled([writeSetup(options, { baseUrl, formats: ["csv"], locations: [{ id: "north", token: given }] })])
  for (const given of ["file:/etc/hostname", "env:PATH", "file:/run/secrets/crm-token", "env:SLUICE_TOKEN"])
    assert.deepStrictEqual(await setUp(given), ["token"], given)
  assert.isFalse(existsSync(first.path))
  const named = { ...first, environment: { SLUICE_BASE_URL: baseUrl } }
  assert.deepStrictEqual(await setUp("file:/run/secrets/crm-token", named), ["written"])
  for (const token of ["file:/etc/hostname", "env:PATH", "cmd:id"])
    assert.deepStrictEqual(await settled([addLocation(named, { id: "south", token })]), ["token"], token)
})

it("a token of other settings in the same folder is not replaced", async () => {
  const options = optionsOf()
  const locations = ["north", "south"].map((id) => ({ id, token: `pit-${id}` }))
  await writeSetup(options, { baseUrl, formats: ["csv"], locations })
  const beside = { ...options, path: join(dirname(options.path), "other.toml") }
  const told = await settled([
    writeSetup(beside, { baseUrl, formats: ["csv"], locations: [{ id: "x", token: "pit-x" }] })
  ])
  assert.deepStrictEqual(told, ["exists"])
  assert.isFalse(existsSync(beside.path))
  assert.strictEqual(readFileSync(join(dirname(options.path), "token"), "utf8"), "pit-north\n")
})

describe("a token", () => {
  const locations = ["north", "south"].map((id) => ({ id, token: `pit-${id}` }))
  const contentOf = ({ path }: { readonly path: string }) =>
    readdirSync(dirname(path))
      .toSorted()
      .map((name) => `${name}: ${readFileSync(join(dirname(path), name), "utf8")}`)
  it("is replaced in the file of its location, and nothing else is", async () => {
    const options = optionsOf()
    await writeSetup(options, { baseUrl, formats: ["csv"], locations })
    const before = contentOf(options)
    await replaceToken(options, { location: "south", token: "pit-new" })
    assert.deepStrictEqual(
      contentOf(options),
      before.map((one) => one.replace("pit-south", "pit-new"))
    )
  })
  it("that the service refuses for a location that has its token there is not written", async () => {
    const options = optionsOf()
    const asked: Array<string> = []
    const error = { code: "credentials", message: "The service does not accept the token." }
    const refusing = {
      ...options.ask,
      json: async (args: ReadonlyArray<string>) => {
        asked.push(...args.filter((one) => one.startsWith("--location=")))
        return { schema: "", exitCode: 77, ...(args.includes("--location=west") && { error }) }
      }
    }
    await writeSetup(options, { baseUrl, formats: ["csv"], locations })
    // Both locations now have the token of the account.
    writeFileSync(options.path, readFileSync(options.path, "utf8").replace(/id = "south"\ntoken = .*/, 'id = "west"'))
    const before = contentOf(options)
    const works = ["north", "west"].map((location) =>
      replaceToken({ ...options, ask: refusing }, { location, token: "pit-new" })
    )
    assert.deepStrictEqual(await settled(works), ["credentials", "credentials"])
    assert.deepStrictEqual(asked, ["--location=north", "--location=west", "--location=north", "--location=west"])
    assert.deepStrictEqual(contentOf(options), before)
  })
  it("is replaced nowhere else: not where a reference leads, and for no location that is not named", async () => {
    const other = join(newFolder(), "token")
    writeFileSync(other, "pit-other")
    const options = optionsOf()
    await writeSetup(options, { baseUrl, formats: ["csv"], locations })
    const own = ["env:SLUICE_TOKEN_A", `file:${other}`].map(
      (token, index) => `\n[[locations]]\nid = "at${index}"\ntoken = "${token}"\n`
    )
    writeFileSync(options.path, readFileSync(options.path, "utf8") + own.join(""))
    const before = contentOf(options)
    const asked = [
      ["at0", "pit-new"],
      ["at1", "pit-new"],
      ["nowhere", "pit-new"],
      ["south", "file:/etc/hostname"],
      ["../x", "pit-new"]
    ].map(([location, token]) => settled([replaceToken(options, { location, token })]))
    assert.deepStrictEqual((await Promise.all(asked)).flat(), ["kept", "kept", "location", "token", "location"])
    assert.deepStrictEqual(contentOf(options), before)
    assert.strictEqual(readFileSync(other, "utf8"), "pit-other")
  })
})

it("of several queries that are saved under one name at once, one is there, and the others are refused", async () => {
  const folder = newFolder()
  const save = (sql: string, replace = false) => saveQuery(folder, { name: "open deals", sql }, replace)
  const told = await settled(["SELECT 1", "SELECT 2", "SELECT 3"].map((sql) => save(sql)))
  assert.deepStrictEqual(told.toSorted(), ["exists", "exists", "written"])
  assert.deepStrictEqual(
    (await savedQueries(folder)).map(({ sql }) => sql),
    [`SELECT ${told.indexOf("written") + 1}\n`]
  )
  assert.deepStrictEqual(await settled([save("SELECT 4"), save("SELECT 5", true)]), ["exists", "written"])
})
