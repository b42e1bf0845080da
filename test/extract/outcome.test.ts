/** What a reading says of itself: how much may be missing, and what two readings or a reading and its parents make together. */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import {
  cappedByParents,
  combined,
  isTotalComparable,
  missingBeyondDrift,
  noStrategyWorks,
  remarksOf,
  withWarnings
} from "../../src/stages/extract/outcome.ts"
import type { Outcome } from "../../src/stores/vault/entry.ts"
import type { Reason } from "../../src/values/reason.ts"

const list = (pageSize: number): Strategy => ({ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize })
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  mode: "incremental",
  shortfalls: [],
  warnings: [],
  requests: 1,
  ...more
})
const misplaced: Reason = { _tag: "OutOfOrder", field: "at" }
const stuck: Reason = { _tag: "CursorStuck" }

describe("records that are missing from a list", () => {
  it.each([
    // Of few records, 1 % is the lesser: one of a hundred may have changed meanwhile.
    [100, 99, 100, 0],
    [100, 98, 100, 2],
    [100, 9, 10, 1],
    // Of many, a page is.
    [100, 20_000 - 100, 20_000, 0],
    [100, 20_000 - 101, 20_000, 101],
    // Nothing is missing.
    [100, 0, 0, 0],
    [100, 5, 5, 0],
    [100, 7, 5, 0],
    [100, 5, undefined, 0]
  ])("on pages of %i, with %i of %o read, are %i beyond what changes explain", (pageSize, count, total, missing) => {
    assert.strictEqual(missingBeyondDrift({ count, total }, list(pageSize)), missing)
  })
})

describe("the total of the service", () => {
  const filtered: Strategy = { ...list(10), verifyField: "updatedAt" }
  it.each([
    ["the whole list", list(10), undefined, true],
    ["a list from its middle on, of which the total counts all", list(10), 5, false],
    ["a list that is filtered as the total is", filtered, 5, true],
    ["a list that could be filtered and was not", filtered, undefined, true]
  ])("counts what was requested: %s", (_, strategy, since, isComparable) =>
    assert.strictEqual(isTotalComparable(strategy, since), isComparable)
  )
})

describe("what the partitions of a list say", () => {
  it("is a shortfall where a misplaced record may hide others, else a warning, and each is said once", () => {
    assert.deepStrictEqual(remarksOf([{ warnings: [misplaced, stuck] }, { warnings: [stuck, misplaced] }]), {
      shortfalls: [misplaced],
      warnings: [stuck]
    })
    assert.deepStrictEqual(remarksOf([{ warnings: [] }]), { shortfalls: [], warnings: [] })
  })
})

describe("children", () => {
  const own = outcome({ shortfalls: [misplaced], warnings: [stuck] })
  it("keep what was found about themselves, whatever their parents are", () => {
    for (const parents of [[], ["complete"], ["complete_with_warnings"], ["incomplete"]] as const) {
      const { shortfalls, warnings } = cappedByParents(own, "parents", parents)
      assert.deepInclude(shortfalls, misplaced)
      assert.deepInclude(warnings, stuck)
    }
  })

  it.each([
    [["complete"], [], []],
    [["complete", "complete_with_warnings"], [], ["complete_with_warnings"]],
    [["complete_with_warnings", "incomplete", "complete"], ["incomplete"], []]
  ] as const)("of parents that are %j lack as much as the least complete of them", (parents, shortfalls, warnings) => {
    const reasons = (statuses: typeof shortfalls | typeof warnings) =>
      statuses.map((status) => ({ _tag: "ParentNotComplete", table: "parents", status }))
    assert.deepStrictEqual(
      cappedByParents(outcome(), "parents", parents),
      outcome({
        shortfalls: reasons(shortfalls) as ReadonlyArray<Reason>,
        warnings: reasons(warnings) as ReadonlyArray<Reason>
      })
    )
  })

  it("of parents that were never read are not complete, and the table is named", () => {
    const { shortfalls } = cappedByParents(outcome(), "parents", [])
    assert.deepStrictEqual(shortfalls, [{ _tag: "ParentNeverRead", table: "parents" }])
  })
})

describe("two readings that complement each other", () => {
  it("cost the requests of both", () =>
    assert.strictEqual(combined(outcome({ requests: 7 }), outcome({ requests: 5 })).requests, 12))

  it.each([
    [100, 200, 200],
    [200, 100, 200],
    [undefined, 100, 100],
    [100, undefined, 100],
    [undefined, undefined, undefined]
  ])("reach as far as the one that reached further: %o and %o", (one, other, watermark) => {
    const reaching = (at: number | undefined) => outcome(at === undefined ? {} : { watermark: at })
    const both = combined(reaching(one), reaching(other))
    assert.strictEqual(both.watermark, watermark)
    assert.strictEqual("watermark" in both, watermark !== undefined)
  })

  it("lack what either lacks, and what both lack is said once", () => {
    const one = outcome({ shortfalls: [misplaced], warnings: [stuck], since: 5, total: 9, mode: "full" })
    const ties: Reason = { _tag: "TiesLimited", field: "at" }
    const other = outcome({ shortfalls: [misplaced, { _tag: "PartitionBelowTotal" }], warnings: [stuck, ties] })
    const both = combined(one, other)
    assert.deepStrictEqual(both.shortfalls, [misplaced, { _tag: "PartitionBelowTotal" }])
    assert.deepStrictEqual(both.warnings, [stuck, ties])
    assert.deepInclude(both, { mode: "full", since: 5, total: 9 })
    assert.deepStrictEqual(combined(outcome({ shortfalls: [misplaced] }), outcome()).shortfalls, [misplaced])
    assert.deepStrictEqual(combined(outcome({ warnings: [stuck] }), outcome()).warnings, [stuck])
  })
})

it("a warning is added to those that there are", () =>
  assert.deepStrictEqual(withWarnings(outcome({ warnings: [stuck] }), [misplaced]).warnings, [stuck, misplaced]))

it("a list that no strategy reads says why each of them fails, in words and as facts", () => {
  const { message, reasons, status } = noStrategyWorks([{ _tag: "CursorStuck" }, { _tag: "PartitionBelowTotal" }])
  assert.strictEqual(reasons?.length, 2)
  assert.match(message, /.+; .+/)
  assert.strictEqual(status, 0, "it is no answer of the service")
})
