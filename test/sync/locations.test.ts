/** Several locations in one run. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { coreTables } from "../support/account.ts"
import { differences, query } from "../support/compare.ts"
import { oneAddress } from "../support/proxy.ts"
import { textOf } from "../report/reading.ts"
import { startService } from "../support/service.ts"
import { knowing, newFolder, sluice } from "../support/sluice.ts"

/** Two accounts behind one address, and one output for both. */
const twoLocations = async (tables: string, flags: ReadonlyArray<string>, more = "") => {
  const services = await Promise.all(["11", "12"].map((seed) => startService("--seed", seed, ...flags)))
  const address = await oneAddress(...services)
  onTestFinished(() => [address.close, ...services.map(({ stop }) => stop)].forEach((stop) => stop()))
  const [output, config] = [newFolder(), join(newFolder(), "config.toml")]
  const environment = { ...knowing(tables), SLUICE_OUTPUT: output, SLUICE_FORMATS: "none" }
  const run = (command: string) => sluice([...command.split(" "), "--config", config], environment)
  return {
    warehouse: join(output, "warehouse.duckdb"),
    services: services as [(typeof services)[0], (typeof services)[0]],
    run,
    /** Syncs with a token for each location, and expects the exit code. */
    sync: async (tokens: ReadonlyArray<string>, expected = 0) => {
      const locations = tokens.map((token, n) => `[[locations]]\nid = "${services[n]!.locationId}"\ntoken = "${token}"`)
      writeFileSync(config, [`[account]\nbase_url = "${address.url}"`, more, ...locations].join("\n"))
      const ran = await run(`sync --only ${tables}`)
      assert.strictEqual(ran.code, expected, ran.stderr)
      return ran
    },
    records: async (collection: string) => (await Promise.all(services.map((one) => one.records(collection)))).flat()
  }
}

describe("several locations in one run", () => {
  it("are read with the token of each, which is used for no other, whose rows stay", async () => {
    const { records, run, services, sync, warehouse } = await twoLocations("contacts", ["--contacts", "3"])
    const [one, two] = services
    const idsOf = (rows: ReadonlyArray<Record<string, unknown>>) => rows.map(({ id }) => String(id)).toSorted()
    const stored = async () => idsOf(await query(warehouse, "SELECT id FROM crm.contacts"))
    const first = await sync([one.token, two.token])
    const names = (await records("locations")).map(({ name }) => String(name))
    // The table of names is not among those that are read.
    for (const { locationId } of services)
      assert.match(first.stdout, new RegExp(`^${locationId} +1 +1 +3 +3 +0 +0 +0  complete$`, "m"))
    assert.notMatch(first.stdout, new RegExp(`contacts +1|${names.join("|")}`))
    const all = idsOf(await records("contacts"))
    assert.deepStrictEqual(await stored(), all)
    const failed = await sync(["wrong-token", two.token], 3)
    assert.match(failed.stderr, new RegExp(`${one.locationId}.*the location cannot be read`))
    assert.match(failed.stderr, new RegExp(`^Next: set locations\\.${one.locationId}\\.token to a valid token of`, "m"))
    assert.notMatch(failed.stderr, /scope|SLUICE_TOKEN|wrong-token/)
    assert.match(failed.stdout, new RegExp(`^${one.locationId} +1 +\\d +0 .* incomplete$`, "m"))
    assert.match(failed.stdout, new RegExp(`^${two.locationId} +1 +.* complete$`, "m"))
    // Nothing of the location was read, whatever the other one had.
    const covered = await query(
      warehouse,
      `SELECT location_id, status FROM meta.coverage WHERE operation LIKE '%contacts/search' AND purpose = 'tables'`
    )
    assert.sameDeepMembers(
      covered.map(({ location_id, status }) => [location_id, status]),
      [
        [one.locationId, "not readable with this token"],
        [two.locationId, "read"]
      ]
    )
    assert.deepStrictEqual(await stored(), all)

    // Every command says the same, and what mends it.
    const why = `${one.locationId}: the location cannot be read: 401 Invalid JWT`
    const next = `set locations.${one.locationId}.token to a valid token of location ${one.locationId}, then ./sluice sync`
    const status = JSON.parse((await run("status --only contacts --check --json")).stdout)
    assert.deepInclude(status, { exitCode: 3 })
    assert.include(status.next, next)
    assert.deepInclude(status.data.verdict, { state: "incomplete", level: "problem" })
    assert.deepStrictEqual(
      status.data.verdict.causes.map(({ kind, location, resources }: Record<string, unknown>) => [
        kind,
        location,
        resources
      ]),
      [["unreadable", one.locationId, ["contacts"]]]
    )
    const shown = (await run("status --only contacts")).stdout
    assert.include(shown, why)
    assert.match(shown, /^1 of 2 resources of 2 locations is complete/m)
    const checked = JSON.parse((await run("check --json")).stdout)
    assert.deepStrictEqual(
      checked.data.alarms.map(({ alarm, message }: Record<string, unknown>) => [alarm, message]),
      [[`sync:${one.locationId}`, why]]
    )
    assert.include(checked.next, next)
    const file = join(newFolder(), "r.html")
    assert.strictEqual((await run(`report --to ${file}`)).code, 0)
    assert.match(
      textOf(readFileSync(file, "utf8")),
      new RegExp(
        `Incomplete 1 of 2 resources .*${one.locationId}: the location cannot be read: the service answered 401`
      )
    )

    await sync([one.token, two.token])
    assert.match((await run("status --only contacts")).stdout, /^All 2 resources of 2 locations are complete/m)
    assert.strictEqual((await run("check")).code, 0)
  })

  it("have the files of each, also where their links are the same", { tags: ["slow"] }, async () => {
    const flags = "--limits off --contacts 30 --files".split(" ")
    const fetching = `[files]\nfetch = ["message_attachments"]`
    const { services, sync, warehouse } = await twoLocations("conversations,messages,files", flags, fetching)
    await sync(services.map(({ token }) => token))
    for (const { links, locationId } of services) {
      const rows = await query(warehouse, `SELECT link, sha256 FROM crm.files WHERE location_id = '${locationId}'`)
      const own = (await links()).filter(({ collection }) => collection === "messages")
      assert.isAbove(own.length, 5)
      assert.lengthOf(rows, own.length)
      for (const { path, sha256 } of own)
        assert.isTrue(rows.some((row) => String(row["link"]).includes(String(path)) && row["sha256"] === sha256))
    }
  })

  it("share the tables, keep the rate limit of each, and fail each on its own", { tags: ["slow"] }, async () => {
    const flags = ["--contacts", "60", "--limits", "100/1000/200000"]
    const { records, run, services, sync, warehouse } = await twoLocations(coreTables, flags)
    const [one, two] = services
    assert.notStrictEqual(one.locationId, two.locationId)
    const first = await sync([one.token, two.token])
    for (const { locationId, records, stats } of services) {
      const rows = await query(warehouse, `SELECT id FROM crm.contacts WHERE location_id = '${locationId}'`)
      assert.sameMembers(
        rows.map(({ id }) => id),
        (await records("contacts")).map(({ id }) => id)
      )
      const { refused429, fullestWindow } = await stats()
      assert.strictEqual(refused429, 0)
      assert.isAtMost(fullestWindow, 100)
      // The account is named instead of its id.
      const [location] = await records("locations")
      assert.include(first.stdout, String(location!["name"]))
      assert.notInclude(first.stdout, locationId)
    }

    // One location gets a wrong token: the other is still read.
    await two.post("change", { contacts: 0.1 })
    await sync(["wrong-token", two.token], 3)
    const [changed] = await query(warehouse, "SELECT count(*) AS n FROM crm_history.contacts")
    assert.isAbove(Number(changed!["n"]), 3)
    await sync([one.token, two.token])
    assert.deepStrictEqual(await differences(warehouse, "contacts", await records("contacts")), [])

    const examined = await run("doctor")
    assert.strictEqual(examined.code, 0, examined.stdout)
    // A sample has rows of each location, read with its own token.
    const verified = await run("verify --sample 8")
    assert.strictEqual(verified.code, 0, verified.stdout)
    for (const { locationId: id } of services) {
      assert.match(examined.stdout, new RegExp(`^ok +token ${id} +accepted for location ${id}`, "m"))
      assert.match(verified.stdout, new RegExp(`^sample ${id} +4 rows of \\d+ tables, 100 % of 4 agree`, "m"))
    }
  })
})
