/** What follows from the pages of a list, without a request. */
import { limitTo, usualLimits } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { expectedOf } from "../../src/catalog/answer.ts"
import { cursor, cursorOr, get, size } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { RequestRejected } from "../../src/stages/api/errors.ts"
import { beginning } from "../../src/stages/extract/list-progress.ts"
import { missingBeyondDrift } from "../../src/stages/extract/outcome.ts"
import { PageLoop, type PagesTask } from "../../src/stages/extract/page-loop.ts"
import { randomFrom } from "../support/random.ts"
import { nothingOptional } from "../support/optional.ts"
import { begin, items, listOf, paged } from "./service.ts"

const expiring: Strategy = {
  request: get("/items", { limit: size, cursor }),
  paging: { kind: "expiring", field: "next", anchor: "at" },
  records: "items",
  pageSize: 2
}
const loopOf = (
  strategy: Strategy,
  more: Partial<PagesTask> = {},
  limits = usualLimits.extract,
  start = beginning({ strategy, mode: "full", since: undefined, now: begin, optional: nothingOptional })
) => {
  // No account has shown it yet, so a short page alone ends nothing.
  const resource = { ...listOf([strategy]), unproven: true } as const
  const cuts = new Set<number>()
  const sizes: Record<string, number> = {}
  const task = { resource, strategy, name: "all", parameters: {}, sizes, unreliableTotals: new Set<string>(), ...more }
  const expected = expectedOf(resource, strategy, "all")
  return {
    loop: new PageLoop(task, start, { expected, cuts, identified: (record) => record, limits }),
    cuts,
    sizes
  }
}
const page = (from: number, to: number, more = {}) => ({ items: items(20).slice(from, to), ...more })
const rejection = (message: string) => new RequestRejected({ status: 400, message, refusal: message })

describe("a cursor that expires", () => {
  it("is used for 110 seconds from when its page was requested, and then begins again at its anchor", () => {
    const { loop } = loopOf(expiring)
    assert.isTrue(loop.isDue(begin))
    loop.next()
    assert.deepStrictEqual(loop.received(page(0, 2, { next: "c1" }), undefined), {
      kind: "append",
      path: "items",
      records: 2
    })
    assert.isTrue(loop.isDue(begin + 110_000))
    assert.isFalse(loop.isDue(begin + 110_001))
    loop.discardOld(begin + 110_001)
    assert.isFalse(loop.hasCursor)
    const next = loop.next()
    assert.deepInclude(next, { cursor: undefined, since: begin + 60_000 - 1000 })
  })

  it("that expires before it is used five times at one place fails the reading", () => {
    const { loop } = loopOf(expiring)
    for (let n = 0; n < 4; n++) assert.notProperty(loop.next(), "reason")
    assert.deepStrictEqual(loop.next(), { reason: { message: "its cursors expire before they can be used" } })
  })

  it("that the service rejects is dropped, and nothing else is changed", () => {
    const { loop, sizes } = loopOf(expiring)
    loop.isDue(begin)
    loop.next()
    loop.received(page(0, 2, { next: "c1" }), undefined)
    const { count } = loop.state
    assert.isUndefined(loop.rejected(rejection("the limit must not exceed 1")))
    assert.isFalse(loop.hasCursor)
    assert.deepStrictEqual(sizes, {})
    assert.strictEqual(loop.state.count, count)
  })
})

describe("a list whose cursors are lost", () => {
  const random = randomFrom(7)
  const int = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const limits = { ...usualLimits.extract, excessPages: limitTo(1) }

  interface Record {
    readonly id: string
    readonly at: number
  }

  /** Reads the list to its end, or until it fails; the cursor is lost, or the run is killed, between any two pages. */
  const read = (all: ReadonlyArray<Record>, counts: string, returned: number) => {
    const strategy = { ...expiring, pageSize: int(2, 5), total: "total" }
    const found = new Set<string>()
    let { loop } = loopOf(strategy, {}, limits)
    const failed = (failure: string) => ({ found, failure, state: loop.state })
    while (!loop.state.done) {
      const next = loop.next()
      if ("reason" in next) return failed(next.reason.message)
      // The cursor is a position in the list of the request.
      const isListed = ({ at }: Record) => at >= Number(next.since ?? 0)
      const rest = all.slice(0, returned).filter(isListed)
      const from = Number(next.cursor ?? 0)
      const items = rest.slice(from, from + Number(next.size))
      const isLast = from + items.length >= rest.length
      const total = { whole: all.length, rest: all.filter(isListed).length }[counts]
      const received = loop.received({ items, total, next: isLast ? null : from + items.length }, undefined)
      if (received.kind === "failed") return failed(received.reason.message)
      for (const { id } of items) found.add(id)
      const lost = random()
      if (lost < 0.2) loop.discardOld(Number.MAX_SAFE_INTEGER)
      else if (lost < 0.4) loop = loopOf(strategy, {}, limits, { ...loop.state }).loop
    }
    return { found, failure: undefined, state: loop.state }
  }

  it.each(["whole", "rest", "nothing"])("is read to its end, and compared with a total of %s", (counts) => {
    for (let world = 0; world < 300; world++) {
      const inASecond = int(1, 3)
      const all = Array.from({ length: int(1, 60) }, (_, n) => ({
        id: `r${n}`,
        at: begin + Math.floor(n / inASecond) * 2000
      }))
      const { failure, found, state } = read(all, counts, all.length)
      assert.isUndefined(failure)
      assert.strictEqual(found.size, all.length)
      if (counts === "nothing") continue
      assert.strictEqual(missingBeyondDrift(state, expiring), 0, JSON.stringify(state))
      // Half of the list is kept back: what was read before a cursor was lost does not stand for it.
      const half = Math.floor(all.length / 2)
      const cut = read(all, counts, half)
      if (all.length - half > 5) assert.isAbove(missingBeyondDrift(cut.state, expiring), 0, JSON.stringify(cut.state))
    }
  })
})

describe("a page", () => {
  const small: Strategy = {
    request: get("/items", { limit: size, page: cursorOr(1) }),
    paging: { kind: "pageNumber", first: 1 },
    records: "items",
    pageSize: 4
  }

  it("that comes again is requested twice more, after growing waits, and then fails the reading", () => {
    const { loop } = loopOf(small)
    const received = () => (loop.next(), loop.received(page(0, 4), undefined))
    assert.strictEqual(received().kind, "append")
    assert.deepStrictEqual(
      [received(), received()].map((one) => one.kind === "repeat" && one.waitMs),
      [1000, 2000]
    )
    assert.strictEqual(received().kind, "failed")
  })

  it("shorter than requested, with more behind it, shows the length to which the service cuts pages", () => {
    const { cuts, loop, sizes } = loopOf({ ...paged, pageSize: 4, total: "total" })
    const read = (from: number, to: number) => (loop.next(), loop.received(page(from, to, { total: 20 }), undefined))
    assert.strictEqual(read(0, 3).kind, "append")
    assert.deepStrictEqual(sizes, {}, "one short page may be an accident")
    assert.strictEqual(read(2, 5).kind, "append")
    assert.deepStrictEqual(sizes, { "GET /items": 3 })
    assert.deepStrictEqual([...cuts], [3])
  })

  it("shorter than requested by its number is followed by the records behind it, whoever has cut it", () => {
    const { loop, sizes } = loopOf(small)
    loop.next()
    loop.received(page(0, 3), undefined)
    assert.deepInclude(loop.next(), { size: 3, cursor: 2 })
    loop.received(page(3, 5), undefined)
    assert.deepInclude(loop.next(), { size: 1, cursor: 6 })
    assert.deepStrictEqual(sizes, {})
  })

  it("that comes again after a short one that nobody counts is all that the service has", () => {
    const { loop } = loopOf(small)
    const received = () => (loop.next(), loop.received(page(0, 3), undefined).kind)
    assert.deepStrictEqual([received(), received(), received(), received()], ["append", "repeat", "repeat", "ended"])
    assert.deepInclude(loop.state, { done: true, count: 3, warnings: [] })
  })

  it("that comes again after a short one behind others ends nothing", () => {
    const { loop } = loopOf(small)
    loop.next()
    loop.received(page(0, 4), undefined)
    const received = () => (loop.next(), loop.received(page(4, 7), undefined).kind)
    assert.deepStrictEqual([received(), received(), received(), received()], ["append", "repeat", "repeat", "failed"])
    assert.isFalse(loop.state.done)
  })

  it("whose size the service rejects is requested with the size that it names", () => {
    const { loop, sizes } = loopOf(small)
    loop.next()
    assert.isUndefined(loop.rejected(rejection("limit must not be greater than 3")))
    assert.deepInclude(loop.next(), { size: 3 })
    assert.deepStrictEqual(sizes, {}, "it is a guess until a page shows that it was right")
    loop.received(page(0, 3), undefined)
    assert.deepStrictEqual(sizes, { "GET /items": 3 })
    assert.deepStrictEqual(loop.rejected(rejection("no such list")), {
      reason: { message: "the service rejected the request (no such list)" }
    })
  })

  it("of more than 100,000 records, or without its list, fails the reading", () => {
    const { loop } = loopOf(small)
    loop.next()
    const many = { items: Array.from({ length: 100_001 }, (_, n) => ({ id: `i${n}` })) }
    assert.strictEqual(loop.received(many, undefined).kind, "failed")
    assert.strictEqual(loop.received({ message: "none" }, undefined).kind, "failed")
    assert.isFalse(loop.state.done)
  })

  const received = (ids: ReadonlyArray<string>, total?: number) => {
    const { loop } = loopOf({ ...small, total: "total" }, { name: "other", other: { ids, total } })
    loop.next()
    return { kind: loop.received(page(0, 4, { total: 9 }), undefined).kind, state: loop.state }
  }

  it("of a partition that has records of another one only ends it, and stores nothing", () => {
    for (const total of [undefined, 9]) {
      const { kind, state } = received(["i0", "i1", "i2", "i3"], total)
      assert.strictEqual(kind, "ended")
      assert.deepInclude(state, { done: true, ignored: "other", count: 0 })
    }
    assert.strictEqual(received(["i0", "i1", "i2", "i3", "i4"], 5).kind, "ended")
  })

  it("of a partition that has others, or is a part of a longer list, is stored", () => {
    assert.strictEqual(received(["i0", "i1", "i2"], 3).kind, "append")
    assert.strictEqual(received(["i0", "i1", "i2", "i3"], 7).kind, "append")
  })

  it("that ends a list with fewer records than the service counts begins a second reading, once", () => {
    const strategy = { ...small, total: "total" }
    const fresh = beginning({ strategy, mode: "full", since: undefined, now: begin, optional: nothingOptional })
    const { loop } = loopOf(strategy, { fresh })
    const read = (from: number, to: number) => (loop.next(), loop.received(page(from, to, { total: 9 }), undefined))
    read(0, 2)
    read(2, 2)
    assert.deepInclude(loop.state, { again: true, done: false, count: 0 })
    read(0, 2)
    read(2, 2)
    assert.deepInclude(loop.state, { done: true, count: 2, total: 9 })
  })
})
