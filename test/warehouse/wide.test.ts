import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { newFolder } from "../support/sluice.ts"

const layer = () => Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })

it.live("a column is named by the field's key once it has one, and before by the field's name or id", () =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const { resources, familyByTable } = yield* Effect.promise(() => discover())
    const tables = ["contacts", "custom_fields"]
    const catalogue = { resources: resources.filter(({ table }) => tables.includes(table)), familyByTable }
    const columns = Effect.gen(function* () {
      yield* refreshWide(catalogue)
      const rows = yield* warehouse.rows("DESCRIBE crm.contacts_wide")
      return rows.map((row) => String(row["column_name"])).filter((column) => column.startsWith("cf_"))
    })
    const define = (id: string, set: string) => warehouse.run(`UPDATE crm.custom_fields SET ${set} WHERE id = '${id}'`)

    yield* prepare(catalogue)
    yield* warehouse.run("INSERT INTO crm.contacts (location_id, id) VALUES ('L', 'c')")
    yield* warehouse.run(
      `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value_text)
       VALUES ('L', 'c', '2qKXoou', 'brick'), ('L', 'c', 'z', 'other')`
    )
    assert.deepStrictEqual(yield* columns, ["cf_2q_k_xoou", "cf_z"])

    yield* warehouse.run(
      `INSERT INTO crm.custom_fields (location_id, id, model, position, document_type) VALUES
         ('L', '2qKXoou', 'contact', 1, NULL), ('L', 'folder', 'contact', 2, 'folder')`
    )
    yield* define("2qKXoou", "name = 'House history'")
    assert.deepStrictEqual(yield* columns, ["cf_house_history", "cf_z"])
    yield* define("2qKXoou", "name = 'History'")
    assert.deepStrictEqual(yield* columns, ["cf_history", "cf_z"])
    yield* define("2qKXoou", "field_key = 'contact.house_history'")
    assert.deepStrictEqual(yield* columns, ["cf_house_history", "cf_z"])
    // After that, the name of the column does not change.
    yield* define("2qKXoou", "name = 'Past', field_key = 'contact.past'")
    assert.deepStrictEqual(yield* columns, ["cf_house_history", "cf_z"])

    // A name that an earlier version stored.
    yield* warehouse.run("UPDATE meta.wide_columns SET column_name = 'cf_2q_k_xoou'")
    assert.deepStrictEqual(yield* columns, ["cf_past", "cf_z"])
    assert.deepStrictEqual(yield* warehouse.rows("SELECT field, column_name FROM meta.wide_columns"), [
      { field: "2qKXoou", column_name: "cf_past" }
    ])
  }).pipe(Effect.provide(layer()))
)

it.live(
  "the columns have one order, also after a field got another column: a refresh without changes changes nothing",
  () =>
    Effect.gen(function* () {
      const warehouse = yield* Warehouse
      const { resources, familyByTable } = yield* Effect.promise(() => discover())
      const tables = ["contacts", "custom_fields"]
      const catalogue = { resources: resources.filter(({ table }) => tables.includes(table)), familyByTable }
      yield* prepare(catalogue)
      yield* warehouse.transaction([
        `INSERT INTO crm.custom_fields (location_id, id, model, data_type, field_key)
       SELECT l, f, 'contact', 'NUMERICAL', 'contact.' || f FROM unnest(['L', 'M']) AS a(l), unnest(['one', 'two']) AS b(f)`,
        "INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id) VALUES ('L', 'c', 'undefined')"
      ])
      const definition = Effect.map(refreshWide(catalogue), (views) => views.map((view) => view.statement("crm")))
      const once = yield* definition
      assert.deepStrictEqual(yield* definition, once)
      yield* warehouse.transaction([
        "UPDATE crm.custom_fields SET data_type = 'TEXT' WHERE location_id = 'M' AND id = 'one'",
        "INSERT INTO crm.custom_fields (location_id, id, model, field_key) VALUES ('M', 'new', 'contact', 'contact.new')"
      ])
      const changed = yield* definition
      assert.notDeepEqual(changed, once)
      assert.deepStrictEqual(yield* definition, changed)
    }).pipe(Effect.provide(layer()))
)
