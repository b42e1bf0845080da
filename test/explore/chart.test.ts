/** A picture has a mark for each value, in its place, and a gap where a month has none: drawn months, quarters and years. */
import { assert, it } from "@effect/vitest"
import { chartSvg } from "../../src/features/explore/chart.ts"
import { randomFrom } from "../support/random.ts"

const width = 600
const [left, right] = [76, 16]

it("a line and bars of drawn months have each value and each gap", () => {
  const random = randomFrom(3)
  const below = (limit: number) => Math.floor(random() * limit)
  for (let drawn = 0; drawn < 40; drawn++) {
    const step = [1, 3, 12][below(3)]!
    const first = below(24)
    // Two that follow each other say what the step is.
    const places = [...new Set([0, 1, ...Array.from({ length: below(8) }, () => below(12))])].toSorted((a, b) => a - b)
    const keyOf = (place: number) => {
      const month = 24_300 + first + place * step
      return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}-01`
    }
    const points = places.map((place) => [keyOf(place), 1 + below(9)] as const)
    const shuffled = points.toSorted(() => random() - 0.5)
    const order = { x: "month", y: "n", xType: "temporal", points: shuffled, width } as const
    const shown = JSON.stringify(points)

    const line = chartSvg({ ...order, kind: "line" })
    const dots = Array.from(line.matchAll(/M([\d.]+) [\d.]+h0/g), ([, x]) => Number(x))
    assert.lengthOf(dots, points.length, shown)
    assert.deepStrictEqual([dots[0], dots.at(-1)], [left, width - right], shown)
    const [, path = ""] = /stroke-width="2" d="([^"]*)"/.exec(line) ?? []
    const runs = places.filter((place) => !places.includes(place - 1))
    assert.lengthOf(path.match(/M/g) ?? [], runs.length, shown)

    const bars = Array.from(
      chartSvg({ ...order, kind: "bar" }).matchAll(/<rect\s+x="([\d.]+)"\s+y="[\d.]+"\s+width="([\d.]+)"/g),
      ([, x, wide]) => [Number(x), Number(wide)] as const
    )
    assert.lengthOf(bars, points.length, shown)
    const stepWidth = (width - left - right) / (places.at(-1)! + 1)
    const expected = shuffled.map(
      ([key]) => left + (places[points.findIndex(([one]) => one === key)]! + 0.1) * stepWidth
    )
    for (const [n, [x, wide]] of bars.entries()) {
      assert.closeTo(wide, stepWidth * 0.8, 0.1, shown)
      assert.closeTo(x, expected[n]!, 0.1, shown)
    }
  }
})
