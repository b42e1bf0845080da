/** The display of a run: which lines it has in terminals of any size, and how it replaces them. */
import { assert, describe, it } from "@effect/vitest"
import { DisplayArea } from "../../src/console/display-area.ts"
import { type DisplayState, type ReadingState, frame } from "../../src/run/display.ts"
import { Pace } from "../../src/run/progress.ts"
import { type Range, atLeast, between, exactly } from "../../src/values/range.ts"
import { type Size, Screen } from "../support/terminal.ts"

const reading = (name: string, more: Partial<ReadingState> = {}): ReadingState => ({
  name,
  pages: 12,
  records: 1234,
  requests: 13,
  status: undefined,
  ...more
})
const many = (count: number, name: string, more: Partial<ReadingState> = {}) =>
  Array.from({ length: count }, (_, index) => reading(`${name}_${index + 1}`, more))

const state = (readings: ReadonlyArray<ReadingState>, more: Partial<DisplayState> = {}): DisplayState => ({
  readings,
  planned: exactly(5678),
  requests: 1234,
  records: 123_456,
  elapsedMs: 720_000,
  leftMs: exactly(240_000),
  inWindow: 98,
  burst: 100,
  dailyRemaining: 198_766,
  ...more
})

const all = state([
  ...many(34, "done", { status: "complete" }),
  ...many(12, "waiting", { requests: 0, pages: 0, records: 0 }),
  reading("forms", { status: "incomplete" }),
  reading("contacts", { requests: 1300 }),
  reading("messages/conversations"),
  ...many(11, "running")
])

it("says that it publishes in place of a time and a share that it does not know", () => {
  const size = { columns: 120, rows: 40 }
  const reading = frame(state([]), size).join("\n")
  assert.match(reading, /left/)
  assert.match(reading, /%/)
  const publishing = frame(state([], { isPublishing: true, leftMs: exactly(0) }), size).join("\n")
  assert.include(publishing, "publishing")
  assert.notMatch(publishing, / s left|%/)
})

const sizes: ReadonlyArray<Size> = [
  { columns: 120, rows: 40 },
  { columns: 80, rows: 24 },
  { columns: 40, rows: 24 },
  { columns: 40, rows: 5 },
  { columns: 20, rows: 10 },
  { columns: 40, rows: 1 }
]

describe("the frame", () => {
  it("lists running resources, then incomplete ones, and counts the others, above the sums", () => {
    const lines = frame(all, { columns: 120, rows: 40 })
    assert.deepStrictEqual(
      [lines[0], lines[1], lines[13], ...lines.slice(14)],
      [
        "resource                pages  records  requests",
        "contacts                   12    1,234     1,300",
        "running_11                 12    1,234        13",
        "forms  incomplete",
        "34 resources done · 12 waiting",
        `[${"#".repeat(19)}${"-".repeat(73)}] 21 %`,
        "12 min · 1,234 of 5,678 requests · 123,456 records · budget 98/100 · 198,766 left today · about 4 min left"
      ]
    )
  })

  it("counts the resources for which a terminal of 24 lines has no space", () => {
    const lines = frame(state([...many(60, "running"), ...many(60, "failed", { status: "incomplete" })]), {
      columns: 80,
      rows: 24
    })
    assert.strictEqual(lines.length, 22)
    assert.strictEqual(lines.filter((line) => line.startsWith("running_")).length, 9)
    assert.strictEqual(lines.filter((line) => line.startsWith("failed_")).length, 8)
    assert.include(lines, "51 more running · 52 more incomplete")
  })

  it.each(sizes)("fits %j with two lines to spare, whatever it shows", (size) => {
    const states = [
      all,
      state([]),
      state(many(60, "running")),
      state(many(60, "a_resource_with_a_name_that_is_longer_than_the_terminal", { status: "incomplete" })),
      state(many(60, "waiting", { requests: 0 }), { planned: undefined, leftMs: undefined })
    ]
    for (const one of states) {
      const lines = frame(one, size)
      assert.isAtMost(lines.length, Math.max(1, size.rows - 2))
      for (const line of lines) assert.isBelow(line.length, size.columns, line)
    }
  })

  it("drops columns, not characters, in a terminal of 40 columns", () => {
    const lines = frame(all, { columns: 40, rows: 30 })
    assert.include(lines, `${"contacts".padEnd(26)}1,234`)
    assert.include(lines, "forms  incomplete")
  })

  it("keeps requests and the time left in a terminal of 5 lines", () => {
    const lines = frame(all, { columns: 40, rows: 5 })
    assert.deepStrictEqual(lines, [
      "12 min · 1,234 of 5,678 requests",
      "123,456 records · budget 98/100",
      "198,766 left today · about 4 min left"
    ])
  })

  it("shows a wide estimate by its limits, without a bar", () => {
    const shown = (planned: Range, leftMs: Range) =>
      frame(state([], { planned, leftMs }), { columns: 160, rows: 40 }).join("\n")
    const wide = shown(between(2000, 6000), between(240_000, 900_000))
    assert.match(wide, /· 1,234 of 2,000 to 6,000 requests · .* · 4 min to 15 min left$/)
    assert.notInclude(wide, "#")
    assert.match(shown(atLeast(2000), atLeast(240_000)), /of at least 2,000 requests .* at least 4 min left$/)
    assert.match(
      shown(between(2000, 2100), between(240_000, 241_000)),
      /# *.* of 2,000 to 2,100 requests .* about 4 min left$/s
    )
  })

  it("shows neither a bar nor a total if there is no plan, or if the run needs more requests", () => {
    for (const planned of [undefined, exactly(1000)]) {
      const text = frame(state([], { planned, leftMs: undefined }), { columns: 120, rows: 40 }).join("\n")
      assert.notMatch(text, / of |#|left$/)
      assert.match(text, /· 1,234 requests ·/)
    }
  })
})

describe("the pace", () => {
  const after = (seconds: number, perSecond: number) => {
    const pace = new Pace()
    for (let second = 0; second <= seconds; second++) pace.add(second * 1000, second * perSecond)
    return pace
  }

  it("is unknown for the first ten seconds, and while no request is sent", () => {
    assert.isUndefined(after(9, 5).msFor(100, 1))
    assert.isUndefined(after(60, 0).msFor(100, 1))
  })

  it("is that of the last minute", () => {
    const pace = after(600, 5)
    for (let second = 601; second <= 660; second++) pace.add(second * 1000, 3000 + (second - 600))
    assert.strictEqual(pace.msFor(60, 1), 60_000)
  })

  it("is at most what the rate limit allows, because a run begins with a burst", () => {
    assert.strictEqual(after(10, 20).msFor(100, 0.01), 10_000)
  })
})

describe("the area", () => {
  const terminalOf = (size: Size) => {
    const screen = new Screen(size)
    return { screen, terminal: { ...size, write: (text: string) => screen.write(text.replaceAll("\n", "\r\n")) } }
  }

  it("replaces its lines in place, below the messages, and leaves a clean line", () => {
    const { screen, terminal } = terminalOf({ columns: 40, rows: 10 })
    const area = new DisplayArea(terminal)
    for (let round = 0; round < 50; round++) {
      area.draw([`round ${round}`, "b", "c"].slice(0, 1 + (round % 3)))
      if (round % 10 === 0) area.above(() => terminal.write(`message ${round}\n`))
    }
    screen.write("^C")
    area.close()
    area.draw(["too late"])
    assert.deepStrictEqual(
      screen.lines.filter((line) => line !== ""),
      [0, 10, 20, 30, 40].map((round) => `message ${round}`)
    )
    assert.strictEqual(screen.column, 0)
  })

  it("takes a terminal that does not report its size for one of 80 columns and 24 rows", () => {
    const area = new DisplayArea({ columns: 0, rows: 0, write: () => undefined })
    assert.deepStrictEqual(area.size, { columns: 80, rows: 24 })
  })

  it("erases the lines as a terminal wraps them that became narrower", () => {
    const written: Array<string> = []
    const terminal = { columns: 80, rows: 24, write: (text: string) => written.push(text) }
    const area = new DisplayArea(terminal)
    area.draw(["x".repeat(79), "y"])
    terminal.columns = 40
    area.draw(["z"])
    assert.deepStrictEqual(written.at(-1), "\r\u001b[3A\u001b[Jz\n")
  })
})
