/** A service that ends, cuts, counts or repeats its pages in unusual empties: every reading ends with the right status. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cursor, cursorOr, get, since, size, windowEnd, windowStart } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import {
  type Answer,
  type Item,
  type Parameters,
  after,
  begin,
  items,
  listOf,
  page,
  paged,
  reading,
  windowed
} from "./service.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"

describe("a response that is too large", () => {
  const shown = items(300)
  const pageFrom = ({ skip, limit }: Parameters) => shown.slice(Number(skip ?? 0), Number(skip ?? 0) + Number(limit))
  const withLimit = (most: number) => (parameters: Parameters) =>
    Number(parameters["limit"]) > most ? { tooLarge: true } : { items: pageFrom(parameters), total: 300 }

  it.effect("is requested again with a quarter of the records until it fits", () =>
    Effect.gen(function* () {
      const { status, seen, requests } = yield* reading(listOf([{ ...paged, total: "total" }]), withLimit(30))
      assert.strictEqual(status, "complete")
      assert.strictEqual(seen.size, 300)
      assert.isAtMost(requests, 2 + Math.ceil(300 / 25) + 1)
    })
  )

  it.effect("is refused if a single record is too large", () =>
    Effect.gen(function* () {
      const { status, requests } = yield* reading(listOf([{ ...paged, total: "total" }]), withLimit(0))
      assert.strictEqual(status, "rejected")
      assert.strictEqual(requests, 4)
    })
  )
})

describe("a list without an end", () => {
  const shown = items(200)
  const [first, second] = [shown.slice(0, 100), shown.slice(100)]
  /** Pages whose cursors form a cycle. */
  const cycle =
    (length: number, more: Answer = {}) =>
    (parameters: Parameters) => {
      const n = Number(parameters["after"] ?? 0)
      return { items: first.map((item) => ({ ...item, id: `${item.id}-${n}`, next: (n + 1) % length })), ...more }
    }
  const endless: ReadonlyArray<
    readonly [name: string, strategy: Strategy, answer: (parameters: Parameters, n: number) => Answer]
  > = [
    ["two alternating cursors", after, cycle(2, { total: 900 })],
    ["two alternating cursors, without a total", after, cycle(2)],
    ["a cycle of seven pages", after, cycle(7)],
    [
      "two alternating responses, whatever the request",
      after,
      (_, n) => ({ items: (n % 2 ? first : second).map((item) => ({ ...item, next: n })), total: 900 })
    ],
    ["an ignored offset", paged, () => ({ items: first })],
    [
      "an offset list that always grows",
      { ...paged, total: "total" },
      ({ skip }) => ({ items: items(Number(skip ?? 0) + 100).slice(-100), total: 5 })
    ],
    [
      "an export whose cursor does not advance",
      { ...after, paging: { kind: "expiring", field: "nextCursor" } },
      () => ({ items: first, nextCursor: "same" })
    ]
  ]
  for (const [name, strategy, answer] of endless)
    it.effect(`is abandoned: ${name}`, () =>
      Effect.gen(function* () {
        const { status, requests } = yield* reading(listOf([strategy]), answer)
        assert.strictEqual(status, "rejected")
        assert.isBelow(requests, 50)
      })
    )

  it.effect("is abandoned if the service ignores time windows, in the records or in the total", () =>
    Effect.gen(function* () {
      const ignored = yield* reading(listOf([{ ...windowed, verifyField: "at" }]), ({ limit }) => ({
        items: items(20_000, (n) => n * 600_000).slice(0, Number(limit)),
        total: 20_000
      }))
      assert.match(ignored.warnings, /ignores the filter on at/)
      const wrongTotal = yield* reading(listOf([windowed]), () => ({ items: items(3), total: 1e15 }))
      assert.match(wrongTotal.warnings, /counts the same records in every time window/)
      assert.isBelow(Math.max(ignored.requests, wrongTotal.requests), 100)
    })
  )
})

describe("a total that does not count all records", () => {
  it.effect("because it stops at 10,000, or counts the page, does not end a list", () =>
    Effect.gen(function* () {
      const list = items(26_000, (n) => n).map((item, n) => ({ ...item, next: n + 1 }))
      for (const totalOf of [() => 10_000, (shown: number) => shown]) {
        const { seen, status, warnings } = yield* reading(listOf([after]), ({ after: from }) => {
          const shown = list.slice(Number(from ?? 0), Number(from ?? 0) + 100)
          return { items: shown, total: totalOf(shown.length) }
        })
        assert.strictEqual(seen.size, list.length)
        assert.strictEqual(status, "complete", warnings)
      }
    })
  )

  it.effect("because it stops at 10,000, does not stop the splitting of time windows", () =>
    Effect.gen(function* () {
      const list = items(26_000, (n) => n * 60_000)
      const { seen, status, warnings } = yield* reading(listOf([windowed]), ({ from, to, limit }) => {
        const inside = list.filter(({ at }) => at >= Number(from) && at < Number(to))
        return { items: page(inside, { limit }), total: Math.min(inside.length, 10_000) }
      })
      assert.strictEqual(seen.size, list.length)
      assert.strictEqual(status, "complete", warnings)
    })
  )
})

describe("a service that limits pages to fewer records than requested", () => {
  it.effect("and whose total counts the page, is read to its end", () =>
    Effect.gen(function* () {
      const list = items(420)
      const { seen, status } = yield* reading(
        listOf([{ ...paged, pageSize: 500, total: "total" }]),
        ({ skip, limit }) => {
          const from = Number(skip ?? 0)
          return { items: list.slice(from, from + Math.min(100, Number(limit))), total: 100 }
        }
      )
      assert.strictEqual(seen.size, list.length)
      assert.strictEqual(status, "complete")
    })
  )
})

describe("a page with one record twice", () => {
  it.effect("is complete with a warning if the copies differ, and without one if they do not", () =>
    Effect.gen(function* () {
      const [one, two] = items(2)
      const statusOf = (copy: Item) =>
        Effect.map(
          reading(listOf([paged]), () => ({ items: [one!, two!, copy] })),
          ({ status }) => status
        )
      assert.strictEqual(yield* statusOf(one!), "complete")
      assert.strictEqual(yield* statusOf({ ...one!, name: "another" }), "complete_with_warnings")
    })
  )
})

describe("a page that repeats once", () => {
  it.effect("is requested again, and reading continues", () =>
    Effect.gen(function* () {
      const list = items(1200).map((item, n) => ({ ...item, next: n }))
      const { status, seen } = yield* reading(listOf([after]), ({ after: from }, n) => {
        const start = n === 3 ? 0 : from === undefined ? 0 : Number(from) + 1
        return { items: list.slice(start, start + 100), total: 1200 }
      })
      assert.strictEqual(seen.size, 1200)
      assert.strictEqual(status, "complete")
    })
  )
})

describe("a list that returns fewer records than the service counts", () => {
  const short = (shown: number, total: number) =>
    reading(listOf([{ ...paged, total: "total" }]), (parameters) => ({ items: page(items(shown), parameters), total }))

  it.effect(
    "is incomplete if more than a page or 1 % is missing, and the next reading starts over",
    () =>
      Effect.gen(function* () {
        const { status, finished, warnings } = yield* short(420, 450)
        assert.deepStrictEqual([status, finished], ["incomplete", true])
        assert.match(warnings, /the service counts 450 records, and 420 were read/)
        assert.strictEqual((yield* short(9, 10)).status, "incomplete")
        assert.strictEqual((yield* short(20_000 - 101, 20_000)).status, "incomplete")
      }),
    { tags: ["slow"] }
  )

  it.effect("is complete with warnings if concurrent changes may explain the difference", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* short(990, 1000)).status, "complete_with_warnings")
      assert.strictEqual((yield* short(1000, 1000)).status, "complete")
    })
  )

  it.effect("by time windows: a page shorter than requested does not end its window", () =>
    Effect.gen(function* () {
      const list = items(450)
      const { status, seen, warnings } = yield* reading(listOf([windowed]), ({ from, to, limit }) => {
        const inside = list.filter(({ at }) => at >= Number(from) && at < Number(to))
        return { items: page(inside, { limit }, 100), total: inside.length }
      })
      assert.strictEqual(seen.size, 450)
      assert.strictEqual(status, "complete", warnings)
    })
  )

  it.effect("by time windows: the sum of the totals shows that records are missing", () =>
    Effect.gen(function* () {
      const list = items(450)
      const { status, warnings } = yield* reading(
        listOf([
          {
            ...windowed,
            request: get("/items", {
              from: windowStart("epochMs"),
              to: windowEnd("epochMs"),
              limit: size,
              number: cursorOr(1)
            }),
            paging: { kind: "pageNumber", first: 1 },
            maxRecords: 10_000,
            windows: { from: "2025-01-01", longest: "200 days" }
          }
        ]),
        ({ from, to, limit, number }) => {
          const inside = list.filter(({ at }) => at >= Number(from) && at < Number(to))
          return {
            items: page(inside, { limit, skip: (Number(number ?? 1) - 1) * 500 }).slice(0, 100),
            total: inside.length
          }
        }
      )
      assert.strictEqual(status, "incomplete", warnings)
    })
  )
})

describe("records that share a sort value", () => {
  const sortedBy: Strategy = {
    request: get("/items", { limit: size, after: cursor }),
    paging: { kind: "sortValue", field: "at" },
    records: "items",
    pageSize: 10,
    total: "total"
  }
  const list = items(95, (n) => (n < 12 ? n : n < 70 ? 100_000 : n * 100_000))
  const from = (value: number, behind?: string) => {
    const start = list.findIndex(({ at, id }) => (behind === undefined ? at > value : at === value && id === behind))
    return start < 0 ? [] : list.slice(behind === undefined ? start : start + 1)
  }

  it.effect("are all read if the service accepts a cursor of value and id", () =>
    Effect.gen(function* () {
      const { seen, status, warnings } = yield* reading(listOf([sortedBy]), ({ after: cursor, limit }) => {
        const [value = 0, id] = [cursor].flat() as [number?, string?]
        return { items: from(value, id).slice(0, Number(limit)), total: list.length }
      })
      assert.strictEqual(seen.size, list.length)
      assert.strictEqual(status, "complete", warnings)
    })
  )

  it.effect("are requested by the `sort` field of the record, if it has one", () =>
    Effect.gen(function* () {
      const sorts: Array<unknown> = []
      const { seen } = yield* reading(listOf([sortedBy]), ({ after: cursor, limit }) => {
        if (cursor !== undefined) sorts.push(cursor)
        const [value = 0, place] = [cursor].flat() as [number?, number?]
        const rest = place === undefined ? list.filter(({ at }) => at > value) : list.slice(place)
        return {
          items: rest
            .slice(0, Number(limit))
            .map((item) => ({ ...item, sort: [item.at, list.indexOf(item as Item) + 1] })),
          total: list.length
        }
      })
      assert.strictEqual(seen.size, list.length)
      assert.isTrue(sorts.every(Array.isArray))
    })
  )

  for (const habit of ["ignores the id", "rejects the id", "fails on the id", "reads the array as 0"] as const)
    it.effect(`are requested by the value alone if the service ${habit}`, () =>
      Effect.gen(function* () {
        const few = list.filter((_, n) => n % 8 === 0)
        const { seen, status, warnings } = yield* reading(
          listOf([{ ...sortedBy, pageSize: 9 }]),
          ({ after: cursor, limit }) => {
            if (Array.isArray(cursor) && habit === "rejects the id")
              return { rejection: "startAfterDate must be a number" }
            if (Array.isArray(cursor) && habit === "fails on the id") return { outage: "500 Internal Server Error" }
            const value =
              Array.isArray(cursor) && habit === "reads the array as 0" ? 0 : Number([cursor].flat()[0] ?? 0)
            return { items: few.filter(({ at }) => at > value).slice(0, Number(limit)), total: few.length }
          }
        )
        assert.strictEqual(seen.size, few.length)
        assert.strictEqual(status, "complete", warnings)
      })
    )

  it.effect("in parts: a record that no part returns causes a warning", () =>
    Effect.gen(function* () {
      const same = items(28, () => 0).map((item, n) => ({ ...item, kind: n === 3 ? undefined : n % 4 }))
      const splitBy = [[0, 1, 2, 3].map((kind) => ({ kind }))]
      const { status, warnings } = yield* reading(
        listOf([{ ...sortedBy, total: undefined as never, paging: { kind: "sortValue", field: "at", splitBy } }]),
        ({ after: cursor, kind, limit }) => {
          const value = Number([cursor].flat()[0] ?? 0)
          const part = same.filter((item) => item.at > value && (kind === undefined || item.kind === kind))
          return { items: part.slice(0, Number(limit)) }
        }
      )
      assert.strictEqual(status, "complete_with_warnings")
      assert.match(warnings, /some may be missing/)
    })
  )
})

describe("records without a change timestamp", () => {
  const byChange: Strategy = {
    ...paged,
    request: get("/changed", { since: since("epochMs"), skip: cursorOr(0), limit: size }),
    verifyField: "changed"
  }
  const byAdded: Strategy = {
    ...paged,
    request: get("/added", { added: since("epochMs"), skip: cursorOr(0), limit: size }),
    verifyField: "at"
  }
  const watermark = begin
  const changing = (added?: ReadonlyArray<Strategy>) =>
    listOf([paged], {
      changes: { field: "changed", overlap: "0 days", strategies: [byChange], ...(added && { added }) }
    })
  const changedOnly = { reading: { mode: "incremental" as const, since: watermark } }

  it.effect("are requested by their creation time", () =>
    Effect.gen(function* () {
      const { seen, status } = yield* reading(
        changing([byAdded]),
        ({ since }) => ({ items: since === undefined ? items(3) : [{ id: "changed", at: 0, changed: begin + 1 }] }),
        changedOnly
      )
      assert.deepStrictEqual([...seen].sort(), ["changed", "i0", "i1", "i2"])
      assert.strictEqual(status, "complete")
    })
  )

  it.effect("do not move the watermark, although they were read later than the changes", () =>
    Effect.gen(function* () {
      const { watermark: reached } = yield* reading(
        changing([byAdded]),
        ({ since }) => ({ items: [{ id: "x", at: begin, changed: begin + (since === undefined ? 1000 : 1) }] }),
        changedOnly
      )
      assert.strictEqual(reached, begin + 2)
    })
  )

  it.effect("cause a warning if the API cannot return them", () =>
    Effect.gen(function* () {
      const rejected = yield* reading(
        changing([byAdded]),
        ({ since }) => (since === undefined ? { rejection: "no such filter" } : { items: [] }),
        changedOnly
      )
      assert.strictEqual(rejected.status, "complete_with_warnings")
      const unsupported = yield* reading(changing(), () => ({ items: [] }), {
        reading: { ...changedOnly.reading, capabilities: { ...noCapabilities, undated: 4 } }
      })
      assert.match(unsupported.warnings, /4 records have no changed/)
    })
  )
})
