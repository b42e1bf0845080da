/** One record with which every page fails: it alone is missing, and it is said. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cursorOr, get, size } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { after, items, listOf, page, paged, reading } from "./service.ts"

const numbered: Strategy = {
  ...paged,
  request: get("/items", { limit: size, page: cursorOr(1) }),
  paging: { kind: "pageNumber", first: 1 }
}
const all = items(330)

const answering =
  (bad: ReadonlySet<string>, strategies: ReadonlyArray<Strategy>) =>
  (parameters: Readonly<Record<string, unknown>>) => {
    const { limit, page: number, skip, after: cursor } = parameters
    const isAfter = strategies.length > 1 && number === undefined
    const start = isAfter ? Number(cursor ?? 0) : Number(skip ?? (Number(number ?? 1) - 1) * Number(limit))
    const found = page(all, { skip: start, limit })
    if (found.some(({ id }) => bad.has(id))) return { outage: "500 cannot be serialised" }
    const records = isAfter ? found.map((one, n) => ({ ...one, next: start + n + 1 })) : found
    return { items: records, total: all.length }
  }

describe("a record with which every page fails", () => {
  it.effect.each<readonly [string, ReadonlyArray<Strategy>]>([
    ["positions", [paged]],
    ["page numbers", [numbered]],
    ["cursors, and then page numbers", [after, numbered]]
  ])("is the only one that is missing from a list by %s, wherever it stands", ([, strategies]) =>
    Effect.gen(function* () {
      for (const place of [0, 1, 57, 99, 100, 213, 328, 329]) {
        // A list by cursors whose first record breaks it looks like a route that does not answer.
        if (place === 0 && strategies.length > 1) continue
        const { requests, seen, status, warnings } = yield* reading(
          listOf(strategies),
          answering(new Set([`i${place}`]), strategies)
        )
        assert.deepStrictEqual([seen.size, seen.has(`i${place}`), status], [329, false, "incomplete"], String(place))
        assert.match(warnings, /1 record could not be read/)
        assert.isAtMost(requests, 80)
      }
    })
  )

  it.effect("may be one of a few, and all others are read", () =>
    Effect.gen(function* () {
      const bad = new Set(["i7", "i8", "i150", "i329"])
      const { seen, warnings } = yield* reading(listOf([numbered]), answering(bad, [numbered]))
      assert.strictEqual(seen.size, 326)
      assert.match(warnings, /4 records could not be read/)
    })
  )

  it.effect("is none if no page is answered at all", () =>
    Effect.gen(function* () {
      const { requests, status } = yield* reading(listOf([numbered]), () => ({ outage: "503" }))
      assert.strictEqual(status, "rejected")
      assert.isAtMost(requests, 12)
    })
  )
})
