/** Page sizes: tried upward once where it pays, taken from the service's own words where it refuses. */
import { assert, describe, it } from "@effect/vitest"
import { get } from "../../src/catalog/request.ts"
import type { Strategy } from "../../src/catalog/resource.ts"
import { probed, sizeBelow, shouldTryPageSize } from "../../src/extract/page-size.ts"

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
    [{ count: 100, total: 400 }, false, "three pages are left: the try would cost what it saves"],
    [{ count: 0, total: 9000 }, false, "nothing was read yet"],
    [{ count: 300 }, true, "no total, and three pages went by"],
    [{ count: 100 }, false, "no total, one page"]
  ])("is tried at a larger size where it goes on for long: %j", (state, worth, reason) => {
    assert.strictEqual(shouldTryPageSize(list, state), worth, reason)
  })

  it("is never tried where a maximum is documented, or where pages are numbered", () => {
    const { trialPageSize: _, ...documented } = list
    assert.isFalse(shouldTryPageSize(documented, { count: 100, total: 9000 }))
    assert.isFalse(
      shouldTryPageSize({ ...list, paging: { kind: "pageNumber", first: 1 } }, { count: 100, total: 9000 })
    )
  })

  it("gives the size to go on with: what was asked, or what a shorter page shows; nothing at the end of the list", () => {
    assert.strictEqual(probed(list, 500), 500)
    assert.strictEqual(probed(list, 200), 200)
    assert.isUndefined(probed(list, 40))
  })
})

describe("a size that is refused", () => {
  it.each([
    [500, "limit must not be greater than 100", 100],
    [1000, "limit: maximum is 500", 500],
    [500, "pageLimit should be less than or equal to 250", 250],
    [500, "limit must be between 1 and 50", 50],
    [500, "the limit is too large", 200],
    [100, "limit must not be greater than 500", 50]
  ])("%i, refused with '%s', becomes %i", (size, message, smaller) => {
    assert.strictEqual(sizeBelow(size, message), smaller)
  })

  it("is not made smaller than the smallest usual one", () => assert.isUndefined(sizeBelow(10, "limit is wrong")))
})
