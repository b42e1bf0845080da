/** A table that differs from the release is wrong unless a run has changed it since: every combination of what is known of it. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { checkWarehouseContent } from "../../src/features/verify/contents.ts"
import { knownTables } from "../../src/features/verify/existing-tables.ts"
import type { Manifest } from "../../src/output/manifest.ts"
import { versionOf } from "../../src/stages/publish/changes.ts"
import { columnsOf } from "../../src/stores/warehouse/columns.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { contentOf } from "../support/content.ts"
import { newFolder } from "../support/sluice.ts"

const things = defineList({
  table: "things",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
  fields: { id: id("Id"), name: text("Name") }
})
const catalogue = { resources: [things], familyByTable: new Map<string, string>() }
const either = [false, true]

it.live("a difference is explained by a later run alone, and not after a publish that has shown it", () =>
  Effect.gen(function* () {
    const { run, transaction } = yield* Warehouse
    yield* prepare(catalogue)
    yield* run("INSERT INTO crm.things (location_id, id, name) VALUES ('L', 'a', 'one')")
    const contents = yield* Effect.forEach(["crm", "crm_history"] as const, (schema) =>
      Effect.gen(function* () {
        const columns = yield* columnsOf(`${schema}.things`)
        const { rows, sum } = yield* contentOf(`${schema}.things`, columns)
        return {
          schema,
          table: "things",
          rows,
          sum,
          columns: Object.fromEntries(columns.map((one) => [one.name, one.type]))
        }
      })
    )
    const known = yield* knownTables(catalogue)
    const levelsAfter = Effect.fnUntraced(function* (state: Manifest["state"], isPublished: boolean) {
      const manifest = { run: "r1", files: [], tables: contents, ...(state && { state }) } as unknown as Manifest
      const { findings } = yield* checkWarehouseContent(known, manifest, isPublished)
      return findings.map(({ level, where }) => `${level} ${where}`).join()
    })
    const stateOf = (version: string): Manifest["state"] =>
      ({ versions: { things: versionOf(version) } }) as unknown as Manifest["state"]
    assert.strictEqual(yield* levelsAfter(stateOf("v1"), true), "", "it is as it was published")

    yield* run("UPDATE crm.things SET name = 'changed'")
    for (const isPublished of either)
      for (const isLater of either)
        for (const isShown of either) {
          yield* transaction([
            "DELETE FROM meta.run_resources",
            `INSERT INTO meta.run_resources (run_id, location_id, resource, changed_rows) VALUES ('${isLater ? "r2" : "r1"}', 'L', 'things', 1)`,
            `UPDATE meta.content_versions SET version = 'v2', base = '${isShown ? "v2" : "v1"}' WHERE resource = 'things'`
          ])
          const known = JSON.stringify({ isPublished, isLater, isShown })
          const wrong = "wrong crm.things"
          const note = "note published"
          assert.strictEqual(yield* levelsAfter(stateOf("v2"), isPublished), wrong, `${known}, same version`)
          const isExplained = !(isPublished && isLater && isShown)
          assert.strictEqual(yield* levelsAfter(stateOf("v1"), isPublished), isExplained ? note : wrong, known)
          // A release of an earlier version has no versions of its tables.
          assert.strictEqual(yield* levelsAfter(undefined, isPublished), isLater ? note : wrong, `${known}, earlier`)
        }
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
)
