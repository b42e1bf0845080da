/** Page sizes: one trial with a larger size if it saves requests, and the maximum from the error message if it is rejected. */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { sizeFromTrial, sizeBelow, shouldTryPageSize } from "../../src/stages/extract/page-size.ts"

const list: Strategy = {
  request: get("/x"),
  paging: { kind: "offset" },
  records: "x",
  pageSize: 100,
  trialPageSize: 500
}

describe("a list without a documented maximum", () => {
  it.each([
    [{ count: 100, total: 700 }, true, "six pages are left"],
    [{ count: 100, total: 400 }, false, "three pages are left: the trial would cost more than it saves"],
    [{ count: 0, total: 9000 }, false, "nothing has been read yet"],
    [{ count: 300 }, true, "no total, and three pages were read"],
    [{ count: 100 }, false, "no total, one page"]
  ])("is tried with a larger page size if it is long: %j", (state, worth, reason) => {
    assert.strictEqual(shouldTryPageSize(list, state), worth, reason)
  })

  it("is never tried if a maximum is documented or the list is paged by number", () => {
    const { trialPageSize: _, ...documented } = list
    assert.isFalse(shouldTryPageSize(documented, { count: 100, total: 9000 }))
    assert.isFalse(
      shouldTryPageSize({ ...list, paging: { kind: "pageNumber", first: 1 } }, { count: 100, total: 9000 })
    )
  })

  it("gives the further page size: the requested one, or the length of a shorter page; none at the end of the list", () => {
    assert.strictEqual(sizeFromTrial(list, 500), 500)
    assert.strictEqual(sizeFromTrial(list, 200), 200)
    assert.isUndefined(sizeFromTrial(list, 40))
  })
})

describe("a page size that is rejected", () => {
  it.each([
    [500, "limit must not be greater than 100", 100],
    [1000, "limit: maximum is 500", 500],
    [500, "pageLimit should be less than or equal to 250", 250],
    [500, "limit must be between 1 and 50", 50],
    [500, "le nombre demandé dépasse 250.", 250],
    [1000, "Bad Request", 100],
    [500, "request 8f3e2a11 of 2026-11-29 was refused (error 4000)", 100]
  ])("%i, rejected with '%s', becomes %i", (size, message, smaller) => {
    assert.strictEqual(sizeBelow(size, message), smaller)
  })

  it("is not reduced below the smallest maximum that a source names, unless the service names one", () => {
    assert.isUndefined(sizeBelow(100, "limit is wrong"))
    assert.isUndefined(sizeBelow(20, "limit must not be greater than 500"))
    assert.strictEqual(sizeBelow(100, "at most 50"), 50)
  })
})
