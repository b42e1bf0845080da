/** Several locations in one run. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { coreFlags } from "../support/account.ts"
import { differences, query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { oneAddress } from "../support/proxy.ts"
import { startService } from "../support/service.ts"
import { knowing, newFolder, sluice } from "../support/sluice.ts"

describe("several locations in one run", () => {
  it(
    "each is read with its own token within its rate limit, fails on its own, and shares the tables",
    { tags: ["slow"] },
    async () => {
      const services = await Promise.all(
        ["11", "12"].map((seed) => startService("--seed", seed, "--contacts", "60", "--limits", "100/1000/200000"))
      )
      const [one, two] = services as [(typeof services)[0], (typeof services)[0]]
      const address = await oneAddress(one, two)
      try {
        assert.notStrictEqual(one.locationId, two.locationId)
        const output = await newOutput()
        const config = join(newFolder(), "config.toml")
        const settings = (...tokens: ReadonlyArray<string>) =>
          writeFileSync(
            config,
            [`[account]`, `base_url = "${address.url}"`]
              .concat(
                tokens.flatMap((token, index) => [
                  "[[locations]]",
                  `id = "${services[index % 2]!.locationId}"`,
                  `token = "${token}"`
                ])
              )
              .join("\n")
          )
        const sync = () =>
          sluice(["sync", "--config", config, ...coreFlags], { SLUICE_OUTPUT: output, SLUICE_FORMATS: "none" })
        const warehouse = join(output, "warehouse.duckdb")

        settings(one.token, two.token)
        const first = await sync()
        assert.strictEqual(first.code, 0, first.stderr)
        for (const service of services) {
          const records = await service.records("contacts")
          const rows = await query(warehouse, `SELECT id FROM crm.contacts WHERE location_id = '${service.locationId}'`)
          assert.deepStrictEqual(rows.map(({ id }) => id).sort(), records.map(({ id }) => id).sort())
          const { refused429, fullestWindow } = await service.stats()
          assert.strictEqual(refused429, 0)
          assert.isAtMost(fullestWindow, 100)
          const [location] = await service.records("locations")
          assert.include(first.stdout, String(location!["name"]))
          assert.notInclude(first.stdout, service.locationId)
        }

        // One location gets a wrong token: the other is still read, and the run names the one that cannot be read.
        settings("wrong-token", two.token)
        await two.post("change", { contacts: 0.1 })
        const second = await sync()
        assert.strictEqual(second.code, 77, second.stderr)
        assert.match(second.stderr, new RegExp(`${one.locationId}.*the location cannot be read`))
        const [changed] = await query(warehouse, "SELECT count(*) AS n FROM crm_history.contacts")
        assert.isAbove(Number(changed!["n"]), 3)

        settings(one.token, two.token)
        assert.strictEqual((await sync()).code, 0)
        const both = [...(await one.records("contacts")), ...(await two.records("contacts"))]
        assert.deepStrictEqual(await differences(warehouse, "contacts", both), [])

        const examined = await sluice(["doctor", "--config", config], { SLUICE_OUTPUT: output })
        assert.strictEqual(examined.code, 0, examined.stdout)
        for (const { locationId } of services)
          assert.match(
            examined.stdout,
            new RegExp(`^ok +token ${locationId} +accepted for location ${locationId}`, "m")
          )

        // A sample has rows of each location, read with its own token.
        const verified = await sluice(["verify", "--sample", "8", "--config", config], { SLUICE_OUTPUT: output })
        assert.strictEqual(verified.code, 0, verified.stdout)
        for (const { locationId } of services)
          assert.match(
            verified.stdout,
            new RegExp(`^sample ${locationId} +4 rows of \\d+ tables, 100 % of 4 agree`, "m")
          )
      } finally {
        address.close()
        for (const service of services) service.stop()
      }
    }
  )
})

it("the token of one location is used for no other, whose rows stay", async () => {
  const services = await Promise.all(["11", "12"].map((seed) => startService("--seed", seed, "--contacts", "3")))
  const [one, two] = services as [(typeof services)[0], (typeof services)[0]]
  const address = await oneAddress(one, two)
  try {
    const output = newFolder()
    const config = join(newFolder(), "config.toml")
    const sync = (...tokens: ReadonlyArray<string>) => {
      const locations = tokens.map((token, n) => `[[locations]]\nid = "${services[n]!.locationId}"\ntoken = "${token}"`)
      writeFileSync(config, [`[account]\nbase_url = "${address.url}"`, ...locations].join("\n"))
      return sluice(["sync", "--config", config, "--only", "contacts"], {
        ...knowing("contacts"),
        SLUICE_OUTPUT: output,
        SLUICE_FORMATS: "none"
      })
    }
    const idsOf = async () =>
      (await query(join(output, "warehouse.duckdb"), "SELECT id FROM crm.contacts ORDER BY id")).map(({ id }) => id)
    assert.strictEqual((await sync(one.token, two.token)).code, 0)
    const all = [...(await one.records("contacts")), ...(await two.records("contacts"))].map(({ id }) => String(id))
    assert.deepStrictEqual(await idsOf(), all.toSorted())
    const failed = await sync("wrong-token", two.token)
    assert.strictEqual(failed.code, 77, failed.stderr)
    assert.match(failed.stderr, new RegExp(`${one.locationId}.*the location cannot be read`))
    assert.match(failed.stderr, new RegExp(`^Next: set locations\\.${one.locationId}\\.token to a valid token of`, "m"))
    assert.notMatch(failed.stderr, /scope|SLUICE_TOKEN|wrong-token/)
    // Nothing of the location was read, whatever the other one had.
    const covered = await query(
      join(output, "warehouse.duckdb"),
      `SELECT location_id, status FROM meta.coverage WHERE operation LIKE '%contacts/search' AND purpose = 'tables'`
    )
    assert.sameDeepMembers(
      covered.map(({ location_id, status }) => [location_id, status]),
      [
        [one.locationId, "not readable with this token"],
        [two.locationId, "read"]
      ]
    )
    assert.deepStrictEqual(await idsOf(), all.toSorted())
  } finally {
    address.close()
    for (const service of services) service.stop()
  }
})
