import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { knownTables } from "../../src/features/verify/existing-tables.ts"
import { checkParents } from "../../src/features/verify/rows.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

it.live("a missing parent is an error if its children were requested, and a note if only the service names it", () =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const { resources, familyByTable } = yield* Effect.promise(() => discover())
    const catalogue = {
      resources: resources.filter(({ table }) => ["calendars", "appointments"].includes(table)),
      familyByTable
    }
    yield* prepare(catalogue)
    yield* warehouse.run(
      `INSERT INTO crm.calendars (location_id, id, _synced_at) VALUES ('L', 'here', now());
       INSERT INTO meta.parent_state (location_id, resource, parent_id) VALUES ('L', 'appointments', 'here'), ('L', 'appointments', 'gone');
       INSERT INTO crm.appointments (location_id, id, calendar_id, _synced_at) VALUES
         ('L', 'a', 'here', now()), ('L', 'b', 'gone', now()), ('L', 'c', 'elsewhere', now())`
    )
    const { findings } = yield* checkParents(yield* knownTables(catalogue))
    assert.deepStrictEqual(findings, [
      { level: "wrong", where: "appointments", what: "1 row without a row in calendars, for example b" },
      {
        level: "note",
        where: "appointments",
        what: "1 row without a row in calendars, whose id the service sent in the response for another parent, for example c"
      }
    ])
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
)
