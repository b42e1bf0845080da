/** The demo beside a real account, as a newcomer follows the README. */
import { assert, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { query } from "../support/compare.ts"
import { start } from "../support/process.ts"
import { startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"

/** Path and checksum of every file below a folder. */
const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
    .toSorted()

it("a demo before, beside and after an account never touches it, and no command mixes the two", async () => {
  const folder = newFolder()
  const service = await startService("--limits", "off", "--contacts", "30", "--seed", "77")
  const account = {
    SLUICE_BASE_URL: service.url,
    SLUICE_TOKEN: service.token,
    SLUICE_LOCATION_ID: service.locationId
  }
  const run = (...args: ReadonlyArray<string>) => start(args, account, folder).ended
  try {
    mkdirSync(join(folder, "config"))
    // The settings of the account must not be used for the demo.
    writeFileSync(
      join(folder, "config", "sluice.toml"),
      '[output]\nformats = ["duckdb"]\n[[publish]]\nname = "team"\nfolder = "team"\nprofile = "raw"\n'
    )
    const first = await run("demo")
    assert.strictEqual(first.code, 0, first.stderr)
    assert.deepStrictEqual(readdirSync(folder).toSorted(), ["config", "demo-output"])
    assert.match(first.stderr, /^Next: .*--output demo-output$/m)
    assert.isBelow(Number(/^(\d+) requests for everything/m.exec(first.stderr)![1]), 250)
    const report = readFileSync(join(folder, "demo-output", "published", "report", "index.html"), "utf8")
    const shown = report.replaceAll(/<style[^]*?<\/style>|<[^>]+>/g, " ").replaceAll(/\s+/g, " ")
    for (const tile of ["Won", "Revenue", "Monthly recurring", "New contacts", "No-shows", "Median reply"])
      assert.match(shown, new RegExp(`${tile} (USD )?[1-9]`), tile)
    assert.notMatch(shown, /no (opportunities won|payments received|new contacts|appointments booked)/)

    const refused = await run("sync", "--output", "demo-output")
    assert.strictEqual(refused.code, 78, refused.stderr)
    assert.include(refused.stderr, `${join(folder, "demo-output")} is the folder of a demo`)
    assert.match(refused.stderr, /^Next: \.\/sluice sync --output output/m)
    for (const command of [["backfill", "--from", "2026-01-01"], ["listen"]])
      assert.strictEqual((await run(...command, "--output", "demo-output")).code, 78, command.join(" "))

    const synced = await run("sync", "--only", "contacts,locations")
    assert.strictEqual(synced.code, 0, synced.stderr)
    const before = filesBelow(join(folder, "output"))
    const again = await run("demo")
    assert.strictEqual(again.code, 0, again.stderr)
    assert.deepStrictEqual(filesBelow(join(folder, "output")), before)
    const locations = await query(
      join(folder, "output", "warehouse.duckdb"),
      "SELECT DISTINCT location_id FROM crm.contacts"
    )
    assert.deepStrictEqual(
      locations.map((row) => row["location_id"]),
      [service.locationId]
    )
    assert.strictEqual((await run("demo", "--output", "output")).code, 78)

    // What earlier versions left: an account in the folder with the mark of a demo, here only in its vault, or its ledger.
    for (const part of ["vault", "ledger.jsonl"]) {
      const mixed = newFolder()
      writeFileSync(join(mixed, ".demo"), "")
      cpSync(join(folder, "output", part), join(mixed, part), { recursive: true })
      const kept = filesBelow(mixed)
      const demo = await run("demo", "--output", mixed)
      assert.strictEqual(demo.code, 78, demo.stderr)
      assert.include(demo.stderr, `holds the location ${service.locationId}`)
      assert.deepStrictEqual(filesBelow(mixed), kept)
      assert.strictEqual((await run("sync", "--output", mixed)).code, 78)
    }
    assert.isFalse(existsSync(join(folder, "demo-output", "team")))
  } finally {
    service.stop()
  }
})
