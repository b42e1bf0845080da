/** Where links cannot be made, each release is at the same path: it is another one as soon as its file is. */
import { assert, it } from "@effect/vitest"
import { utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Releases } from "../../src/features/explore/releases.ts"
import { newFolder } from "../support/sluice.ts"

it("a release is opened once, and anew when its file was replaced", async () => {
  const folder = newFolder()
  const file = join(folder, "crm.duckdb")
  writeFileSync(file, "")
  const releases = new Releases(folder, 128)
  try {
    const first = await releases.current()
    assert.strictEqual(await releases.current(), first)
    const later = new Date(Date.now() + 5000)
    utimesSync(file, later, later)
    const second = await releases.current()
    assert.notStrictEqual(second.id, first.id)
    assert.notStrictEqual(second.database, first.database)
    assert.strictEqual(await releases.current(), second)
  } finally {
    releases.close()
  }
})
