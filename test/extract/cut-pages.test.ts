/** Lists without a total whose pages the service cuts below the requested size are read to their end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { items, listOf, page, paged, reading } from "./service.ts"

describe("a list without a total whose pages are cut", () => {
  for (const cut of [10, 33, 57, 99])
    it.effect(`to ${cut} records is read to its end`, () =>
      Effect.gen(function* () {
        const { seen } = yield* reading(listOf([paged]), (parameters) => ({ items: page(items(240), parameters, cut) }))
        assert.strictEqual(seen.size, 240)
      })
    )

  it.effect("to lengths that differ from page to page is read to its end", () =>
    Effect.gen(function* () {
      const { seen } = yield* reading(listOf([paged]), (parameters, n) => ({
        items: page(items(240), parameters, [41, 17, 29][n % 3])
      }))
      assert.strictEqual(seen.size, 240)
    })
  )

  it.effect("to a few records is read to its end if another list was cut to that length", () =>
    Effect.gen(function* () {
      const few = { pageSize: 100 }
      const cuts = new Set<number>()
      const counted = yield* reading(
        listOf([{ ...paged, ...few, total: "total" }]),
        (parameters) => ({ items: page(items(20), parameters, 7), total: 20 }),
        { cuts }
      )
      assert.strictEqual(counted.seen.size, 20)
      const { seen } = yield* reading(listOf([paged]), (parameters) => ({ items: page(items(20), parameters, 7) }), {
        cuts
      })
      assert.strictEqual(seen.size, 20)
    })
  )

  it.effect("to one record for a while is read to its end, and with whole pages afterwards", () =>
    Effect.gen(function* () {
      const counted = listOf([{ ...paged, total: "total" }])
      const broken = yield* reading(counted, (parameters) => ({ items: page(items(12), parameters, 1), total: 12 }))
      assert.strictEqual(broken.seen.size, 12)
      const { capabilities } = broken
      const well = yield* reading(counted, (parameters) => ({ items: page(items(12), parameters), total: 12 }), {
        reading: { ...(capabilities && { capabilities }) }
      })
      assert.strictEqual(well.seen.size, 12)
      assert.strictEqual(well.requests, 1)
    })
  )

  it.effect(
    "ends with an empty page after a short one, since nobody counts its records and no account has shown it",
    () =>
      Effect.gen(function* () {
        const asked = (more: object) =>
          reading({ ...listOf([paged]), ...more }, (parameters) => ({ items: page(items(7), parameters) }))
        assert.strictEqual((yield* asked({ unproven: true })).requests, 2)
        assert.strictEqual((yield* asked({})).requests, 1, "accounts have shown how long its pages are")
      })
  )

  it.effect("ends or continues according to the `more` flag of the service", () =>
    Effect.gen(function* () {
      const flagged = listOf([{ ...paged, more: "more" }])
      const list = items(60)
      const { seen, requests } = yield* reading(flagged, (parameters) => ({
        items: page(list, parameters, 20),
        more: Number(parameters["skip"] ?? 0) + 20 < 60
      }))
      assert.strictEqual(seen.size, 60)
      assert.strictEqual(requests, 3)
    })
  )
})
