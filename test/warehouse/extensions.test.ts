/** Extensions of DuckDB in a process that opens one database after another. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyFileSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { lakeExtensions } from "../support/extensions.ts"
import { python } from "../support/python.ts"

const name = "ducklake.duckdb_extension"
const whole = () => join(lakeExtensions(python!), name)

describe.skipIf(python === undefined)("the extensions of a database", { tags: ["slow"] }, () => {
  it.effect("are loaded without another check of the same file, and never if a file has no valid signature", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "sluice-extensions-"))
      const path = join(folder, name)
      const load = (warehouse: string, extension = path) =>
        Effect.flatMap(Warehouse, (opened) => Effect.result(opened.loadExtension(extension))).pipe(
          Effect.map((result) => (result._tag === "Success" ? "loaded" : result.failure.message)),
          Effect.provide(Warehouse.layer(join(folder, warehouse), { access: "write", memoryMb: 128 }))
        )
      copyFileSync(whole(), path)
      assert.strictEqual(yield* load("first.duckdb"), "loaded")
      assert.strictEqual(yield* load("second.duckdb"), "loaded")

      const changed = readFileSync(path)
      changed[changed.length >> 1]! ^= 1
      writeFileSync(join(folder, `other.${name}`), changed)
      assert.match(yield* load("third.duckdb", join(folder, `other.${name}`)), /signature/)
      // A library in use is replaced by another file, as an installer does: writing into it would crash this process.
      renameSync(join(folder, `other.${name}`), path)
      assert.match(yield* load("fourth.duckdb"), /signature/)
      assert.match(yield* load("fifth.duckdb", join(folder, "absent", name)), /not found/)
    })
  )
})

describe("a file that is no extension", () => {
  it.effect("is not loaded", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "sluice-extensions-"))
      const path = join(folder, name)
      writeFileSync(path, "not an extension")
      const refused = yield* Effect.flatMap(Warehouse, (opened) => Effect.flip(opened.loadExtension(path))).pipe(
        Effect.provide(Warehouse.layer(join(folder, "one.duckdb"), { access: "write", memoryMb: 128 }))
      )
      assert.include(refused.message, path)
    })
  )
})
