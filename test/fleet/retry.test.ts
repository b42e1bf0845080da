import { assert, describe, it } from "@effect/vitest"
import { nextOf } from "../../src/features/fleet/retry.ts"

const now = Date.parse("2026-03-01T02:00:00Z")
const after = (exitCode: number | null, failures = 0, resumeAt?: number) =>
  nextOf({ exitCode, failures, resumeAt, now })

describe("a run that has ended", () => {
  it("is done, partial, or failed for a person, and is not tried again", () => {
    assert.deepStrictEqual(after(0), { state: "done" })
    assert.deepStrictEqual(after(3), { state: "partial" })
    for (const code of [2, 77, 78]) assert.deepStrictEqual(after(code), { state: "failed" }, String(code))
  })

  it("waits for the day's budget until the service accepts requests again", () => {
    const resumeAt = now + 5 * 3_600_000
    assert.deepStrictEqual(after(75, 9, resumeAt), { state: "waiting", notBefore: resumeAt, isFailure: false })
  })

  it("is tried again for as long as the API is down, less and less often, at least each half hour", () => {
    const waits = [0, 1, 2, 3, 4, 5, 50].map((failures) => {
      const next = after(75, failures)
      return next.state === "waiting" && next.isFailure ? (next.notBefore - now) / 60_000 : undefined
    })
    assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 30, 30])
  })

  it("fails for good when a crash repeats", () => {
    for (const code of [1, null])
      assert.deepStrictEqual(
        [0, 1, 2].map((failures) => after(code, failures).state),
        ["waiting", "waiting", "failed"]
      )
  })

  it("is tried again at once when a signal stopped it, and soon when the folder was in use", () => {
    assert.deepStrictEqual(after(143), { state: "waiting", notBefore: now, isFailure: false })
    assert.deepStrictEqual(after(11, 50), { state: "waiting", notBefore: now + 10_000, isFailure: false })
  })
})
