/** Cells of wide tables that do not show their custom value exactly are counted. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { decimalOf } from "../../src/catalog/decimals.ts"
import { discover } from "../../src/catalog/discover.ts"
import { changeVersions } from "../../src/stores/warehouse/meta/content-versions.ts"
import { wideLosses } from "../../src/stores/warehouse/meta/wide-readings.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { newFolder } from "../support/sluice.ts"

const numbers = [
  "12.5",
  "0.1234567",
  "0.12345678",
  "33.333333333333336",
  "0.30000000000000004",
  "10.049999999999999",
  "1.5e2",
  "1e-10",
  "0.1234567000",
  "-1000000.00000001"
]

it.live("counts rounded and empty cells by column, by the rule of the load, and anew with each release", () =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const { resources, familyByTable } = yield* Effect.promise(() => discover())
    const tables = ["contacts", "custom_fields"]
    const catalogue = { resources: resources.filter(({ table }) => tables.includes(table)), familyByTable }
    yield* prepare(catalogue)
    const values = [
      ...numbers.map((text) => ["size", text]),
      ["size", "about 3"],
      ["size", ""],
      ["day", "2026-02-30"],
      ["day", "2026-02-28"],
      ["note", "0.123456789"]
    ]
    yield* warehouse.run(
      `INSERT INTO crm.custom_fields (location_id, id, model, field_key, data_type) VALUES
         ('L', 'size', 'contact', 'contact.size', 'NUMERICAL'), ('L', 'day', 'contact', 'contact.day', 'DATE'), ('L', 'note', 'contact', 'contact.note', 'TEXT')`
    )
    yield* warehouse.run(
      `INSERT INTO crm.contacts (location_id, id) VALUES ${values.map((_, n) => `('L', 'c${n}')`).join(", ")}`
    )
    yield* warehouse.run(
      `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value_text)
       VALUES ${values.map(([field, text], n) => `('L', 'c${n}', ${literal(field)}, ${literal(text)})`).join(", ")}`
    )
    yield* refreshWide(catalogue)
    const rounded = numbers.filter((text) => decimalOf(text)!.rounded)
    assert.deepStrictEqual(rounded, ["0.12345678", "33.333333333333336", "1e-10", "-1000000.00000001"])
    assert.deepStrictEqual(yield* wideLosses(), [
      { table: "contacts_wide", column: "cf_day", rounded: 0, unfit: 1 },
      { table: "contacts_wide", column: "cf_size", rounded: rounded.length, unfit: 1 }
    ])
    // As the load does with every change.
    yield* warehouse.transaction(["DELETE FROM crm.contact_custom_values", ...changeVersions(["contacts"])])
    yield* refreshWide(catalogue)
    assert.deepStrictEqual(yield* wideLosses(), [])
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
)
