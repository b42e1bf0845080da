/** Where a list begins, resumes after an interruption and ends; and the time windows of which it consists. */
import { assert, describe, it } from "@effect/vitest"
import type { Strategy } from "../../src/catalog/resource.ts"
import type { TimeWindow } from "../../src/values/checkpoint.ts"
import {
  type ListProgress,
  apply,
  beginning,
  ended,
  fingerprint,
  idOf,
  instantsIn,
  isCutElsewhere,
  isPositional,
  resumed
} from "../../src/stages/extract/list-progress.ts"
import { halved } from "../../src/stages/extract/windows.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { nothingOptional } from "../support/optional.ts"
import { after, base, byCursor, exported, inBody, list, numbered, offset, records } from "./step.ts"

const day = 86_400_000
const now = base
const begun = (strategy: Strategy, since?: number, mode: "full" | "incremental" = "incremental") =>
  beginning({ strategy, mode, since, now, optional: { ...nothingOptional, free_slot_days: 30 } })
const windowed = (windows: NonNullable<Strategy["windows"]>) => list({ kind: "once" }, { windows })

describe("a list", () => {
  it("begins with nothing read, in the mode and from the time that it is given", () =>
    assert.deepStrictEqual(begun(byCursor, 5), {
      version: 1,
      done: false,
      count: 0,
      lastIds: [],
      warnings: [],
      mode: "incremental",
      since: 5,
      startedAt: now,
      fingerprint: fingerprint(byCursor)
    }))

  it("by sort value begins at the watermark, unless it descends or is read in full", () => {
    const sorted = { kind: "sortValue", field: "at" } as const
    assert.strictEqual(begun(list(sorted), 5).cursor, 5)
    assert.strictEqual(begun(list(sorted), 0).cursor, 0)
    assert.isFalse("cursor" in begun(list(sorted)))
    assert.isFalse("cursor" in begun(list({ ...sorted, descending: true }), 5))
    assert.isFalse("cursor" in begun(byCursor, 5))
  })

  it.each([
    [{ from: "2027-01-01", ahead: "1 day" }, undefined, [[Date.parse("2027-01-01"), now + day]]],
    [{ from: "2027-01-01" }, undefined, [[Date.parse("2027-01-01"), now + 2 * day]]],
    [{ from: "since" }, now - day, [[now - day, now + 2 * day]]],
    [{ from: "now", ahead: { daysOf: "free_slot_days" } }, undefined, [[now, now + 30 * day]]],
    [
      { from: "since", longest: "2 days" },
      now - day,
      [
        [now - day, now + day],
        [now + day, now + 2 * day]
      ]
    ],
    [{ from: "since", longest: "3 days" }, now - day, [[now - day, now + 2 * day]]],
    [{ from: "since" }, now + 9 * day, []]
  ] as ReadonlyArray<readonly [NonNullable<Strategy["windows"]>, number | undefined, ReadonlyArray<unknown>]>)(
    "by time windows has them without a gap: %j from %o",
    (windows, since, expected) => assert.deepStrictEqual(begun(windowed(windows), since).windows, expected)
  )

  it("resumes where it was interrupted, unless its definition or its mode has changed since", () => {
    const fresh = begun(byCursor, 5)
    const stored = { ...fresh, startedAt: 1, since: 2, cursor: "c", count: 7, highest: 3 }
    assert.deepStrictEqual(resumed(stored, fresh), stored)
    assert.strictEqual(resumed(undefined, fresh), fresh)
    assert.strictEqual(resumed({ ...stored, fingerprint: "other" }, fresh), fresh)
    assert.strictEqual(resumed({ ...stored, mode: "full" }, fresh), fresh)
  })

  it("is another one if its request, its paging or the place of its records is", () => {
    const prints = [
      byCursor,
      offset,
      { ...byCursor, records: "y" },
      { ...byCursor, request: { ...byCursor.request, path: "/y" } as never }
    ]
    assert.strictEqual(new Set(prints.map(fingerprint)).size, prints.length)
    assert.strictEqual(fingerprint({ ...byCursor, pageSize: 50, total: "t" }), fingerprint(byCursor))
    assert.match(fingerprint(byCursor), /^[0-9a-f]{12}$/)
  })

  it("loses records to deletions if it is paged by position, and not by a cursor", () =>
    assert.deepStrictEqual([offset, numbered, byCursor, inBody, exported, list({ kind: "once" })].map(isPositional), [
      true,
      true,
      false,
      false,
      false,
      false
    ]))
})

describe("the end", () => {
  const progress: ListProgress = { ...checkpoint, cursor: "c", lastIds: ["a"], count: 9, total: 9 }
  const end = (more: Partial<ListProgress>) => {
    const step = ended({ ...progress, ...more })
    if (step.kind === "failed") throw new Error("it fails")
    return step.progress
  }
  it("of a list leaves no cursor and no last ids, and keeps its total", () => {
    const { cursor, ...left } = end({})
    assert.isUndefined(cursor)
    assert.deepInclude(left, { done: true, lastIds: [], count: 9, total: 9 })
  })

  it("of a window is not that of the list, and its total and records are kept for the last one", () => {
    const first = end({
      windows: [
        [1, 2],
        [2, 3]
      ]
    })
    assert.deepInclude(first, {
      done: false,
      windows: [[2, 3]],
      earlier: { count: 9, total: 9 },
      total: undefined,
      lastIds: []
    })
    const last = end({ windows: [[2, 3]], earlier: { count: 9, total: 9 }, count: 14, total: 5 })
    assert.deepInclude(last, { done: true, windows: [], total: 14 })
    const { total: _, ...uncounted } = progress
    const step = ended({ ...uncounted, windows: [[2, 3]], earlier: { count: 9, total: 9 } })
    assert.isUndefined(step.kind === "next" && step.progress.total)
  })

  it("of a step leaves neither cursor nor ties that it did not set, and all else as it was", () => {
    const before = { ...checkpoint, cursor: "old", ties: {} as never, since: 5, again: true }
    const applied = apply(before, { ...checkpoint, count: 3 })
    assert.deepInclude(applied, { cursor: undefined, ties: undefined, since: 5, again: true, count: 3 })
    assert.strictEqual(apply(before, { ...checkpoint, cursor: "new" }).cursor, "new")
  })
})

describe("a window with more records than the service returns", () => {
  const once = list({ kind: "once" }, { total: "total" })
  const window = [base, base + 100] as const
  const read = (count: number, total: number | undefined, before: Partial<ListProgress> = {}, strategy = once) =>
    after(strategy, {
      before: { windows: [window, [base + 100, base + 200]], ...before },
      records: records(count),
      ...(total !== undefined && { body: { total } })
    })
  const halves = (counted?: number): ReadonlyArray<TimeWindow> => [
    counted === undefined ? [base, base + 50] : [base, base + 50, counted],
    counted === undefined ? [base + 50, base + 100] : [base + 50, base + 100, counted],
    [base + 100, base + 200]
  ]

  it.each([
    ["fewer than a page", 9, 9, false],
    ["a page", 10, 10, true],
    ["fewer than the service counts", 5, 9, true],
    ["a page that nobody counts", 10, undefined, true],
    ["less than a page that nobody counts", 9, undefined, false]
  ])("is read in two halves: it returned %s", (_, count, total, isSplit) => {
    const { windows } = read(count, total)
    assert.deepStrictEqual(windows, isSplit ? halves(total) : [[base + 100, base + 200]])
  })

  it("is read in halves if its length is that of pages that the service cut", () => {
    const cut = after(once, { before: { windows: [window] }, records: records(7), cuts: new Set([7]) })
    assert.deepStrictEqual(cut.windows, halves().slice(0, 2))
  })

  it("counts with the windows before it", () =>
    assert.deepStrictEqual(read(10, 20, { earlier: { count: 30, total: 30 } }).windows, halves(50)))

  it("is not split by a total at which search engines stop counting, but by its page", () =>
    assert.deepStrictEqual(read(10, 10_000).windows, halves()))

  it("proves that the service ignores windows if its half has more than the whole and half a page", () => {
    const within = (total: number) => read(10, total, { windows: [[base, base + 50, 100]] })
    assert.isUndefined(within(105).failed)
    assert.match(within(106).failed!, /same records in every time window/)
    assert.isUndefined(read(10, 10_000, { windows: [[base, base + 50, 100]] }).failed)
  })

  it("is read by pages up to the most that the service returns, and by its first page only", () => {
    const paged = { ...numbered, total: "total", maxRecords: 100 }
    assert.deepStrictEqual(read(10, 100, {}, paged).windows, halves(100))
    assert.strictEqual(read(10, 99, {}, paged).next, 2)
    assert.strictEqual(read(10, 100, { cursor: 2 }, paged).next, 3)
    assert.strictEqual(read(10, 100, {}, { ...numbered, total: "total" }).next, 2)
  })

  it("of one millisecond cannot be split, and causes a warning", () => {
    const limited = read(10, 20, {
      windows: [
        [base, base + 1],
        [base + 1, base + 2]
      ]
    })
    assert.deepInclude(limited, { warnings: ["TimestampLimited"], windows: [[base + 1, base + 2]], done: false })
    assert.isUndefined(halved(5, 6))
    assert.isUndefined(halved(5, 5))
    assert.deepStrictEqual(halved(5, 7), [
      [5, 6],
      [6, 7]
    ])
    assert.deepStrictEqual(halved(5, 8), [
      [5, 6],
      [6, 8]
    ])
  })
})

describe("the id of a record", () => {
  it.each([
    [{ id: "a", _id: "b" }, "a"],
    [{ _id: "b" }, "b"],
    [{ id: 7 }, "7"],
    [{ name: "x" }, '{"name":"x"}'],
    ["text", "text"]
  ])("%j is %s", (record, id) => assert.strictEqual(idOf(record), id))

  it("is a hash if it is longer than 200 characters, because every page stores it", () => {
    assert.strictEqual(idOf({ id: "x".repeat(200) }).length, 200)
    assert.match(idOf({ id: "x".repeat(201) }), /^[0-9a-f]{64}$/)
    assert.notStrictEqual(idOf({ id: "x".repeat(201) }), idOf({ id: "x".repeat(202) }))
  })

  it("and the times of records leave out those that have none", () =>
    assert.deepStrictEqual(instantsIn([{ at: base }, {}, { at: "no" }], "at"), [base]))

  it("and a length to which the service cut another list are looked up in what was met so far", () => {
    const page = { records: records(7), ids: [], body: {}, size: 10 }
    assert.isFalse(isCutElsewhere(page))
    assert.isFalse(isCutElsewhere({ ...page, cuts: new Set([8]) }))
    assert.isTrue(isCutElsewhere({ ...page, cuts: new Set([7]) }))
  })
})
