/** `location remove`, on an output with two locations. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { outputPaths } from "../../src/output/paths.ts"
import { filesIn } from "../bundle/account.ts"
import { discard, openSynced } from "../support/account.ts"
import { differences, query } from "../support/compare.ts"
import { contentsOf } from "../support/contents.ts"
import { oneAddress } from "../support/proxy.ts"
import { type Service, startService } from "../support/service.ts"
import { knowing, newFolder, sluice } from "../support/sluice.ts"

const names = "locations,contacts,contact_notes,messages,conversations,recordings"
const tables = ["--only", names]

it("of one location waits until that of another one, which was stopped, has ended", async () => {
  const folder = newFolder()
  const pending = { location: "north", rows: {}, vault: { entries: 0, bytes: 0 }, files: [] }
  writeFileSync(outputPaths(folder).locationRemoval, JSON.stringify(pending))
  for (const flags of [[], ["--apply"]]) {
    const other = await sluice(["location", "remove", "south", ...flags, "--output", folder], {})
    assert.strictEqual(other.code, 1)
    assert.include(other.stderr, "location north was stopped. Nothing was changed.")
    assert.match(other.stderr, /Next: .*location remove .*north --apply$/m)
  }
  const same = await sluice(["location", "remove", "north", "--output", folder], {})
  assert.strictEqual(same.code, 0, same.stderr)
  assert.match(same.stderr, /The removal of north was stopped\./)
  assert.include(same.stdout, "Nothing was changed.")
})

describe("the removal of a location", { tags: ["slow"] }, () => {
  let [stays, goes]: Array<Service> = []
  let address: Awaited<ReturnType<typeof oneAddress>>
  /** An output with both locations. */
  let both: string
  let config: string
  const settingsOf = (folder: string, ...services: ReadonlyArray<Service>) => {
    config = join(newFolder(), "sluice.toml")
    const listed = services.map((one) => `[[locations]]\nid = "${one.locationId}"\ntoken = "${one.token}"`)
    writeFileSync(
      config,
      [
        `[account]\nbase_url = "${address.url}"`,
        `[output]\nfolder = "${folder}"\nformats = ["duckdb", "csv"]`,
        "[models]\nbuild = false",
        ...listed,
        `[[publish]]\nname = "team"\nfolder = "${folder}/../team"\nprofile = "raw"\nformats = ["csv"]`
      ].join("\n")
    )
  }
  const run = (...args: ReadonlyArray<string>) => sluice([...args, "--config", config], knowing(names))
  const remove = (...flags: ReadonlyArray<string>) => run("location", "remove", goes!.locationId, ...flags)
  /** A copy of the output with both locations, and the settings of one. */
  const copied = (): string => {
    const parent = newFolder()
    cpSync(join(both, ".."), parent, { recursive: true, verbatimSymlinks: true })
    const folder = join(parent, "output")
    settingsOf(folder, stays!)
    return folder
  }
  /** The files that contain the id of the removed location, packed or not; not the requests of the last seconds. */
  const mentions = (folder: string): ReadonlyArray<string> =>
    readdirSync(join(folder, ".."), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "recent-requests.json")
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => {
        const bytes = readFileSync(path)
        return (path.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes).includes(goes!.locationId)
      })
      .map((path) => path.slice(folder.length + 1))
  const assertRemoved = async (folder: string) => {
    assert.deepStrictEqual(mentions(folder), ["ledger.jsonl"])
    const warehouse = join(folder, "warehouse.duckdb")
    const verified = await run("verify", "--all")
    assert.strictEqual(verified.code, 0, verified.stdout)
    const rebuilt = await run("rebuild")
    assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
    assert.deepStrictEqual(await differences(warehouse, "contacts", await stays!.records("contacts")), [])
    const [row] = await query(
      join(folder, "published", "crm.duckdb"),
      `SELECT count(*) FILTER (location_id = '${goes!.locationId}') AS gone, count(*) AS n FROM contacts`
    )
    assert.deepStrictEqual([row!["gone"], Number(row!["n"]) > 10], ["0", true])
    const synced = await run("sync", ...tables)
    assert.strictEqual(synced.code, 0, synced.stderr)
    assert.deepStrictEqual(mentions(folder), ["ledger.jsonl"])
  }

  beforeAll(async () => {
    ;[stays, goes] = await Promise.all(
      ["11", "12"].map((seed) => startService("--seed", seed, "--contacts", "40", "--limits", "off"))
    )
    address = await oneAddress(stays!, goes!)
    both = join(newFolder(), "output")
    settingsOf(both, stays!, goes!)
    for (let time = 0; time < 2; time++) {
      // Earlier versions of rows, and a second release.
      if (time > 0) for (const service of [stays!, goes!]) await service.post("change", { contacts: 0.2 })
      const synced = await run("sync", ...tables)
      assert.strictEqual(synced.code, 0, synced.stderr)
    }
  })
  afterAll(() => {
    address.close()
    for (const service of [stays!, goes!]) service.stop()
  })

  it("prints a plan and changes nothing, then removes every trace, and what others have stays", async () => {
    const folder = copied()
    const before = readFileSync(join(folder, "warehouse.duckdb"))
    const plan = await remove()
    assert.strictEqual(plan.code, 0, plan.stderr)
    assert.match(plan.stdout, /^crm\.contacts +4\d$/m)
    assert.match(plan.stdout, /^crm_history\.contacts +\d+$/m)
    assert.match(plan.stdout, /^vault: \d+ responses, [\d.]+ MB; \d+ files?$/m)
    assert.match(plan.stdout, /published: replaced by a release without it; 2 releases removed/)
    assert.match(plan.stdout, /team: replaced/)
    assert.match(plan.stderr, new RegExp(`^Next: ./sluice location remove .*${goes!.locationId} --apply$`, "m"))
    assert.isTrue(before.equals(readFileSync(join(folder, "warehouse.duckdb"))))
    const done = await remove("--apply")
    assert.strictEqual(done.code, 0, done.stderr)
    assert.match(
      readFileSync(join(folder, "ledger.jsonl"), "utf8"),
      new RegExp(`"location":"${goes!.locationId}".*"kind":"remove"`)
    )
    await assertRemoved(folder)
    const again = await remove("--apply")
    assert.strictEqual(again.code, 2, again.stderr)
    assert.include(again.stderr, `It has ${stays!.locationId}`)
  })

  it("ends the same when it was killed between any two steps", async () => {
    const [before, after] = [copied(), copied()]
    const job = join(before, "location-removal.json")
    assert.strictEqual((await remove("--apply")).code, 0)
    const { data } = JSON.parse((settingsOf(before, stays!), await remove("--json")).stdout)
    const left = async (folder: string) => ({
      vault: filesIn(join(folder, "vault")),
      rows: await contentsOf(join(folder, "warehouse.duckdb")),
      mentions: mentions(folder)
    })
    const once = await left(after)
    const text = JSON.stringify({ ...data, files: filesOf(before).filter((file) => !filesOf(after).includes(file)) })
    // What a kill leaves: the steps until then as after the removal, the others as before it.
    for (const done of [[], ["vault"], ["vault", "warehouse.duckdb"]]) {
      const folder = copied()
      for (const name of done) {
        rmSync(join(folder, name), { recursive: true })
        cpSync(join(after, name), join(folder, name), { recursive: true })
      }
      writeFileSync(join(folder, "location-removal.json"), text)
      assert.isFalse(existsSync(job))
      const other = await run("location", "remove", "anotherLocation", "--apply")
      assert.strictEqual(other.code, 1)
      assert.match(other.stderr, new RegExp(`^Next: ./sluice location remove .*${goes!.locationId} --apply$`, "m"))
      const continued = await remove("--apply")
      assert.strictEqual(continued.code, 0, continued.stderr)
      // The same vault and the same rows: what a check, a rebuild and a sync make of them was tested above.
      assert.deepStrictEqual(await left(folder), once)
    }
  })

  it("refuses a location of the settings, one with a hold, and one that was never read", async () => {
    const folder = copied()
    settingsOf(folder, stays!, goes!)
    const named = await remove("--apply")
    assert.strictEqual(named.code, 78, named.stderr)
    assert.include(named.stderr, "so the next sync would read it again")
    settingsOf(folder, stays!)
    const [contact] = await goes!.records("contacts")
    for (const hold of [
      ["--contact", String(contact!["id"])],
      ["--table", "messages"]
    ]) {
      assert.strictEqual((await run("hold", "add", "case-1", ...hold, "--reason", "court")).code, 0)
      const held = await remove("--apply")
      assert.strictEqual(held.code, 1, held.stderr)
      assert.include(held.stderr, "The hold case-1 (court")
      // The ledger still has a hold whose file is lost.
      renameSync(join(folder, "holds.json"), join(folder, "holds.kept"))
      const lost = await remove("--apply")
      assert.strictEqual(lost.code, 1, lost.stderr)
      assert.include(lost.stderr, "holds.json: the hold case-1 of the ledger is missing or was changed")
      renameSync(join(folder, "holds.kept"), join(folder, "holds.json"))
      assert.strictEqual((await run("hold", "release", "case-1")).code, 0)
    }
    const unknown = await run("location", "remove", "neverRead", "--apply")
    assert.strictEqual(unknown.code, 2, unknown.stderr)
    assert.include(unknown.stderr, "has nothing of the location neverRead")
    assert.isAbove(mentions(folder).length, 5)
  })

  it("removes the releases, too, if it was the only location", async () => {
    const folder = copied()
    assert.strictEqual((await remove("--apply")).code, 0)
    settingsOf(folder)
    const last = await run("location", "remove", stays!.locationId, "--apply")
    assert.strictEqual(last.code, 0, last.stderr)
    assert.isFalse(existsSync(join(folder, "published")))
    assert.deepStrictEqual(readdirSync(join(folder, ".published")), [])
  })

  it("is the next step of sync, status and doctor once the settings no longer name the location", async () => {
    const folder = copied()
    const next = new RegExp(`^Next: ./sluice location remove .*${goes!.locationId}$`, "m")
    const named = new RegExp(
      `${goes!.locationId} is no longer in the settings; its rows are live in every release, as of 20`
    )
    for (const command of [["sync", ...tables], ["status", ...tables], ["doctor"]]) {
      const ran = await run(...command)
      assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
      assert.match(ran.stdout + ran.stderr, named, command[0])
      assert.match(ran.stderr, next, command[0])
      assert.notInclude(ran.stderr, `${stays!.locationId} is no longer`)
    }
    const { data } = JSON.parse((await run("status", "--json")).stdout)
    assert.deepStrictEqual(
      data.leftLocations.map(({ location }: { readonly location: string }) => location),
      [goes!.locationId]
    )
    // A flag that selects one of the locations takes none out of the settings.
    settingsOf(folder, stays!, goes!)
    const selected = await run("status", "--location", stays!.locationId)
    assert.notMatch(selected.stderr, /no longer/)
    settingsOf(folder, stays!)
    assert.strictEqual((await remove("--apply")).code, 0)
    assert.notMatch((await run("status")).stderr, /no longer|location remove/)
  })

  it("of the account of a demo ends the refusal of the folder", async () => {
    const folder = copied()
    writeFileSync(
      join(folder, ".demo"),
      JSON.stringify({ service: "http://127.0.0.1:1", locations: [goes!.locationId] })
    )
    const refused = await run("sync")
    assert.strictEqual(refused.code, 78)
    assert.match(refused.stderr, new RegExp(`^Next: ./sluice location remove .*${goes!.locationId}`, "m"))
    assert.strictEqual((await remove("--apply")).code, 0)
    assert.strictEqual((await run("sync", ...tables)).code, 0)
  })
})

const filesOf = (folder: string, part = "files"): ReadonlyArray<string> =>
  existsSync(join(folder, part))
    ? readdirSync(join(folder, part), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    : []

describe("the removal of the only location", () => {
  it("removes its rows, its vault and its releases, and refuses another location", async () => {
    const account = await openSynced({
      tables: "locations,contacts",
      flags: ["--contacts", "3"],
      formats: "csv",
      isAlone: true
    })
    try {
      const remove = (location: string) =>
        sluice(["location", "remove", location, "--apply"], { ...account.environment, SLUICE_LOCATION_ID: "another" })
      const other = await remove("neverRead")
      assert.strictEqual(other.code, 2, other.stderr)
      assert.isTrue(existsSync(join(account.output, "published")))
      const removed = await remove(account.service.locationId)
      assert.strictEqual(removed.code, 0, removed.stderr)
      assert.isFalse(existsSync(join(account.output, "published")))
      const [row] = await query(account.warehouse, "SELECT count(*)::INT AS n FROM crm.contacts")
      assert.strictEqual(row!["n"], 0)
      for (const file of filesOf(account.output, "vault"))
        assert.notInclude(readFileSync(join(account.output, file)).toString("latin1"), account.service.locationId)
    } finally {
      discard(account)
    }
  })
})
