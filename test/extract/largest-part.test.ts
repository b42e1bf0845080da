/** The largest part that works: further pages of one timestamp, a smaller page, a request without what the service rejects. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cursorOr, get, size, windowEnd, windowStart } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { randomFrom } from "../support/random.ts"
import { after, begin, items, listOf, page, paged, reading, windowed } from "./service.ts"

const day = 86_400_000
const numbered: Strategy = {
  ...windowed,
  request: get("/items", { limit: size, page: cursorOr(1), from: windowStart("epochMs"), to: windowEnd("epochMs") }),
  paging: { kind: "pageNumber", first: 1 },
  pageSize: 500,
  maxRecords: 10_000
}

describe("records of one timestamp", () => {
  it.effect("are read as far as the pages reach, and the rest is said to be missing", () =>
    Effect.gen(function* () {
      const all = items(10_300, () => 0)
      const { seen, status } = yield* reading(listOf([numbered]), ({ from, limit, page: number, to }) => {
        const within = all.filter(({ at }) => at >= Number(from) && at < Number(to))
        const skip = (Number(number) - 1) * Number(limit)
        return { items: page(within, { skip, limit }), total: within.length }
      })
      assert.deepStrictEqual([seen.size, status], [10_000, "incomplete"])
    })
  )
})

describe("a page that the service rejects without a reason", () => {
  it.effect.each(["Bad Request", "", "invalid", "unbekannter Fehler"])("is requested smaller: %s", (rejection) =>
    Effect.gen(function* () {
      const all = items(700)
      const { capabilities, requests, seen, status } = yield* reading(
        listOf([{ ...paged, pageSize: 500 }]),
        (parameters) => (Number(parameters["limit"]) > 100 ? { rejection } : { items: page(all, parameters) })
      )
      assert.deepStrictEqual([seen.size, status], [700, "complete"])
      assert.deepInclude(capabilities!.sizes, { "GET /items": 100 })
      assert.isAtMost(requests, 10)
    })
  )

  it.effect("however small it is leaves no smaller size behind", () =>
    Effect.gen(function* () {
      const { requests, status } = yield* reading(listOf([{ ...paged, pageSize: 500 }]), () => ({ rejection: "no" }))
      assert.deepStrictEqual([requests, status], [2, "rejected"])
    })
  )
})

it.effect("a request that names no size is not sent again for a smaller page", () =>
  Effect.gen(function* () {
    const unsized: Strategy = { ...paged, request: get("/items", { skip: cursorOr(0) }), pageSize: 500 }
    const { requests, status } = yield* reading(listOf([unsized]), () => ({ rejection: "at most 404" }))
    assert.deepStrictEqual([requests, status], [1, "rejected"])
  })
)

describe("a period that the service rejects", () => {
  it.effect.each(["too long", "Bad Request"])("is tried with a day, and then in parts: %s", (rejection) =>
    Effect.gen(function* () {
      const draw = randomFrom(9)
      const now = Date.parse("2026-06-01T00:00:00Z")
      for (let round = 0; round < 6; round++) {
        // Of all years, and of each of the last days, up to two days ahead.
        const all = items(80, (n) => (n < 30 ? now + (2 - n - draw()) * day : now - draw() * 26 * 365 * day) - begin)
        const longest = (2 + draw() * 400) * day
        const { seen, status } = yield* reading(listOf([numbered]), ({ from, limit, page: number, to }) => {
          if (Number(to) - Number(from) > longest) return { rejection }
          const within = all.filter(({ at }) => at >= Number(from) && at < Number(to))
          return { items: page(within, { skip: (Number(number) - 1) * Number(limit), limit }), total: within.length }
        })
        assert.deepStrictEqual([seen.size, status], [80, "complete"], `${longest / day} days`)
      }
    })
  )

  it.effect("of any length costs two requests", () =>
    Effect.gen(function* () {
      const { requests } = yield* reading(listOf([{ ...numbered, pageSize: 100 }]), () => ({ rejection: "no dates" }))
      assert.strictEqual(requests, 2)
    })
  )
})

describe("a parameter that the service rejects", () => {
  const optional = (name: string): Strategy => ({
    ...after,
    request: get("/items", { limit: size, after: cursorOr(0), [name]: "x" })
  })
  it.effect.each(["altType", "expand", "model"])("%s is left out, remembered and reported once", (name) =>
    Effect.gen(function* () {
      const answer = (parameters: Readonly<Record<string, unknown>>) =>
        name in parameters ? { rejection: `property ${name} should not exist` } : { items: items(3), total: 3 }
      const first = yield* reading(listOf([optional(name)]), answer)
      assert.deepStrictEqual([first.seen.size, first.requests], [3, 2])
      assert.match(first.warnings, new RegExp(`rejects the parameter ${name}`))
      const next = yield* reading(listOf([optional(name)]), answer, { reading: { capabilities: first.capabilities! } })
      assert.deepStrictEqual([next.seen.size, next.requests, next.warnings], [3, 1, ""])
    })
  )

  it.effect("is none that the list needs, and none that it does not name", () =>
    Effect.gen(function* () {
      for (const rejection of ["limit should not exist", "after should not exist", "altTypes should not exist"]) {
        const { requests, status } = yield* reading(listOf([optional("altType")]), () => ({ rejection }))
        assert.deepStrictEqual([requests, status], [1, "rejected"], rejection)
      }
    })
  )
})
