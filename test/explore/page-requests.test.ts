/** What the page sends besides queries: charts, and queries to save. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { newFolder } from "../support/sluice.ts"
import { limits } from "../../src/features/explore/limits.ts"
import { type Client, openExplorer } from "./client.ts"

/** None of this needs a published file. */
const output = newFolder()
let client: Client
beforeAll(async () => {
  client = await openExplorer(output)
})
afterAll(async () => {
  await client.explorer.close()
  rmSync(output, { recursive: true })
})

describe("charts", () => {
  it("show hostile names as text, and refuse what is no chart", async () => {
    const name = `</text><script>alert(1)</script>'] + datum["x`
    const chart = {
      kind: "bar",
      xType: "nominal",
      x: name,
      y: name,
      points: [
        [name, 1],
        ["b", 2]
      ]
    }
    const { status, body } = await client.post("/api/chart", chart)
    assert.strictEqual(status, 200)
    assert.match(body.svg, /^<svg\s.*alert\(1\)/s)
    assert.notInclude(body.svg, "<script")
    const days = {
      ...chart,
      kind: "line",
      xType: "temporal",
      points: [
        ["2026-01-31", 1],
        ["2026-02-28T10:00:00Z", 2]
      ]
    }
    assert.match((await client.post("/api/chart", days)).body.svg, />28 Feb</)
    const series = [
      ["a", 1, "one"],
      ["a", 3, "</text><script>"],
      ["b", 2, "one"]
    ]
    for (const kind of ["bar", "grouped", "line", "area"]) {
      const { status, body } = await client.post("/api/chart", { ...chart, kind, points: series })
      assert.strictEqual(status, 200, kind)
      assert.notInclude(body.svg, "<script")
      // The legend names both.
      assert.match(body.svg, />one<.*&#60;script&#62;/s)
      // Stacked, the highest is 4; side by side, 3.
      const ticks = Array.from(body.svg.matchAll(/>([\d.]+)<\/text>/g), ([, n]) => Number(n))
      assert.strictEqual(Math.max(...ticks), kind === "bar" || kind === "area" ? 4 : 3, kind)
    }
    for (const wrong of [
      { kind: "arc" },
      { points: [["a", 1, 2]] },
      { points: [["a", 1, "one", "more"]] },
      { xType: "x" },
      { points: [["a", "1"]] },
      { points: Array.from({ length: 2001 }, () => ["a", 1]) }
    ])
      assert.strictEqual((await client.post("/api/chart", { ...chart, ...wrong })).status, 400)
  })

  it("have a gap for each month without a value, and count in whole numbers", async () => {
    const drawn = async (kind: string, keys: ReadonlyArray<string>) => {
      const points = keys.map((key) => [key, 1])
      const { body } = await client.post("/api/chart", { kind, xType: "temporal", x: "month", y: "n", points })
      return String(body.svg)
    }
    const months = ["2026-01-01", "2026-02-01", "2026-05-01", "2026-06-01"]
    const runs = async (kind: string, keys: ReadonlyArray<string>) =>
      /<path (?:fill="none" stroke="#1f5f93" stroke-width="2"|fill="#1f5f93".*?) +d="(.*?)"/s
        .exec((await drawn(kind, keys)).replaceAll(/\s+/g, " "))![1]!
        .match(/M/g)!.length
    for (const kind of ["line", "area"]) {
      assert.strictEqual(await runs(kind, months), 2, kind)
      assert.strictEqual(
        await runs(
          kind,
          months.map((month) => `${month}T00:00:00Z`)
        ),
        2,
        kind
      )
      assert.strictEqual(await runs(kind, ["2026-01-01", "2026-02-01", "2026-03-01"]), 1, kind)
      // Quarters, and days of which nobody knows how far they are apart.
      assert.strictEqual(await runs(kind, ["2025-10-01", "2026-01-01", "2026-07-01", "2026-10-01"]), 2, kind)
      assert.strictEqual(await runs(kind, ["2026-01-02", "2026-02-01", "2026-05-01"]), 1, kind)
      assert.strictEqual(await runs(kind, ["0001-01-01", "0001-02-01", "9999-01-01"]), 1, kind)
    }
    // Bars stand where their month is, also if they come in another order.
    const lefts = async (keys: ReadonlyArray<string>) =>
      Array.from((await drawn("bar", keys)).matchAll(/<rect\s+x="([\d.]+)"/g), ([, x]) => Number(x))
    const bars = await lefts(months)
    assert.deepStrictEqual((await lefts(months.toReversed())).toReversed(), bars)
    assert.closeTo((bars[2]! - bars[1]!) / (bars[1]! - bars[0]!), 3, 0.01)
    const ticks = Array.from(
      (await drawn("bar", months)).matchAll(/text-anchor="end".*?>([\d.]+)<\/text>/g),
      ([, n]) => n
    )
    assert.deepStrictEqual(ticks, ["0", "1"])
  })

  it("name all their bars, turned where they have no room beside each other", async () => {
    const drawn = async (names: ReadonlyArray<string>) => {
      const points = names.map((name, index) => [name, index + 1])
      const { body } = await client.post("/api/chart", {
        kind: "bar",
        xType: "nominal",
        x: "Stage",
        y: "Deals",
        points
      })
      return String(body.svg)
    }
    const stages = Array.from({ length: 12 }, (_, index) => `Estimate sent ${index}`)
    const many = await drawn(stages)
    for (const stage of stages) assert.match(many, new RegExp(`rotate\\(-40\\)[^>]*>\\s*${stage}\\s*<`))
    const few = await drawn(["Asked", "Quoted"])
    assert.notInclude(few, "rotate(-40)")
    assert.match(few, />Quoted</)
  })
})

describe("saved queries", () => {
  it("are files that only their owner can read, and are replaced on demand only", async () => {
    const { post, get, queries } = client
    assert.strictEqual((await post("/api/queries", { name: "Umsatz je Monat", sql: "SELECT 1" })).status, 200)
    const path = join(queries, "Umsatz je Monat.sql")
    assert.strictEqual(readFileSync(path, "utf8"), "SELECT 1\n")
    assert.strictEqual(statSync(path).mode & 0o077, 0)
    assert.strictEqual((await post("/api/queries", { name: "Umsatz je Monat", sql: "SELECT 2" })).status, 409)
    assert.strictEqual(
      (await post("/api/queries", { name: "Umsatz je Monat", sql: "SELECT 2", replace: true })).status,
      200
    )
    assert.deepStrictEqual((await get("/api/queries")).body.queries, [{ name: "Umsatz je Monat", sql: "SELECT 2\n" }])
  })

  it("have as many bytes as the limit says, are then read again with their chart, and have no more", async () => {
    const { get, post } = client
    const start = "SELECT 1 AS n --"
    const sql = `${start}${"ä".repeat((limits.sqlBytes - start.length) / 2)}`
    const chart = { kind: "bar", x: "\0".repeat(200), y: ["\0".repeat(200), "\0".repeat(200)], by: "\0".repeat(200) }
    assert.strictEqual((await post("/api/queries", { name: "too long", sql: `${sql}x`, chart })).status, 400)
    assert.strictEqual((await post("/api/queries", { name: "longest", sql, chart })).status, 200)
    const { queries: saved } = (await get("/api/queries")).body
    assert.deepInclude(saved, { name: "longest", sql: `${sql}\n`, chart })
  })

  it("keep their chart in a comment, and no other", async () => {
    const { post, get, queries } = client
    const chart = { kind: "grouped", x: "month\n; DROP TABLE contacts", y: ["deals", "worth"], by: "'; --" }
    const more = { ...chart, more: "x".repeat(1000) }
    assert.strictEqual(
      (await post("/api/queries", { name: "with chart", sql: "SELECT 1 -- a", chart: more })).status,
      200
    )
    const text = readFileSync(join(queries, "with chart.sql"), "utf8")
    assert.match(text, /^SELECT 1 -- a\n-- chart: \{.*\}\n$/)
    const read = async () =>
      (await get("/api/queries")).body.queries.find(({ name }: { name: string }) => name === "with chart")
    assert.deepStrictEqual(await read(), { name: "with chart", sql: "SELECT 1 -- a\n", chart })
    for (const wrong of [{}, { ...chart, kind: "arc" }, { ...chart, y: ["a", "b", "c"] }, { ...chart, x: 1 }, "bar"])
      assert.strictEqual((await post("/api/queries", { name: "wrong", sql: "SELECT 1", chart: wrong })).status, 400)
    // A person has written it.
    writeFileSync(join(queries, "with chart.sql"), 'SELECT 1\n-- chart: {"kind":"pie"}\n')
    assert.deepStrictEqual(await read(), { name: "with chart", sql: "SELECT 1\n" })
    rmSync(join(queries, "with chart.sql"))
  })

  it.each([
    "",
    " ",
    "../up",
    "a/b",
    "a\\b",
    ".hidden",
    "a.sql",
    "a\0",
    "a\n",
    "/etc/x",
    "x".repeat(81),
    "<script>",
    "~"
  ])("cannot have the name %j", async (name) => {
    const before = existsSync(client.queries) ? readdirSync(client.queries) : []
    const { status, body } = await client.post("/api/queries", { name, sql: "SELECT 1", replace: true })
    assert.strictEqual(status, 400)
    assert.match(body.error.message, /^A name has at most 80 letters/)
    assert.deepStrictEqual(existsSync(client.queries) ? readdirSync(client.queries) : [], before)
  })

  it("leave out links and other files, and replace none of them", async () => {
    const { post, get, queries } = client
    mkdirSync(queries, { recursive: true })
    const other = join(newFolder(), "other.sql")
    writeFileSync(other, "SELECT 'other'")
    symlinkSync(other, join(queries, "link.sql"))
    mkdirSync(join(queries, "folder.sql"))
    writeFileSync(join(queries, "notes.txt"), "")
    writeFileSync(join(queries, "large.sql"), "x".repeat(200_000))
    const names = (await get("/api/queries")).body.queries.map(({ name }: { name: string }) => name)
    assert.notIncludeMembers(names, ["link", "folder", "notes", "large"])
    assert.strictEqual((await post("/api/queries", { name: "link", sql: "SELECT 2", replace: true })).status, 400)
    assert.strictEqual(readFileSync(other, "utf8"), "SELECT 'other'")
  })
})
