/** Custom values that a service sends with the key of their field get its id, also in earlier versions: compared with plain code. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import type { Resource } from "../../src/catalog/resource.ts"
import { type Changes, replaceFieldKeys } from "../../src/stages/load/merge/changes.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

interface Value {
  readonly schema: string
  readonly location: string
  readonly deal: string
  readonly field: string
  readonly from: number
}

const wide = { table: "deal_values", field: "field_id", model: "deal", prefix: "cf_", byKey: true as const }
const deals = { table: "deals", wide } as unknown as Resource
const contacts = { table: "contacts", wide: { ...wide, byKey: undefined } } as unknown as Resource

it.live(
  "a key becomes the id of the field of its location, unless the same version of the row has that one as well",
  () =>
    Effect.gen(function* () {
      yield* prepare({ resources: [], familyByTable: new Map() })
      const warehouse = yield* Warehouse
      yield* warehouse.transaction([
        "CREATE TABLE crm.custom_fields (location_id VARCHAR, id VARCHAR, field_key VARCHAR)",
        "CREATE TABLE crm.deal_values (location_id VARCHAR, deal_id VARCHAR, field_id VARCHAR)",
        "CREATE TABLE crm_history.deal_values (location_id VARCHAR, deal_id VARCHAR, field_id VARCHAR, _valid_from INTEGER)",
        "CREATE TABLE crm.noted (location_id VARCHAR, key VARCHAR)"
      ])
      let replaced = 0
      for (let seed = 1; seed <= 5; seed++) {
        const random = randomFrom(seed)
        // The same key is of another field in each location, and some have no field.
        const fields = ["L", "M"].flatMap((location) =>
          [0, 1, 2, 3].flatMap((n) =>
            random() < 0.2 ? [] : [{ location, id: `id${n}${location}`, key: random() < 0.5 ? `k${n}` : `deal.k${n}` }]
          )
        )
        const values = [
          ["crm", 0],
          ["crm_history", 1],
          ["crm_history", 2]
        ].flatMap(([schema, from]) =>
          ["L", "M"].flatMap((location) =>
            ["d0", "d1"].flatMap((deal) =>
              [0, 1, 2, 3].flatMap((n): ReadonlyArray<Value> => {
                const names = [...(random() < 0.5 ? [`k${n}`] : []), ...(random() < 0.3 ? [`id${n}${location}`] : [])]
                return names.map((field) => ({ schema: String(schema), location, deal, field, from: Number(from) }))
              })
            )
          )
        )
        const row = (texts: ReadonlyArray<string>) => `(${texts.map(literal).join(", ")})`
        const insert = (table: string, rows: ReadonlyArray<string>) =>
          rows.length === 0 ? [] : [`INSERT INTO ${table} VALUES ${rows.join(", ")}`]
        const of = (schema: string) => values.filter((one) => one.schema === schema)
        yield* warehouse.transaction([
          ...["crm.custom_fields", "crm.deal_values", "crm_history.deal_values", "crm.noted"].map(
            (table) => `DELETE FROM ${table}`
          ),
          ...insert(
            "crm.custom_fields",
            fields.map((one) => row([one.location, one.id, one.key]))
          ),
          ...insert(
            "crm.deal_values",
            of("crm").map((one) => row([one.location, one.deal, one.field]))
          ),
          ...insert(
            "crm_history.deal_values",
            of("crm_history").map((one) => `('${one.location}', '${one.deal}', '${one.field}', ${one.from})`)
          )
        ])
        const stored = Effect.fnUntraced(function* () {
          const rows = yield* warehouse.rows(
            `SELECT 'crm' AS s, location_id AS l, deal_id AS d, field_id AS f, 0 AS v FROM crm.deal_values
           UNION ALL SELECT 'crm_history', * FROM crm_history.deal_values`
          )
          return rows.map(({ d, f, l, s, v }) => [s, l, d, v, f].map(String).join(" ")).toSorted()
        })
        const textOf = ({ deal, field, from, location, schema }: Value) =>
          [schema, location, deal, from, field].join(" ")
        const changes = {
          ofRows: (table: string, keys: string) => {
            assert.strictEqual(table, "deals")
            return [`INSERT INTO crm.noted FROM ${keys}`]
          }
        } as unknown as Changes
        const replace = (resources: ReadonlyArray<Resource>, ...loaded: ReadonlyArray<string>) =>
          warehouse.transaction((tx) => replaceFieldKeys(tx, resources, changes, new Set(loaded)))
        // Nothing is looked up before its tables have come, or of values that have ids already.
        yield* replace([deals], "notes")
        yield* replace([contacts], "contacts", "custom_fields")
        assert.deepStrictEqual(yield* stored(), values.map(textOf).toSorted(), `seed ${seed}`)

        yield* replace([contacts, deals], seed % 2 === 0 ? "deals" : "custom_fields")
        const idOf = (one: Value): string => {
          if (fields.some(({ id }) => id === one.field)) return one.field
          const id = fields.find(
            ({ key, location }) => location === one.location && (key === one.field || key === `deal.${one.field}`)
          )?.id
          const { field: _, ...version } = one
          const isTaken = values.some(
            ({ field, ...other }) => field === id && JSON.stringify(other) === JSON.stringify(version)
          )
          return id === undefined || isTaken ? one.field : id
        }
        const expected = values.map((one) => ({ ...one, field: idOf(one) }))
        assert.deepStrictEqual(yield* stored(), expected.map(textOf).toSorted(), `seed ${seed}`)
        const changed = values.filter((one, n) => one.field !== expected[n]!.field)
        replaced += changed.length
        const noted = yield* warehouse.rows("SELECT DISTINCT location_id || ' ' || key AS key FROM crm.noted")
        assert.sameMembers(
          noted.map(({ key }) => String(key)),
          [...new Set(changed.map(({ deal, location }) => `${location} ${deal}`))]
        )
      }
      assert.isAbove(replaced, 10)
    }).pipe(
      Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128 })))
    )
)
