/** The counts of the profile aggregate, for planted rows. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { aggregateTables, impersonal } from "../../src/stages/publish/masking/aggregates.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

/** The rows of a table of counts, as text. */
const counts = (table: string, planted: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const catalogue = yield* Effect.promise(() => discover())
    yield* prepare(catalogue)
    const warehouse = yield* Warehouse
    for (const statement of planted) yield* warehouse.run(statement)
    const found = aggregateTables(catalogue).find(({ published }) => published.name === table)!
    const rows = yield* warehouse.rows(found.copied[0]!.select)
    return rows.map((row) => Object.values(row).slice(1).map(String).join(" "))
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))

const contacts = (month: string, source: string, count: number, more = "NULL") =>
  `INSERT INTO crm.contacts (location_id, id, date_added, source, type, _deleted_at)
   SELECT 'l', '${month}-${source}-' || i, TIMESTAMPTZ '${month}-10 12:00:00+00', '${source}', 'lead', ${more} FROM range(${count}) AS r(i)`

it.effect("groups of fewer than 5 contacts are part of a row other, or left out", () =>
  Effect.gen(function* () {
    const rows = yield* counts("contacts_by_month", [
      contacts("2026-01", "web", 6),
      contacts("2026-01", "fair", 4),
      contacts("2026-01", "fax", 1),
      contacts("2026-02", "web", 5),
      contacts("2026-02", "fair", 4),
      contacts("2026-03", "web", 4),
      contacts("2026-04", "web", 4),
      contacts("2026-04", "deleted", 4, "now()")
    ])
    assert.deepStrictEqual(rows, ["2026-01-01 other other 5", "2026-01-01 web lead 6", "2026-02-01 web lead 5"])
  })
)

it.effect("many rows of few contacts are a small group", () =>
  Effect.gen(function* () {
    const payments = (status: string, contact: string, count: number, more = "true") =>
      `INSERT INTO crm.transactions (location_id, id, created_at, currency, status, contact_id, amount, live_mode)
       SELECT 'l', '${status}' || i, TIMESTAMPTZ '2026-01-31 23:00:00+00', 'EUR', '${status}', ${contact}, 1.5, ${more} FROM range(${count}) AS r(i)`
    const rows = yield* counts("payments_by_month", [
      payments("succeeded", "'c' || (i % 5)", 20),
      payments("failed", "'c' || (i % 4)", 20),
      payments("refunded", "NULL", 20),
      payments("test", "'c' || i", 20, "false")
    ])
    assert.deepStrictEqual(rows, ["2026-01-01 EUR other 40 60.0000000", "2026-01-01 EUR succeeded 20 30.0000000"])
  })
)

it("no table that is shown refers to a contact, a user or a table that does", async () => {
  const { resources } = await discover()
  const shown = new Set(impersonal(resources).flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  assert.includeMembers([...shown], ["pipelines", "custom_fields", "funnels"])
  for (const resource of resources)
    for (const { name, columns } of tablesOf(resource).filter((table) => shown.has(table.name)))
      for (const { name: column, personal, references } of columns) {
        if (column === "_extra" || column === "location_id") continue
        assert.notInclude(["direct", "sensitive"], personal, `${name}.${column}`)
        assert.isTrue(references === undefined || shown.has(references), `${name}.${column}`)
      }
})
