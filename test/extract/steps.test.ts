/** What follows a single page: for each way to page the next cursor, the end, or why the strategy does not work. */
import { assert, describe, it } from "@effect/vitest"
import type { Paging, Strategy } from "../../src/catalog/resource.ts"
import { idOf } from "../../src/stages/extract/list-progress.ts"
import {
  type Given,
  after,
  base,
  byCursor,
  exported,
  idsOf,
  inBody,
  list,
  numbered,
  offset,
  records,
  size
} from "./step.ts"

describe("the total of the service", () => {
  it.each([
    [5, 5],
    ["5", 5],
    [0, 0],
    ["0", 0],
    [-1, undefined],
    [2.5, undefined],
    ["many", undefined],
    [2 ** 60, undefined],
    [null, undefined],
    [{ value: 5 }, undefined]
  ])("sent as %j is %o", (sent, total) =>
    assert.strictEqual(after({ ...offset, total: "meta.total" }, { body: { meta: { total: sent } } }).total, total)
  )

  it("is kept of an earlier page if a page has none, and replaced if it has", () => {
    const counted = { ...offset, total: "total" }
    assert.strictEqual(after(counted, { before: { total: 30 } }).total, 30)
    assert.strictEqual(after(counted, { before: { total: 30 }, body: { total: 31 } }).total, 31)
  })

  it("shows that a list has no end once it has returned twice as many records and ten pages more", () => {
    const counted = { ...byCursor, total: "total" }
    const afterRecords = (count: number, more: Given = {}) =>
      after(more.since === undefined ? counted : { ...counted, verifyField: "at" }, {
        before: { count: count - size },
        body: { total: 50 },
        ...more
      })
    // 2 x 50 + 10 x 10
    assert.isFalse(afterRecords(200).done)
    assert.match(afterRecords(201).failed!, /counts 50 records, and the list continues after 201/)
    // The totals of the windows before belong to it.
    const windows = { earlier: { count: 0, total: 50 } }
    assert.isFalse(afterRecords(300, { before: { count: 290, ...windows } }).done)
    assert.match(afterRecords(301, { before: { count: 291, ...windows } }).failed!, /counts 100 records/)
  })

  it.each([
    ["counts just the page", counted(10), {}],
    ["is where search engines stop counting", counted(10_000), { count: 50_000 }],
    ["counts more than what was requested", counted(50), { since: 5 }]
  ])("does not show that if it %s", (_, body, { since, count = 500 }: { since?: number; count?: number }) =>
    assert.isFalse(
      after({ ...byCursor, total: "total" }, { before: { count }, body, ...(since !== undefined && { since }) }).done
    )
  )

  function counted(total: number) {
    return { total }
  }
})

describe("an offset", () => {
  it("continues with the last record of the page, and counts by position", () => {
    assert.deepInclude(after(offset, {}), { next: 9, count: 10, done: false })
    const second = after(offset, { before: { cursor: 9, count: 10, lastIds: idsOf(0, 10) }, records: records(10, 9) })
    assert.deepInclude(second, { next: 18, count: 19, lastIds: idsOf(9, 19) })
    assert.strictEqual(after(offset, { before: { earlier: { count: 7, total: 9 } } }).count, 17)
  })

  it("steps back half a page if its page does not begin with the last record, and not before the start", () => {
    const shifted = { lastIds: idsOf(0, 10), count: 19 }
    const back = after(offset, { before: { ...shifted, cursor: 9 }, records: records(10, 12) })
    assert.deepInclude(back, { next: 4, stepsBack: 1, lastIds: idsOf(0, 10), count: 19 })
    const toStart = after(offset, { before: { ...shifted, cursor: 5 }, records: records(10, 12) })
    assert.deepInclude(toStart, { next: 0, lastIds: [] })
    // Of an odd page size, the larger half.
    assert.deepInclude(after(offset, { size: 7, before: { ...shifted, cursor: 9 }, records: records(7, 12) }), {
      next: 5
    })
  })

  it("does not step back on its first page, or if one record is known", () => {
    assert.isUndefined(after(offset, { before: { cursor: 0, lastIds: ["other"] } }).stepsBack)
    assert.isUndefined(after(offset, { before: { cursor: 3, lastIds: ["i0"] } }).stepsBack)
  })

  it("advances after a page of one record, which the next one cannot begin with", () => {
    const one = after(offset, { before: { cut: true }, records: records(1) })
    assert.deepInclude(one, { next: 1, count: 1 })
    const second = after(offset, { before: { cut: true, cursor: 1, lastIds: ["i0"] }, records: records(1, 1) })
    assert.deepInclude(second, { next: 2, count: 2 })
    assert.isUndefined(second.stepsBack)
  })

  it("steps back 200 times at most", () => {
    const moved = { cursor: 9, lastIds: ["gone", "gone too"] }
    assert.deepInclude(after(offset, { before: { ...moved, stepsBack: 199 } }), { stepsBack: 200 })
    assert.match(after(offset, { before: { ...moved, stepsBack: 200 } }).failed!, /faster than it can be read/)
  })

  it("keeps the newest total when it steps back", () =>
    assert.deepInclude(
      after(
        { ...offset, total: "total" },
        { before: { cursor: 9, lastIds: ["gone", "gone too"], total: 50 }, body: { total: 40 } }
      ),
      { total: 40, next: 4 }
    ))
})

describe("page numbers", () => {
  it("count up from the first one, and records by position", () => {
    assert.deepInclude(after(numbered, {}), { next: 2, count: 10 })
    const totalled = { ...numbered, total: "total" }
    const last = { before: { cursor: 3 }, records: records(4, 20), body: { total: 24 } }
    assert.deepInclude(after(totalled, last), { done: true, count: 24 })
    assert.deepInclude(after(list({ kind: "pageNumber", first: 0 }), {}), { next: 1, count: 10 })
    assert.deepInclude(after(numbered, { before: { cursor: 2, earlier: { count: 5, total: 5 } } }), { count: 25 })
  })

  it("go back one page if the total has fallen, unless it is the first page", () => {
    const totalled = { ...numbered, total: "total" }
    const read = (cursor: number, before: number, total: number) =>
      after(totalled, { before: { cursor, total: before, lastIds: ["i0"], count: 30 }, body: { total } })
    assert.deepInclude(read(3, 100, 99), { next: 2, lastIds: [], stepsBack: 1, total: 99, count: 30 })
    assert.deepInclude(read(3, 100, 100), { next: 4 })
    assert.deepInclude(read(3, 100, 101), { next: 4 })
    assert.deepInclude(read(1, 100, 99), { next: 2 })
    assert.isUndefined(after(offset, { before: { total: 100, cursor: 9, lastIds: ["i0"] } }).stepsBack)
  })

  it("are requested again if a page repeats the one before it", () => {
    const same = after(numbered, { before: { cursor: 2, lastIds: idsOf(0, 10) } })
    assert.match(same.failed!, /repeats the page before it/)
    assert.isTrue(same.isAgain)
  })

  it("end with a warning where the service returns no further page", () => {
    const limited = { ...numbered, maxRecords: 30, total: "total" }
    assert.deepInclude(after(limited, { before: { cursor: 2 } }), { next: 3, warnings: [] })
    assert.deepInclude(after(limited, { before: { cursor: 3 } }), { done: true, warnings: ["PageNumbersLimited"] })
    const short = after(limited, { before: { cursor: 3 }, records: records(9, 20), body: { total: 29 } })
    assert.deepInclude(short, { done: true, warnings: [] })
  })
})

describe("a cursor", () => {
  it("is that of the last record, or else of the body", () => {
    assert.deepInclude(after(byCursor, {}), { next: 9, count: 10 })
    assert.deepInclude(after(byCursor, { records: [{ id: "a" }], size: 1, body: { next: "b" } }), { next: "b" })
    assert.deepInclude(after(byCursor, { records: [{ id: "a", next: "r" }], size: 1, body: { next: "b" } }), {
      next: "r"
    })
  })

  it("does not count a record again that the page before ended with", () =>
    assert.strictEqual(after(byCursor, { before: { count: 10, cursor: 1, lastIds: ["i0", "i1"] } }).count, 18))

  it.each([[undefined], [null]])("that is %o is an error, unless the service counts no more", (next) => {
    const without = (count: number) => records(count).map((record) => ({ ...record, next }))
    for (const count of [9, 10]) assert.match(after(byCursor, { records: without(count) }).failed!, /have no next/)
    const counted = { records: without(9), body: { total: 9 } }
    assert.isTrue(after({ ...byCursor, total: "total" }, counted).done)
  })

  it("in the body ends the list if a part of it is missing, null or empty", () => {
    assert.deepInclude(after(inBody, { body: { meta: { at: 5, id: "a" } } }), { next: { at: 5, id: "a" }, done: false })
    for (const id of [undefined, null, ""])
      assert.isTrue(after(inBody, { body: { meta: { at: 5, id } } }).done, String(id))
    const counted = { records: records(9), body: { total: 9, meta: { at: 5, id: "a" } } }
    assert.isTrue(after({ ...inBody, total: "total" }, counted).done)
  })

  it("that does not advance ends the list if all is read, with a warning if nobody counts, and else is requested again", () => {
    const stuck = (total?: number) =>
      after(
        { ...byCursor, total: "total" },
        { before: { cursor: 9, count: 20, ...(total !== undefined && { total }) }, records: records(10), body: {} }
      )
    assert.deepInclude(stuck(), { done: true, warnings: ["CursorStuck"], count: 30 })
    assert.deepInclude(stuck(30), { done: true, warnings: [] })
    assert.deepInclude(stuck(31), { isAgain: true })
    assert.match(stuck(31).failed!, /after 30 of 31 records/)
  })

  it("of a page that was sent again counts no record twice, however long the page is", () => {
    const page = records(500)
    const before = { cursor: 499, count: 500, total: 600, lastIds: page.slice(-100).map(idOf) }
    const again = after({ ...byCursor, pageSize: 500, total: "total" }, { before, records: page, body: { total: 600 } })
    assert.deepInclude(again, { isAgain: true })
    assert.match(again.failed!, /after 500 of 600 records/)
  })

  it("that is new after the same last record does not advance either", () => {
    const page = records(10).with(9, { id: "i9", next: "new" })
    assert.deepInclude(after(byCursor, { before: { cursor: "old", lastIds: ["i9"] }, records: page }), {
      warnings: ["CursorStuck"]
    })
    // A page that only begins with the record before is a new one.
    assert.deepInclude(after(byCursor, { before: { cursor: "old", lastIds: ["i0"] } }), { next: 9, warnings: [] })
  })

  it.each([
    [byCursor, (next: string) => ({ records: records(10).with(9, { id: "z", next }) })],
    [exported, (next: string) => ({ body: { next } })]
  ] as const)("is stored and sent with every page, so it is at most 10,000 characters long", (strategy, given) => {
    assert.isUndefined(after(strategy, given("x".repeat(9_998))).failed)
    assert.match(after(strategy, given("x".repeat(10_001))).failed!, /too large/)
  })

  it.each([[undefined], [null], [""]])("of an export that is %o ends it, and a short page does not", (next) => {
    assert.isTrue(after(exported, { body: { next } }).done)
    assert.isFalse(after(exported, { records: records(3), body: { next: "more" } }).done)
  })

  it("of an export leaves the latest sort value to restart from", () => {
    assert.strictEqual(after(exported, { body: { next: "n" } }).anchor, base + 9)
    assert.strictEqual(after(exported, { before: { anchor: base + 50 }, body: { next: "n" } }).anchor, base + 50)
    const { anchor: _, ...plain } = exported.paging as Extract<Paging, { kind: "expiring" }>
    assert.isUndefined(after(list(plain), { body: { next: "n" } }).anchor)
    const undated = [{ id: "a" }]
    assert.strictEqual(after(exported, { before: { anchor: 5 }, records: undated, body: { next: "n" } }).anchor, 5)
  })
})

describe("the end of a list", () => {
  it("is a page that is all there is", () => assert.isTrue(after(list({ kind: "once" }), {}).done))

  it("is an empty page, and the records before it stay known", () => {
    for (const strategy of [offset, numbered, byCursor, inBody, exported])
      assert.isTrue(after(strategy, { records: [], body: { next: "n", meta: { at: 1, id: "a" } } }).done)
  })

  it("is where the service says so, and nowhere else if it says that there is more", () => {
    const flagged = { ...byCursor, more: "meta.more" }
    assert.isTrue(after(flagged, { body: { meta: { more: false } } }).done)
    assert.deepInclude(after(flagged, { records: records(3), body: { meta: { more: true } } }), { next: 2, cut: true })
    assert.isTrue(after(flagged, { records: records(3), body: { meta: { more: false } } }).done)
    // A service that says so for ever, and returns nothing new.
    const nothingNew = {
      before: { count: 3, lastIds: idsOf(0, 3) },
      records: records(3),
      body: { meta: { more: true } }
    }
    assert.isTrue(after(flagged, nothingNew).done)
  })

  it("keeps at most a hundred ids of the last page, the last ones", () => {
    const { lastIds } = after(byCursor, { size: 250, records: records(250) })
    assert.deepStrictEqual(lastIds, idsOf(150, 250))
  })
})

describe("a page that is shorter than requested", () => {
  const counted = { ...byCursor, total: "total" }
  const isLast = (given: Given, strategy: Strategy = counted) => after(strategy, given).done

  it.each([
    ["the total is reached", { records: records(9), body: { total: 9 } }, true],
    ["the total is not reached", { records: records(9), body: { total: 10 } }, false],
    ["it completes the total of all pages", { before: { count: 91 }, records: records(9), body: { total: 100 } }, true],
    [
      "it completes the total of all windows",
      { before: { count: 91, earlier: { count: 50, total: 50 } }, records: records(9), body: { total: 50 } },
      true
    ],
    [
      "records are missing from all windows",
      { before: { count: 91, earlier: { count: 50, total: 50 } }, records: records(9), body: { total: 51 } },
      false
    ],
    ["the total counts other records too", { since: 5, records: records(9), body: { total: 500 } }, true],
    [
      "an earlier short page was not the last",
      { before: { cut: true, count: 20 }, records: records(9), body: { total: 9 } },
      false
    ],
    ["another list was cut to its length", { records: records(7), cuts: new Set([7]), body: { total: 7 } }, false],
    ["another list was cut to another length", { records: records(7), cuts: new Set([8]), body: { total: 7 } }, true]
  ] as ReadonlyArray<readonly [string, Given, boolean]>)("if %s", (_, given, expected) =>
    assert.strictEqual(isLast(given), expected)
  )

  it.each([
    [20, false],
    [25, false],
    [50, false],
    [100, false],
    [300, false],
    [21, true],
    [99, true],
    [150, true]
  ])("of %i records, all that the service counts: it is the last one: %o", (length, expected) => {
    const given = { size: 500, records: records(length), body: { total: length } }
    assert.strictEqual(isLast(given), expected)
    // Only the first page may be counted alone.
    assert.isTrue(isLast({ ...given, before: { count: length }, body: { total: 2 * length } }))
  })

  it.each([
    [1, {}],
    [99, { since: 5 }],
    [10, { before: { count: 5 } }]
  ])("of %i records that nobody counts, %j, is not the last one", (length, given: Given) => {
    for (const strategy of [byCursor, inBody, offset, numbered])
      assert.isFalse(
        isLast({ size: 100, records: records(length), body: { meta: { at: 5, id: "a" } }, ...given }, strategy)
      )
  })

  it("is followed by what is behind it, and by what it shares with the next one only if more is sure to follow", () => {
    assert.deepInclude(after(offset, { records: records(7) }), { next: 7, lastIds: ["i6"], done: false })
    const counted = { records: records(7), body: { total: 20 } }
    assert.deepInclude(after({ ...offset, total: "total" }, counted), { next: 6, done: false })
    // All that it has may be what it shares with the page before it.
    const shared = { before: { cursor: 9, count: 10, lastIds: idsOf(0, 10) }, records: records(1, 9) }
    assert.deepInclude(after(offset, shared), { next: 10, done: false, count: 10 })
    assert.isTrue(after(offset, { before: { cursor: 10, lastIds: ["i9"] }, records: [] }).done)
  })
})
