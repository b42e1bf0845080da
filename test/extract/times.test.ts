/** What the times of the records on a page show: an ignored filter, the changes, and the end of a list by newest change. */
import { assert, describe, it } from "@effect/vitest"
import type { Changes } from "../../src/catalog/resource.ts"
import type { ListProgress } from "../../src/stages/extract/list-progress.ts"
import { after, base, byCursor, records } from "./step.ts"

const day = 86_400_000

describe("a filter by time", () => {
  const filtered = { ...byCursor, verifyField: "at" }
  const first = base
  const shown = (at: unknown) => ({ records: [{ id: "a", at, next: 1 }], size: 1 })
  it.each([
    ["a day before its start", first - day, false],
    ["more than a day before its start", first - day - 1, true],
    ["long after its start", first + 9 * day, false],
    ["without a time", undefined, false]
  ])("is ignored if a record is %s: %s, %o", (_, at, isIgnored) =>
    assert.strictEqual(after(filtered, { since: first, ...shown(at) }).failed !== undefined, isIgnored)
  )

  it("is ignored in a window if a record is more than a day after its end", () => {
    const within = (at: number) => after(filtered, { before: { windows: [[first, first + 5]] }, ...shown(at) }).failed
    assert.isUndefined(within(first + 5 + day))
    assert.match(within(first + 6 + day)!, /ignores the filter on at/)
    assert.match(within(first - 1 - day)!, /ignores the filter on at/)
  })

  it("shows in a single record of many, and not without a filter", () => {
    const page = { records: records(10).with(4, { id: "z", at: base - 5 }), since: base + day }
    assert.match(after(filtered, page).failed!, /ignores/)
    assert.isUndefined(after(byCursor, page).failed)
    assert.isUndefined(after(filtered, { records: page.records }).failed)
  })
})

describe("the changes of a page", () => {
  it("are dated by the field, or by another one, and what has neither is counted", () => {
    const page = [
      { id: "a", at: base + 7 },
      { id: "b", made: base + 9 },
      { id: "c", next: 1 }
    ]
    const dated = (changes: Partial<Changes>, before: Partial<ListProgress> = {}) =>
      after(byCursor, { records: page, changes, before })
    assert.deepInclude(dated({}), { highest: base + 7, undated: 2 })
    assert.deepInclude(dated({ fallback: { field: "made", overlap: "0 days" } }), { highest: base + 9, undated: 1 })
    assert.deepInclude(dated({}, { highest: base + 8, undated: 3 }), { highest: base + 8, undated: 5 })
    const none = after(byCursor, { records: [{ id: "a", at: base, next: 1 }], changes: {} })
    assert.isFalse("undated" in none)
    assert.isFalse("highest" in after(byCursor, { records: [{ id: "a", next: 1 }], changes: {} }))
    assert.isFalse("highest" in after(byCursor, {}))
  })
})

describe("a list with the newest change first", () => {
  const newest = { ...byCursor, stopBefore: "at" }
  /** A record that was changed, or made, so many milliseconds after the first one. */
  const timed = (at: unknown) =>
    typeof at === "number"
      ? { at: base + at }
      : Object.fromEntries(Object.entries(at ?? {}).map(([name, ms]) => [name, base + Number(ms)]))
  const isKnown = (
    ats: ReadonlyArray<unknown>,
    changes: Partial<Changes> = {},
    since: number | undefined = base + 5000
  ) =>
    after(newest, {
      records: ats.map((at, n) => ({ id: `i${n}`, next: n, ...timed(at) })),
      size: ats.length,
      changes,
      ...(since !== undefined && { since })
    }).done

  it.each([
    ["whose last two records are older", [9000, 4999, 4998], true],
    ["whose last record is as old as the watermark", [9000, 4999, 5000], false],
    ["with one record out of order before the end", [9000, 6000, 4000], false],
    ["of one old record", [4999], true],
    ["whose last record but one has no time", [9000, undefined, 4999], true]
  ])("ends with a page %s: %j, %o", (_, ats, expected) => assert.strictEqual(isKnown(ats), expected))

  it("that is dated by another time ends only if all records are older by the overlap", () => {
    const made = (...ats: ReadonlyArray<number>) => ats.map((made) => ({ made }))
    const changes = { fallback: { field: "made", overlap: "1 second" } } as const
    assert.isTrue(isKnown(made(3999, 3998), changes))
    assert.isFalse(isKnown(made(4000, 3998), changes))
    assert.isFalse(isKnown([{ made: 3999 }, {}], changes))
    assert.isFalse(isKnown([{}, {}]))
  })

  it("is read to its end if nothing is known of it", () => {
    const page = { records: records(10), changes: {} }
    assert.isFalse(after(newest, page).done)
    assert.isFalse(after(byCursor, { ...page, since: base + day }).done)
  })
})
