/** The removal of a location from a lake that another output shares. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { discard, openTables } from "../support/account.ts"
import { lakeExtensions, withLake } from "../support/extensions.ts"
import { start } from "../support/process.ts"
import { python, runPython } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

const count = `
import duckdb, json, sys
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute(f"LOAD '{sys.argv[1]}/ducklake.duckdb_extension'")
c.execute(f"ATTACH 'ducklake:{sys.argv[2]}' AS lake (READ_ONLY)")
counts = {}
for table in ["lake.crm.contacts", "lake.sluice.commits", "lake.main.theirs"]:
    counts[table] = dict(c.execute(f"SELECT location_id, count(*) FROM {table} GROUP BY ALL").fetchall())
print(json.dumps(counts))
`

/** What a customer makes of the tables beside them. */
const make = `
import duckdb, sys
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute(f"LOAD '{sys.argv[1]}/ducklake.duckdb_extension'")
c.execute(f"ATTACH 'ducklake:{sys.argv[2]}' AS lake")
c.execute("CREATE TABLE lake.main.theirs AS SELECT location_id, id FROM lake.crm.contacts")
`

describe.skipIf(python === undefined)("a lake", () => {
  it("loses a location that is removed, and keeps those of other outputs", async () => {
    const extensions = lakeExtensions(python!)
    const lake = newFolder()
    const catalog = join(lake, "shared.ducklake")
    const accounts = [
      await openTables("contacts", "--contacts", "30", "--seed", "1"),
      await openTables("contacts", "--contacts", "30", "--seed", "2")
    ] as const
    const [goes, stays] = accounts
    const environmentOf = ({ environment }: (typeof accounts)[0]) => ({
      ...environment,
      SLUICE_FORMATS: "none"
    })
    const config = withLake(python!, { lake: join(lake, "data"), catalog })
    const counts = () => JSON.parse(runPython(python!, count, extensions, catalog))
    try {
      for (const account of accounts) {
        const synced = await start(["sync", ...account.selection, ...config], environmentOf(account)).ended
        assert.strictEqual(synced.code, 0, synced.stderr)
      }
      runPython(python!, make, extensions, catalog)
      const before = counts()
      const removed = await start(["location", "remove", goes.service.locationId, "--apply", ...config], {
        ...environmentOf(goes),
        SLUICE_LOCATION_ID: "another"
      }).ended
      assert.strictEqual(removed.code, 0, removed.stderr)
      assert.include(removed.stderr, "earlier versions keep them until ./sluice lake maintain")
      const after = counts()
      for (const table of ["lake.crm.contacts", "lake.sluice.commits"])
        assert.deepStrictEqual(after[table], { [stays.service.locationId]: before[table][stays.service.locationId] })
      assert.deepStrictEqual(after["lake.main.theirs"], before["lake.main.theirs"])
    } finally {
      discard(...accounts)
    }
  })
})
