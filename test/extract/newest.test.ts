/** Changes of a list that is read newest change first: one request where one page suffices, and never at the price of a change. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cursor, get, since, size } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { noCapabilities } from "../../src/values/capabilities.ts"
import { type Item, begin, listOf, reading } from "./service.ts"

const byCursor: Strategy = {
  request: get("/items", { sort: "-at", limit: size, after: cursor }),
  paging: { kind: "lastRecord", field: "next" },
  records: "items",
  pageSize: 20,
  firstPageSize: 5,
  total: "total",
  stopBefore: "at",
  notSortedBy: "made"
}
const filtered: Strategy = {
  request: get("/items", { since: since("epochMs"), limit: size, after: cursor }),
  paging: { kind: "lastRecord", field: "next" },
  records: "items",
  pageSize: 20,
  total: "total",
  verifyField: "at"
}
const resource = listOf([filtered], {
  changes: {
    field: "at",
    overlap: "1 minute",
    newest: byCursor,
    strategies: [filtered],
    added: [{ ...filtered, verifyField: "made" }]
  }
})

const minute = 60_000
/** So many records, made one after another. The older ones were changed last, in this order, since `n` records ago. */
const account = (count: number, changed: ReadonlyArray<number> = []): Array<Item> =>
  Array.from({ length: count }, (_, n) => {
    const rank = changed.indexOf(n)
    const made = begin + n * minute
    return { id: `i${n}`, made, at: rank < 0 ? made : begin + (count + rank) * minute }
  })

/** A service that sorts by `by`, or cannot tell of the change. */
const nightOf = (records: ReadonlyArray<Item>, since: number, { by = "at", cut = Infinity, undated = 0 } = {}) =>
  reading(
    resource,
    ({ after = 0, limit, since: from, sort }) => {
      const order = sort === undefined ? "made" : by
      const sorted = records.toSorted((one, other) => Number(other[order]) - Number(one[order]))
      const matching = from === undefined ? sorted : sorted.filter(({ at }) => at >= Number(from))
      const page = matching.slice(Number(after), Number(after) + Math.min(Number(limit), cut))
      return {
        total: matching.length,
        items: page.map((item, n) => ({ ...item, next: Number(after) + n + 1 }))
      }
    },
    { reading: { mode: "incremental", since, capabilities: { ...noCapabilities, undated } } }
  )

const changedIn = (records: ReadonlyArray<Item>, since: number) =>
  records.filter(({ at }) => at >= since).map(({ id }) => id)

describe("a list that is read newest change first", () => {
  const records = account(60, [7, 3])
  const last = begin + 61 * minute

  it.effect("takes one request where one page suffices, with the total of the whole list", () =>
    Effect.gen(function* () {
      const { outcome, requests, seen, status } = yield* nightOf(records, last)
      assert.deepStrictEqual([requests, status, outcome?.total, outcome?.watermark], [1, "complete", 60, last])
      assert.isTrue(seen.has("i3"))
      assert.strictEqual(seen.size, 5)
    })
  )

  it.effect("takes one request of a list that is one page", () =>
    Effect.gen(function* () {
      const { requests, seen } = yield* nightOf(account(4), begin)
      assert.deepStrictEqual([requests, seen.size], [1, 4])
    })
  )

  it.effect.each([3, 12, 40])("reads all changes of a night, also %i of them", (count) =>
    Effect.gen(function* () {
      const many = account(
        60,
        Array.from({ length: count }, (_, n) => (n * 37) % 60)
      )
      const from = begin + 60 * minute
      const { requests, seen, status } = yield* nightOf(many, from)
      assert.strictEqual(status, "complete")
      assert.isEmpty(changedIn(many, from).filter((id) => !seen.has(id)))
      assert.isAtMost(requests, 1 + Math.ceil(count / 20))
    })
  )

  it.effect.each([
    ["sorts by another field all the same", { by: "made" }],
    ["sorts the other way round", { by: "backwards" }],
    ["cuts its pages and sorts by another field", { by: "made", cut: 3 }],
    ["has records without a time of change", { undated: 1, by: "made" }]
  ] as const)("is read by a filter if the service %s", ([, service]) =>
    Effect.gen(function* () {
      const from = begin + 60 * minute
      const turned = records.map((one) => ({ ...one, backwards: -one.at }))
      const { outcome, seen, status, warnings } = yield* nightOf(turned, from, service)
      assert.deepStrictEqual([status, warnings], ["complete", ""])
      assert.isEmpty(changedIn(records, from).filter((id) => !seen.has(id)))
      // What it counts is for another request to say.
      assert.isUndefined(outcome?.total)
    })
  )

  it.effect("is read by a filter as long as no change shows by what the service sorts", () =>
    Effect.gen(function* () {
      // Nothing has changed since it was made, until the oldest record does: the order of the first page is that of both.
      const untouched = account(60)
      const { requests } = yield* nightOf(untouched, begin + 59 * minute)
      assert.isAbove(requests, 1)
    })
  )
})
