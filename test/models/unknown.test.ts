/** What has a state that the models do not know is in no figure, and is counted where people look. */
import { assert, it } from "vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { unknownStates } from "../../src/stores/warehouse/meta/unknown-states.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { releaseOf } from "./release.ts"

it("is counted with its amount in each currency, in the release and for check", async () => {
  const payment = (id: string, status: string | null, currency: string, amount: number) =>
    `INSERT INTO crm.transactions (location_id, id, status, currency, amount, created_at)
     VALUES ('l', '${id}', ${status === null ? "NULL" : `'${status}'`}, '${currency}', ${amount}, now())`
  const { ask, folder, problems } = await releaseOf([
    "INSERT INTO crm.locations (location_id, id) VALUES ('l', 'l')",
    payment("a", "succeeded", "USD", 5),
    payment("b", "on_hold", "usd", 100),
    payment("c", "On_Hold", "EUR", 7),
    payment("d", "frozen", "USD", 20),
    payment("e", null, "USD", 3)
  ])
  assert.deepStrictEqual(problems, [])
  assert.deepStrictEqual(await ask("SELECT sum(value)::INT AS revenue FROM bi.fct_revenue"), [{ revenue: 5 }])
  assert.deepStrictEqual(
    await ask("SELECT state, currency, amount::INT AS amount FROM bi.mart_unknown_state ORDER BY amount"),
    [
      { state: null, currency: "USD", amount: 3 },
      { state: "On_Hold", currency: "EUR", amount: 7 },
      { state: "frozen", currency: "USD", amount: 20 },
      { state: "on_hold", currency: "USD", amount: 100 }
    ]
  )
  const layer = Warehouse.layer(join(folder, "..", "warehouse.duckdb"), { access: "read", memoryMb: 128 })
  assert.deepStrictEqual(await Effect.runPromise(Effect.provide(unknownStates(), layer)), [
    { fact: "fct_payment", records: 3, worth: "EUR 7.00 and USD 120.00" }
  ])
})
