/** The same library as Effects: prints when each table was last read completely, and its newest row. */
import { Console, Effect } from "effect"
import { openWarehouse, status } from "sluice/effect"

const freshness = Effect.gen(function* () {
  const { data } = yield* status({ output: "output" })
  for (const { resource, state, completeAt } of data.readings)
    yield* Console.log(`${resource}: ${state}, complete at ${completeAt ?? "no time"}`)
  const warehouse = yield* openWarehouse({ output: "output" })
  const rows = yield* warehouse.query("SELECT max(_synced_at) AS newest FROM crm.contacts")
  yield* Console.log(JSON.stringify(rows))
}).pipe(
  Effect.scoped,
  Effect.catchTag("SluiceError", ({ message, next }) => Console.error(`${message}\nNext: ${next ?? "sluice doctor"}`))
)

await Effect.runPromise(freshness)
