/** The state of several readings is stored by one statement, as if it were stored after each of them. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { type CompleteReading, advanceWatermarks, watermarksOf } from "../../src/stores/warehouse/meta/watermarks.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const second = 1000

it.live("watermarks are the same for readings that are stored together and one by one", () => {
  const random = randomFrom(3)
  const maybe = <A>(value: A): A | undefined => (random() < 0.5 ? value : undefined)
  const readings = Array.from({ length: 60 }, (_, n): CompleteReading => ({
    location: random() < 0.5 ? "L1" : "L2",
    resource: `list ${Math.floor(random() * 4)}`,
    at: n * second,
    isFull: random() < 0.5,
    // Not in the order of the readings: a run may find fewer new records than the run before.
    watermark: maybe(Math.floor(random() * 60) * second),
    total: maybe(n),
    requests: n,
    capabilities: maybe({ ...noCapabilities, sizes: { list: n } })
  }))
  const stored = (batches: ReadonlyArray<ReadonlyArray<CompleteReading>>) =>
    Effect.gen(function* () {
      yield* prepare({ resources: [], familyByTable: new Map() })
      const warehouse = yield* Warehouse
      for (const batch of batches) yield* warehouse.transaction(advanceWatermarks(batch))
      const requests = yield* warehouse.rows("SELECT location_id, resource, requests FROM meta.watermarks ORDER BY ALL")
      return [yield* watermarksOf("L1"), yield* watermarksOf("L2"), requests]
    }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))
  return Effect.gen(function* () {
    const oneByOne = yield* stored(readings.map((reading) => [reading]))
    const [first] = oneByOne as [ReadonlyMap<string, unknown>]
    assert.strictEqual(first.size, 4)
    assert.deepStrictEqual(yield* stored([readings]), oneByOne)
    assert.deepStrictEqual(yield* stored([[], readings.slice(0, 20), readings.slice(20)]), oneByOne)
  })
})
