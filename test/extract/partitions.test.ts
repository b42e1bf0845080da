/** Lists in partitions, and strategies that do not work: what a reading is that was made of several. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { text } from "../../src/catalog/fields.ts"
import { cursorOr, get, since, size } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { randomFrom } from "../support/random.ts"
import { type Answer, type Item, type Parameters, begin, items, listOf, page, paged, reading } from "./service.ts"

const counted: Strategy = { ...paged, total: "total" }
const open = items(7)
const done = items(5, (n) => (n + 100) * 60_000).map((item) => ({ ...item, id: `d${item.id}` }))
const partitions = { open: { parameters: { state: "open" } }, done: { parameters: { state: "done" } } }
const setting = {
  open: { parameters: { state: "open" }, columns: { state: "open" } },
  done: { parameters: { state: "done" }, columns: { state: "done" } }
}
const stated = { fields: { ...listOf([counted]).fields, state: text("State") } }
const answering =
  (totals: readonly [number, number], lists: readonly [ReadonlyArray<Item>, ReadonlyArray<Item>] = [open, done]) =>
  (parameters: Parameters): Answer => {
    const n = parameters["state"] === "open" ? 0 : 1
    return { items: page(lists[n]!, parameters), total: totals[n] }
  }

describe("a list in partitions", () => {
  it.effect("is all of them: its total is their sum", () =>
    Effect.gen(function* () {
      const { outcome, seen, status } = yield* reading(listOf([counted], { partitions }), answering([7, 5]))
      assert.strictEqual(seen.size, 12)
      assert.strictEqual(status, "complete")
      assert.strictEqual(outcome!.total, 12)
    })
  )

  it.effect("has no total if one of them has none", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* reading(listOf([counted], { partitions }), answering([7, undefined as never]))
      assert.strictEqual(seen.size, 12)
      assert.isUndefined(outcome!.total)
    })
  )

  it.effect("lacks what one of them lacks, also if another one has as many more", () =>
    Effect.gen(function* () {
      const lists = [open, items(45).map((item) => ({ ...item, id: `d${item.id}` }))] as const
      const { outcome, status } = yield* reading(listOf([counted], { partitions }), answering([20, 5], lists))
      assert.strictEqual(status, "incomplete")
      assert.deepStrictEqual(outcome!.shortfalls, [{ _tag: "PartitionBelowTotal" }])
      const less = yield* reading(listOf([counted], { partitions }), answering([20, 20]))
      assert.deepStrictEqual(less.outcome!.shortfalls, [{ _tag: "BelowTotal", total: 40, read: 12 }])
    })
  )

  it.effect("whose parameters the service ignores is told apart by its records, and is not stored under its name", () =>
    Effect.gen(function* () {
      const list = listOf([counted], { ...stated, partitions: setting })
      const ignored = yield* reading(list, (parameters) => ({ items: page(open, parameters), total: 7 }))
      assert.deepInclude(ignored.outcome!.warnings, { _tag: "PartitionIgnored", partition: "done" })
      assert.strictEqual(ignored.outcome!.total, 7)
      const honoured = yield* reading(list, answering([7, 5]))
      assert.deepStrictEqual(honoured.outcome!.warnings, [])
      assert.strictEqual(honoured.outcome!.total, 12)
      const refused = yield* reading(list, (parameters) =>
        parameters["state"] === "done" ? { rejection: "no such state" } : { items: page(open, parameters), total: 7 }
      )
      assert.deepInclude(refused.outcome!.warnings, { _tag: "PartitionIgnored", partition: "done" })
      assert.strictEqual(refused.seen.size, 7)
    })
  )

  it.effect("are distinguished by their first ids, however few of these are kept", () =>
    Effect.gen(function* () {
      const random = randomFrom(3)
      for (let round = 0; round < 40; round++) {
        const firstIds = 1 + Math.floor(random() * 8)
        const crossed = new Set<string>()
        const limits = limitsOf({ extract: { firstIds } }, (name) => void crossed.add(name))
        const [live, more] = [1 + Math.floor(random() * 12), 1 + Math.floor(random() * 12)]
        const all = items(live + more)
        const isIgnored = round % 2 === 0
        const list = listOf([counted], { ...stated, partitions: setting })
        const { outcome, seen } = yield* reading(list, (parameters) => {
          const found = isIgnored ? all : parameters["state"] === "open" ? all.slice(0, live) : all.slice(live)
          return { items: page(found, parameters), total: found.length }
        }).pipe(Effect.provideService(Limits, limits))
        assert.strictEqual(seen.size, live + more)
        const warnings = isIgnored ? [{ _tag: "PartitionIgnored", partition: "done" }] : []
        assert.deepStrictEqual(
          outcome!.warnings as ReadonlyArray<unknown>,
          warnings,
          `${firstIds} of ${live} and ${more}`
        )
        assert.strictEqual(
          crossed.has("extract.firstIds"),
          Math.max(...(isIgnored ? [live + more] : [live, more])) > firstIds
        )
      }
    })
  )

  // What is loaded last decides about a column, so the pages of `open` have to come after those of `done`.
  it.effect("that has the records of the first one, too, is read before it", () =>
    Effect.gen(function* () {
      const random = randomFrom(7)
      for (let round = 0; round < 30; round++) {
        const [live, more] = [1 + Math.floor(random() * 250), 1 + Math.floor(random() * 250)]
        const all = items(live + more)
        const requested: Array<unknown> = []
        const list = listOf([counted], { ...stated, partitions: setting })
        const { outcome, seen } = yield* reading(list, (parameters) => {
          requested.push(parameters["state"])
          const found = parameters["state"] === "open" ? all.slice(0, live) : all
          return { items: page(found, parameters), total: found.length }
        })
        assert.strictEqual(seen.size, live + more)
        const afterDone = requested.slice(requested.lastIndexOf("done") + 1)
        assert.isAtLeast(afterDone.length, live / 100)
        assert.isUndefined(outcome!.total, "the sum counts records twice")
        assert.deepStrictEqual(outcome!.warnings, [])
      }
    })
  )
})

describe("a strategy that the service refuses", () => {
  const dated: Strategy = {
    ...counted,
    request: get("/items", { limit: size, skip: cursorOr(0), since: since("epochMs") }),
    verifyField: "at"
  }
  const list = listOf([counted], { changes: { field: "at", overlap: "0 days", strategies: [dated] } })
  const answer = (parameters: Parameters): Answer =>
    "since" in parameters ? { rejection: "since is not allowed" } : { items: page(open, parameters), total: 7 }
  const incremental = { mode: "incremental", since: begin } as const

  it.effect("is replaced by a full reading, which is said, and is not tried again by the next night", () =>
    Effect.gen(function* () {
      const first = yield* reading(list, answer, { reading: incremental })
      assert.strictEqual(first.outcome!.mode, "full")
      assert.strictEqual(first.requests, 2)
      assert.match(first.warnings, /since is not allowed/)
      const capabilities = first.capabilities!
      assert.lengthOf(capabilities.refused, 1)
      const next = yield* reading(list, answer, { reading: { ...incremental, capabilities } })
      assert.deepStrictEqual([next.requests, next.warnings], [1, ""])
    })
  )

  it.effect("is used again once a full reading has forgotten the refusal", () =>
    Effect.gen(function* () {
      const refused = (yield* reading(list, answer, { reading: incremental })).capabilities!
      const full = yield* reading(list, answer, { reading: { capabilities: refused } })
      assert.deepStrictEqual(full.capabilities!.refused, [])
    })
  )
})

describe("a night", () => {
  const dated: Strategy = {
    ...counted,
    request: get("/items", { limit: size, skip: cursorOr(0), since: since("epochMs") }),
    verifyField: "at"
  }
  const list = listOf([counted], { changes: { field: "at", overlap: "0 days", strategies: [dated] } })
  const changed = (parameters: Parameters): Answer => {
    const found = open.filter(({ at }) => at >= Number(parameters["since"] ?? 0))
    return { items: page(found, parameters), total: found.length }
  }
  const since5 = { mode: "incremental", since: begin + 5 * 60_000 } as const

  it.effect("reads what has changed since, and takes the newest change for the next one", () =>
    Effect.gen(function* () {
      const { outcome, seen } = yield* reading(list, changed, { reading: since5 })
      assert.deepStrictEqual([...seen], ["i5", "i6"])
      assert.deepInclude(outcome, { mode: "incremental", since: since5.since, watermark: begin + 6 * 60_000 + 1 })
      assert.isUndefined(outcome!.total, "what has changed is not the list")
    })
  )

  it.effect("takes the newest change itself if no answer says the time, which a wrong clock may make later", () =>
    Effect.gen(function* () {
      const { outcome } = yield* reading(list, changed, { reading: since5, isTimed: false })
      assert.strictEqual(outcome!.watermark, begin + 6 * 60_000)
    })
  )

  it.effect("never takes a time for the next one that is after its own start", () =>
    Effect.gen(function* () {
      const future = [{ id: "i0", at: Date.parse("2099-01-01") }]
      const { outcome } = yield* reading(list, (parameters) => ({ items: page(future, parameters), total: 1 }))
      assert.strictEqual(outcome!.watermark, outcome!.servedAt)
    })
  )

  it.effect("says that records without a change time may be missing, if the last full reading had such", () =>
    Effect.gen(function* () {
      const full = yield* reading(list, (parameters) => ({
        items: page([...open, { id: "undated" } as never], parameters),
        total: 8
      }))
      assert.strictEqual(full.capabilities!.undated, 1)
      const night = { ...since5, capabilities: full.capabilities! }
      const { outcome } = yield* reading(list, changed, { reading: night })
      assert.deepStrictEqual(outcome!.warnings, [{ _tag: "UndatedRecords", count: 1, field: "at" }])
    })
  )
})
