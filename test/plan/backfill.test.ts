import { assert, describe, it } from "@effect/vitest"
import { windowsOf } from "../../src/stages/plan/backfill.ts"

const at = (text: string) => Date.parse(`${text}Z`)

describe("the windows of a backfill", () => {
  it("are months, newest first, and cover the period without a gap", () => {
    const windows = windowsOf([at("2024-11-20"), at("2025-02-10T12:00")], [])
    assert.deepStrictEqual(windows, [
      [at("2025-02-01"), at("2025-02-10T12:00")],
      [at("2025-01-01"), at("2025-02-01")],
      [at("2024-12-01"), at("2025-01-01")],
      [at("2024-11-20"), at("2024-12-01")]
    ])
  })

  it("leave out the periods that were read, whatever their boundaries", () => {
    const windows = windowsOf(
      [at("2025-01-01"), at("2025-03-01")],
      [
        [at("2025-01-10"), at("2025-01-20")],
        [at("2025-01-25"), at("2025-02-05")],
        [at("2025-02-28"), at("2025-06-01")]
      ]
    )
    assert.deepStrictEqual(windows, [
      [at("2025-02-05"), at("2025-02-28")],
      [at("2025-01-20"), at("2025-01-25")],
      [at("2025-01-01"), at("2025-01-10")]
    ])
    assert.deepStrictEqual(windowsOf([at("2025-01-01"), at("2025-02-01")], [[at("2024-01-01"), at("2026-01-01")]]), [])
  })
})
