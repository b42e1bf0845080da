/** Escaping, masking, numbers and charts of the report. */
import { assert, describe, it } from "@effect/vitest"
import { columns, lines, strip, ticksOf } from "../../src/pages/charts.ts"
import { brief, bytes, counted, duration, share, signed } from "../../src/features/report/format.ts"
import { bars as meters, tableOf } from "../../src/pages/html-table.ts"
import { html, moment, timeHtml } from "../../src/pages/html.ts"
import { cleanReason, fieldName, shape } from "../../src/features/report/mask.ts"

describe("html", () => {
  it("escapes every text, in elements and attributes, and leaves inserted HTML as it is", () => {
    const hostile = `<script>alert("1")</script>' onload=x &amp;`
    const one = html`<p title="${hostile}">${hostile}${undefined}${[html`<b>${3}</b>`, "<"]}</p>`.text
    assert.notInclude(one, "<script")
    assert.notInclude(one.slice(10, -4), `"1"`)
    assert.notInclude(one, `'`)
    assert.include(one, "&#38;amp;")
    assert.include(one, "<b>3</b>&#60;</p>")
  })

  it("replaces characters that HTML does not allow or that reorder text", () =>
    assert.strictEqual(html`${"a\0b\u202ec\ud800d\ne\r\nf"}`.text, "a\ufffdb\ufffdc\ufffdd\ne\nf"))
})

describe("masking", () => {
  it.each([
    ["jane.doe@example.com", "aaa.aaa@aaa.aaa"],
    ["jd@x.de", "aa@a.aa"],
    ["+18175551234", "+00000"],
    ["+1 (817) 555-1234", "+0 (000) 000-0000"],
    ["Jane O'Hara", "Aaaa A'Aaaa"],
    ["MARÍA 北京 ١٢٣", "AAA aa 000"],
    ["José\u0301", "Aaaa"],
    ["2026-13-45", "0000-00-00"],
    ["👋 hi", "? aa"],
    ['{"name":"Jane"}', '{"aaa":"Aaaa"}'],
    ["", ""]
  ])("of %j shows its shape %j", (value, expected) => assert.strictEqual(shape(value), expected))

  it("does not show how long a text is", () => {
    assert.isAtMost(shape("word, ".repeat(1000)).length, 41)
    assert.strictEqual(shape("a".repeat(10)), shape("a".repeat(30)))
  })

  it("removes the texts of the service and personal data from reasons, and keeps ours", () => {
    const detail = { message: "422 Jane Doe, jane@x.com, is not valid", answered: 422 }
    assert.strictEqual(
      cleanReason({ _tag: "RequestsFailed", count: 3, id: "x1", detail }),
      "failed requests: 3, for example x1: the service answered 422"
    )
    assert.strictEqual(cleanReason({ _tag: "RequestFailed", detail }), "the service answered 422")
    const strategy = { _tag: "StrategyFailed", method: "GET", path: "/a", detail } as const
    assert.strictEqual(
      cleanReason({ _tag: "NoStrategyWorks", reasons: [strategy, { ...strategy, path: "/b" }] }),
      "2 strategies could not be used, such as GET /a: the service answered 422"
    )
    assert.match(
      cleanReason({ _tag: "TooManyDeletions", missing: 412, deleted: 412, rows: 500 }),
      /^412 of 500 rows are missing/
    )
    assert.notInclude(cleanReason({ _tag: "SchemaFrozen", fields: ["contacts.Jane Doe"] }), "Jane")
  })

  it("removes them also from reasons of which only the sentence was stored", () => {
    const clean = (text: string) => cleanReason({ _tag: "Text", text })
    assert.strictEqual(
      clean("failed requests: 3, for example GET /contacts/x1: 422 Jane Doe, jane@x.com, is not valid"),
      "failed requests: 3, for example GET /contacts/x1: the service answered 422"
    )
    assert.strictEqual(clean("403 Jane is forbidden"), "the service answered 403")
    assert.strictEqual(clean("412 records have no key; see meta"), "412 records have no key; see meta")
    assert.notInclude(clean("a row of jane@example.com and +1 817 555 1234"), "jane")
    assert.notInclude(clean("a row of jane@example.com and +1 817 555 1234"), "817")
    assert.isAtMost(clean("x".repeat(5000)).length, 241)
  })

  it("shows the name of a field, but not a text in the place of one", () => {
    assert.strictEqual(fieldName("lead_score.v2"), "lead_score.v2")
    assert.strictEqual(fieldName("Jane Doe"), "Aaaa Aaa")
    assert.strictEqual(fieldName("<b>"), "<a>")
  })
})

it("numbers, sizes and times are written alike everywhere, and lines do not break before a unit", () => {
  assert.strictEqual(bytes(1500), "1.5\u00a0kB")
  const plain = (texts: ReadonlyArray<string>) => texts.map((text) => text.replaceAll("\u00a0", " "))
  assert.deepStrictEqual([950, 1234, 35_400, 1_200_000, 2_584_477_162].map(brief), [
    "950",
    "1.2K",
    "35K",
    "1.2M",
    "2.6B"
  ])
  assert.deepStrictEqual(plain([0, 999, 1500, 2_340_000].map(bytes)), ["0 B", "999 B", "1.5 kB", "2.3 MB"])
  assert.deepStrictEqual([1, 0, -1200].map(signed), ["+1", "0", "−1,200"])
  assert.deepStrictEqual(plain([share(1, 200_000), share(7, 100), share(1, 4), share(1, 0)]), [
    "less than 0.1 %",
    "7.0 %",
    "25 %",
    "0 %"
  ])
  assert.deepStrictEqual(plain([90_000, 600_000, 7_200_000, 864_000_000].map(duration)), [
    "90 s",
    "10 min",
    "2 h",
    "10 days"
  ])
  assert.strictEqual(moment(Date.UTC(2026, 1, 3, 4, 5)), "3 Feb 2026, 04:05 UTC")
  for (const text of ["2026-02-03 04:05:06.789+00", "2026-02-03T04:05:06.789Z"])
    assert.strictEqual(
      timeHtml(text).text,
      '<time datetime="2026-02-03T04:05:06.789Z" title="2026-02-03T04:05:06.789Z">3 Feb 2026, 04:05 UTC</time>'
    )
  assert.strictEqual(timeHtml("the last <sync>").text, "the last &#60;sync&#62;")
  assert.deepStrictEqual([counted(1, "row"), counted(2000, "row")], ["1 row", "2,000 rows"])
})

it("texts below columns begin and end with the chart", () => {
  assert.deepStrictEqual(
    ticksOf(["a", "b", "c", "d"], "columns").map(({ at, text }) => [at, text]),
    [
      [0, "a"],
      [0.375, "b"],
      [0.625, "c"],
      [1, "d"]
    ]
  )
})

describe("charts", () => {
  const frame = { title: "T<", description: "D", unit: "u", format: String, ticks: ticksOf(["a", "b"], "columns") }
  const numbers = (svg: string, name: string) =>
    Array.from(svg.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g")), ([, value]) => Number(value))

  it("draws columns in proportion to their values, with a title and a description", () => {
    const svg = columns(
      [
        { text: "x", value: 50 },
        { text: "<y>", value: 100, mark: 25 }
      ],
      frame
    ).text
    assert.deepStrictEqual(numbers(svg, "height"), [50, 100])
    assert.deepStrictEqual(numbers(svg, "y"), [50, 0])
    assert.match(svg, /<title>T&#60;<\/title>\s*<desc>D<\/desc>/)
    assert.include(svg, "&#60;y&#62;")
    assert.include(svg, 'class="mark"')
  })

  it("draws nothing of zero, and something of everything else", () => {
    const bars = [0, 0.001, 100].map((value) => ({ text: "x", value }))
    assert.deepStrictEqual(numbers(columns(bars, frame).text, "height"), [1, 100])
    const table = { id: "t", caption: "c", columns: [meters("n", [0, 1], Number)] }
    assert.lengthOf(tableOf([0, 1], table).text.match(/class="meter"/g)!, 1)
  })

  it("leaves room for columns that there are not yet, on the left", () => {
    const svg = columns([{ text: "x", value: 1 }], { ...frame, slots: 10 }).text
    assert.deepStrictEqual(numbers(svg, "x"), [912])
    assert.deepStrictEqual(numbers(svg, "width"), [76])
    assert.deepStrictEqual(ticksOf(["a"], "columns", 10), [{ at: 1, text: "a" }])
    assert.deepStrictEqual(
      ticksOf(["a", "b", "c", "d", "e"], "columns", 10).map(({ text }) => text),
      ["a", "c", "e"]
    )
  })

  it("has whole numbers at the grid lines of a few things", () => {
    const levels = (value: number) =>
      Array.from(columns([{ text: "x", value }], frame).text.matchAll(/bottom:[^>]*>([^<]*)</g), ([, level]) => level)
    assert.deepStrictEqual([1, 2, 3, 9, 10, 30].map(levels), [
      ["0", "1"],
      ["0", "1", "2"],
      ["0", "1", "2", "3"],
      ["0", "5", "10"],
      ["0", "5", "10"],
      ["0", "10", "20", "30"]
    ])
  })

  it("draws no line over a gap, and a value between two gaps as a dot", () => {
    const points = [1, undefined, 2, undefined, 3, 4].map((y, index) => ({ x: index / 5, y }))
    const svg = lines([{ name: "n", kind: "line", points }], frame).text
    assert.deepStrictEqual(
      Array.from(svg.matchAll(/class="(line|line dot)"\s+d="([^"]*)"/g), ([, kind, d]) => [kind, d]),
      [
        ["line", "M0 75M400 50M800 25L1000 0"],
        ["line dot", "M0 75h0M400 50h0"]
      ]
    )
  })

  it("draws a limit only if it is within reach", () => {
    const bars = [{ text: "x", value: 50 }]
    assert.include(columns(bars, { ...frame, limit: 500 }).text, 'class="limit"')
    assert.notInclude(columns(bars, { ...frame, limit: 501 }).text, 'class="limit"')
  })

  it("has no numbers that are not finite, whatever is drawn", () => {
    const drawn = [
      columns([], frame),
      columns([{ text: "0", value: 0 }], frame),
      lines([{ name: "n", kind: "area", points: [] }], frame),
      lines([{ name: "n", kind: "line", points: [{ x: 0, y: 0 }] }], frame),
      columns([{ text: "b", value: 1e15 }], frame),
      strip([], 30, frame)
    ]
    for (const { text } of drawn) assert.notMatch(text, /NaN|Infinity|undefined/)
  })
})
