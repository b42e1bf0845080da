/** Lists whose cursor is the sort value of the last record, page by page: no record with the same value is left out. */
import { assert, describe, it } from "@effect/vitest"
import type { Paging } from "../../src/catalog/resource.ts"
import type { ListProgress } from "../../src/stages/extract/list-progress.ts"
import { base, after, idsOf, list } from "./step.ts"

const paging = { kind: "sortValue", field: "at" } as const satisfies Paging
const ascending = list(paging)
const descending = list({ ...paging, descending: true })
/** Records with these times; without an id, they have no cursor of time and id. */
const timed = (ats: ReadonlyArray<number | undefined>, hasIds = true) =>
  ats.map((at, n) => ({ ...(hasIds ? { id: `i${n}` } : { _id: `i${n}` }), ...(at !== undefined && { at: base + at }) }))
const tenFrom = (from: number, by = 1) => Array.from({ length: 10 }, (_, n) => from + by * n)

describe("the cursor of a list by sort value", () => {
  it("is the time and id of the last record but one, so that the next page begins with the last", () => {
    const step = after(ascending, { records: timed(tenFrom(0)) })
    assert.deepInclude(step, { next: [base + 8, "i8"], edge: base + 9, count: 10, warnings: [] })
    assert.deepInclude(after(descending, { records: timed(tenFrom(0, -1)) }), {
      next: [base - 8, "i8"],
      edge: base - 9
    })
  })

  it("is what the record itself names, if that is a pair", () => {
    const sorted = (sort: unknown) => timed(tenFrom(0)).map((record) => ({ ...record, sort }))
    assert.deepInclude(after(ascending, { records: sorted([7, "x"]) }), { next: [7, "x"] })
    for (const sort of [[7], [7, "x", 1], "7"])
      assert.deepInclude(after(ascending, { records: sorted(sort) }), { next: [base + 8, "i8"] })
  })

  it("is one below the last time where the service takes no pair, or records have no id", () => {
    const byValue = { before: { byValue: true } }
    assert.deepInclude(after(ascending, { ...byValue, records: timed(tenFrom(0)) }), { next: base + 8, edge: base + 9 })
    assert.deepInclude(after(descending, { ...byValue, records: timed(tenFrom(0, -1)) }), { next: base - 8 })
    assert.deepInclude(after(ascending, { records: timed(tenFrom(0), false) }), { next: base + 8 })
    const undated = timed(tenFrom(0).with(8, undefined as never))
    assert.deepInclude(after(ascending, { records: undated }), { next: base + 8 })
  })

  it("is given up for the time alone if the next page does not begin with the last record", () => {
    const before = { cursor: [base + 8, "i8"], lastIds: idsOf(0, 10), edge: base + 9, count: 10 }
    const begun = timed(tenFrom(9)).with(0, { id: "other", at: base + 9 })
    assert.deepInclude(after(ascending, { before, records: begun }), { byValue: true, next: base + 8, count: 10 })
    assert.deepInclude(after(descending, { before, records: begun }), { byValue: true, next: base + 10 })
    const continued = timed(tenFrom(9)).map((record, n) => ({ ...record, id: `i${9 + n}` }))
    assert.deepInclude(after(ascending, { before, records: continued }), { next: [base + 17, "i17"], count: 19 })
    assert.isUndefined(after(ascending, { before, records: continued }).byValue)
    // A cursor that is no pair promises nothing.
    assert.isUndefined(after(ascending, { before: { ...before, cursor: base }, records: begun }).byValue)
  })
})

describe("the order of a list by sort value", () => {
  const begun = { count: 20, cursor: base - 1, byValue: true }
  it("is not needed on a page that is the whole list", () => {
    const counted = { ...ascending, total: "total" }
    const whole = { records: timed([9, 1, 5, 2]), body: { total: 4 } }
    assert.deepInclude(after(counted, whole), { done: true, warnings: [] })
    const rest = { before: begun, records: timed([1, 3, 2, 4]), body: { total: 4 } }
    assert.deepInclude(after(counted, rest), {
      done: true,
      warnings: ["OutOfOrder"]
    })
    assert.match(after(ascending, { before: begun, records: timed([9, 8, 7, 6]) }).failed!, /does not sort by at/)
  })

  it("is wrong if more than half of the records are misplaced, and else causes a warning", () => {
    const half = timed([5, 4, 5, 4, 5, 4, 5, 4, 5, 4])
    assert.deepInclude(after(ascending, { before: begun, records: half }), { warnings: ["OutOfOrder"] })
    const more = timed([5, 4, 3, 2, 1, 0, 5, 4, 5, 6])
    assert.match(after(ascending, { before: begun, records: more }).failed!, /does not sort/)
    assert.match(after(descending, { records: timed(tenFrom(0)) }).failed!, /does not sort/)
    assert.isFalse(after(ascending, { before: begun, records: timed(tenFrom(0).map(() => 3)) }).done)
  })

  it("of an earlier page that comes again is right: the request is repeated", () => {
    const before = { cursor: base + 18, byValue: true, count: 20, lastIds: idsOf(10, 20), edge: base + 19 }
    for (const [strategy, ats] of [
      [ascending, tenFrom(0)],
      [ascending, tenFrom(5)],
      [ascending, tenFrom(0).slice(0, 4)],
      [ascending, tenFrom(0).map(() => 3)]
    ] as const)
      assert.deepInclude(after(strategy, { before, records: timed(ats) }), {
        failed: "the list returned an earlier page again",
        isAgain: true
      })
    const back = { ...before, cursor: base - 18 }
    assert.isTrue(after(descending, { before: back, records: timed(tenFrom(0, -1)) }).isAgain)
    assert.isFalse(after(descending, { before: back, records: timed(tenFrom(0)) }).isAgain ?? false)
  })

  it("counts from the cursor on: what is before it is misplaced", () => {
    const early = (count: number) => timed([...Array<number>(count).fill(-5), ...tenFrom(0)].slice(0, 10))
    assert.deepInclude(after(ascending, { before: begun, records: early(1) }), { warnings: ["OutOfOrder"] })
    assert.deepInclude(after(ascending, { before: { ...begun, cursor: base + 1 }, records: timed(tenFrom(1)) }), {
      warnings: []
    })
    assert.deepInclude(
      after(ascending, { before: { ...begun, cursor: [base + 1, "i0"], lastIds: ["i0"] }, records: timed(tenFrom(1)) }),
      { warnings: [] }
    )
    assert.match(
      after(descending, { before: { ...begun, cursor: base - 100 }, records: timed(tenFrom(0, -1)) }).failed!,
      /earlier page again/
    )
  })

  it("of a page with a misplaced record ends at the second highest of its last three times", () => {
    const step = after(ascending, { before: begun, records: timed([0, 1, 2, 3, 4, 5, 6, 7, 99, 9]) })
    assert.deepInclude(step, { edge: base + 9, next: base + 8, warnings: ["OutOfOrder"] })
    const back = after(descending, {
      before: { ...begun, cursor: base + 100 },
      records: timed([9, 8, 7, 6, 5, 4, 3, 2, -99, 0])
    })
    assert.deepInclude(back, { edge: base, next: base + 1 })
  })

  it("cannot be followed without any time", () =>
    assert.match(
      after(ascending, { before: begun, records: timed(tenFrom(0).map(() => undefined)) }).failed!,
      /have no at/
    ))
})

describe("more records with one time than fit on a page", () => {
  const same = timed(tenFrom(0).map(() => 7))
  const repeated = { cursor: base + 6, byValue: true, count: 10, lastIds: idsOf(0, 10), edge: base + 7 }

  it("cause a warning where the list cannot be read in parts, and the list continues behind them", () =>
    assert.deepInclude(after(ascending, { before: repeated, records: same }), {
      next: base + 7,
      warnings: ["TiesLimited"]
    }))

  const parts = list({
    ...paging,
    splitBy: [
      [{ kind: 0 }, { kind: 1 }],
      [{ size: 0 }, { size: 1 }]
    ]
  })
  it("are read in parts, from the same cursor", () => {
    const { next, ties } = after(parts, { before: repeated, records: same })
    assert.strictEqual(next, base + 6)
    assert.deepStrictEqual(ties, {
      value: base + 7,
      left: [
        { level: 0, parameters: { kind: 0 } },
        { level: 0, parameters: { kind: 1 } }
      ],
      ids: idsOf(0, 10),
      unshown: idsOf(0, 10)
    })
  })

  /** A part returns these ids, and records with a later time. */
  const partOf = (ids: ReadonlyArray<string>, ties: NonNullable<ListProgress["ties"]>) =>
    after(parts, {
      before: { ...repeated, ties },
      records: [...ids.map((id) => ({ id, at: base + 7 })), ...timed([8, 9])].slice(0, 10)
    })
  const [first, second] = [
    { level: 0, parameters: { kind: 0 } },
    { level: 0, parameters: { kind: 1 } }
  ]
  const ids = idsOf(0, 3)

  it("in each part count once, and the next part follows", () => {
    const { count, next, ties, warnings } = partOf(["i0", "new"], {
      value: base + 7,
      left: [first, second],
      ids,
      unshown: ids
    })
    assert.deepStrictEqual([count, next, warnings], [11, base + 6, []])
    assert.deepStrictEqual(ties, { value: base + 7, left: [second], ids: [...ids, "new"], unshown: ["i1", "i2"] })
  })

  it("are all read if the last part completes them, and the list continues behind them", () => {
    const last = partOf(["i1", "i2"], { value: base + 7, left: [second], ids, unshown: ["i1", "i2"] })
    assert.deepInclude(last, { next: base + 7, warnings: [], lastIds: ids, count: 10 })
    assert.isUndefined(last.ties)
  })

  it("are not all read if no part returns one of them", () => {
    const last = partOf(["i1"], { value: base + 7, left: [second], ids, unshown: ["i1", "i2"] })
    assert.deepInclude(last, { next: base + 7, warnings: ["TiesLimited"] })
    const before = partOf(["i1"], { value: base + 7, left: [first, second], ids, unshown: ["i1", "i2"] })
    assert.deepStrictEqual(before.warnings, [])
  })

  it("that fill a part as well are read in smaller parts, which must return all of it", () => {
    const full = partOf(idsOf(0, 10), { value: base + 7, left: [first, second], ids, unshown: ["i1", "z"] })
    assert.deepStrictEqual(full.ties, {
      value: base + 7,
      left: [{ level: 1, parameters: { kind: 0, size: 0 } }, { level: 1, parameters: { kind: 0, size: 1 } }, second],
      ids: idsOf(0, 10),
      unshown: ["i1", "z", ...idsOf(0, 10).filter((id) => id !== "i1")]
    })
    assert.deepStrictEqual(full.warnings, [])
    const smallest = partOf(idsOf(0, 10), {
      value: base + 7,
      left: [{ level: 1, parameters: {} }, second],
      ids,
      unshown: []
    })
    assert.deepStrictEqual(smallest.warnings, ["TiesLimited"])
    assert.deepStrictEqual(smallest.ties!.left, [second])
  })
})
