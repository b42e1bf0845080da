/** Releases after nights of changes: each change that the load makes must reach every file. */
import { assert, it } from "@effect/vitest"
import { readFileSync, readlinkSync, statSync } from "node:fs"
import { join } from "node:path"
import { discard, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

it("a release after each night equals the warehouse, also after deletions and a full sync", async () => {
  const account = await openTables(undefined, "--contacts", "60")
  const environment = { ...account.environment, SLUICE_FORMATS: "duckdb,parquet,csv" }
  const published = join(account.output, "published")
  const run = async (...args: ReadonlyArray<string>) => {
    const ran = await sluice(args, environment)
    assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
  }
  const sync = (...flags: ReadonlyArray<string>) => run("sync", ...account.selection, ...flags)
  const inodes = () =>
    new Map<string, number>(
      JSON.parse(readFileSync(join(published, "manifest.json"), "utf8")).files.map(({ path }: { path: string }) => [
        path,
        statSync(join(published, path)).ino
      ])
    )
  try {
    await sync()
    await run("verify")
    const release = readlinkSync(published)
    await sync()
    assert.strictEqual(readlinkSync(published), release)

    const few = {
      contacts: 0.03,
      opportunities: 0.03,
      conversations: 0.03,
      messages: 0.01,
      orders: 0.05,
      submissions: 0.05
    }
    for (const [night, shares, flags] of [
      [1, few, []],
      [2, { ...few, contacts: 0.6 }, []],
      [3, { ...few, delete: 0.05 }, ["--again=all"]]
    ] as const) {
      await account.service.post("change", { ...shares, seed: night })
      const before = inodes()
      await sync(...flags)
      await run("verify")
      const after = inodes()
      const linked = [...after].filter(([path, inode]) => before.get(path) === inode)
      assert.include(linked.join(" "), "parquet/pipelines/")
      assert.notInclude(linked.join(" "), "csv/contacts.csv")
      const wide = "SELECT * FROM contacts_wide"
      const file = wide.replace("contacts_wide", `read_parquet('${published}/parquet/contacts_wide/*.parquet')`)
      for (const difference of [`(${wide}) EXCEPT ALL (${file})`, `(${file}) EXCEPT ALL (${wide})`])
        assert.deepStrictEqual(await query(join(published, "crm.duckdb"), difference), [])
    }
    assert.isAbove((await query(account.warehouse, "FROM crm.contacts WHERE _deleted_at IS NOT NULL")).length, 0)
  } finally {
    discard(account)
  }
})
