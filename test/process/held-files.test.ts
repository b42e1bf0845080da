/** Work that reads the file of the warehouse while it has it locked: another run must not begin in the middle. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { copyInto } from "../../src/features/backup/copy.ts"
import { searchFolders } from "../../src/features/privacy/erasure/search.ts"
import { freshPath, writeChanged } from "../../src/features/privacy/erasure/warehouse.ts"
import { checksumOf } from "../../src/output/files.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"

const memoryMb = 256

describe("a run is refused while another process works, after this process has", () => {
  let account: Account
  beforeAll(async () => {
    account = await openSynced({ tables: "contacts", flags: ["--contacts", "20"] })
  })
  afterAll(() => discard(account))

  it.live.each([
    ["compared the file", () => Effect.promise(() => checksumOf(account.warehouse))],
    [
      "copied it for a backup",
      () => {
        const target = join(newFolder(), "backup")
        mkdirSync(target)
        return copyInto(target, account.output, ["warehouse.duckdb"], { tool: "", at: "", leftOut: [] })
      }
    ],
    [
      "written it anew for an erasure",
      () =>
        Effect.gen(function* () {
          const catalogue = yield* Effect.promise(() => discover())
          yield* writeChanged(account.warehouse, { customFieldClasses: {}, memoryMb }, catalogue, [])
          rmSync(freshPath(account.warehouse))
        })
    ],
    ["searched it", () => searchFolders(account.output, [], { texts: [], records: [], resources: [] }, () => false)]
  ] as ReadonlyArray<readonly [string, () => Effect.Effect<unknown, unknown, Warehouse>]>)("%s", ([, work]) =>
    Effect.gen(function* () {
      yield* work()
      const sync = yield* Effect.promise(() => start(["sync", ...account.selection], account.environment).ended)
      assert.strictEqual(sync.code, 11, sync.stderr)
    }).pipe(Effect.provide(Warehouse.layer(account.warehouse, { memoryMb, access: "write" })))
  )

  it("and begins when it has ended", async () => {
    const sync = await start(["sync", ...account.selection], account.environment).ended
    assert.strictEqual(sync.code, 0, sync.stderr)
  })
})
