/** What is left of a value by each treatment, as DuckDB computes it. */
import * as Redacted from "effect/Redacted"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime } from "effect"
import { join } from "node:path"
import { type ShownFields, maskedColumns, shownFields } from "../../src/stages/publish/masking/expressions.ts"
import type { MaskedColumn } from "../../src/stages/publish/masking/rules.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

const warehouse = ManagedRuntime.make(
  Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })
)
afterAll(() => warehouse.dispose())
const rowsOf = (sql: string) => warehouse.runPromise(Effect.flatMap(Warehouse, ({ rows }) => rows(sql)))

/** The masked values of a column, for rows with these values. */
const masked = async (
  column: Omit<MaskedColumn, "name">,
  sent: ReadonlyArray<string | null>,
  {
    profile = "masked",
    shown,
    fields = []
  }: {
    readonly profile?: "masked" | "analytics"
    readonly shown?: ShownFields
    readonly fields?: ReadonlyArray<string>
  } = {}
) => {
  const select = maskedColumns(
    profile === "masked" ? { profile } : { profile, key: { id: "k1", master: Redacted.make(new Uint8Array(32)) } },
    "t",
    [{ name: "x", ...column }],
    new Map(shown ? [["t", shown]] : [])
  )
  const values = sent.map((value, n) => `(${n}, ${literal(value)}::${column.sql}, ${literal(fields[n] ?? null)})`)
  const rows = await rowsOf(`SELECT ${select} FROM (VALUES ${values.join(", ")}) AS t (n, x, field) ORDER BY n`)
  return rows.map((row): unknown => row["x"])
}
const text = (personal: MaskedColumn["personal"], role?: MaskedColumn["role"]) => ({
  sql: "VARCHAR",
  personal,
  ...(role && { role })
})

describe("a text", () => {
  it("of an address keeps its first letters or its last digits, and nothing of anything else", async () => {
    const sent = [
      "Ann.Lee@mail.example.com",
      " bob@x.org ",
      "+1 (212) 555-0100",
      "555010",
      "5550100",
      "ann",
      "a@b",
      "two@x.org three@y.org",
      "12345678@x",
      "",
      null
    ]
    assert.deepStrictEqual(await masked(text("direct", "email"), sent), [
      "A***@m***.com",
      "b***@x***.org",
      "***0100",
      "***",
      "***0100",
      "***",
      "***",
      "***",
      "***",
      "***",
      null
    ])
  })

  it("of a name keeps its first letter, and of any other direct text nothing", async () => {
    assert.deepStrictEqual(await masked(text("direct", "personName"), [" Ann", "Ü", "", null]), [
      "A***",
      "Ü***",
      "***",
      null
    ])
    assert.deepStrictEqual(await masked(text("direct"), ["Ann", "", null]), ["***", "***", null])
    assert.deepStrictEqual(await masked(text("sensitive"), ["Ann", null]), [null, null])
    assert.deepStrictEqual(await masked(text("direct"), ["Ann"], { profile: "analytics" }), [null])
  })

  it("that names nobody is kept unless it contains an address, also one in a link", async () => {
    const sent = ["plain", "write to ann@x.org", "a @ b", "ANN%40X.ORG", "", null]
    assert.deepStrictEqual(await masked(text("none"), sent), ["plain", null, "a @ b", null, "", null])
  })

  it("of a tag is kept unless it contains an address or a phone number, however it is written", async () => {
    const sent = [
      "vip",
      "ann@x.org",
      "555010",
      "5550100",
      "555 01 00",
      "(555) 0100",
      "555.01-00",
      "2026-01-31",
      "year 2026",
      null
    ]
    assert.deepStrictEqual(await masked(text("quasi", "tag"), sent), [
      "vip",
      null,
      "555010",
      null,
      null,
      null,
      null,
      null,
      "year 2026",
      null
    ])
  })

  it("of a link keeps the site, and the path unless it names somebody", async () => {
    const sent = [
      "https://x.org/a/b?email=ann@x.org#top",
      "https://ann:secret@x.org/a",
      "https://x.org/ann@y.org",
      "https://x.org/ann%40y.org",
      "https://x.org/5550100",
      "https://x.org/555010",
      "HTTP://x.org",
      "x.org/a",
      null
    ]
    assert.deepStrictEqual(await masked(text("quasi", "url"), sent), [
      "https://x.org/a/b",
      "https://x.org/a",
      "https://x.org",
      "https://x.org",
      "https://x.org",
      "https://x.org/555010",
      "HTTP://x.org",
      null,
      null
    ])
  })

  it("of a postal code keeps three characters in a release without persons", async () => {
    assert.deepStrictEqual(
      await masked(text("quasi", "postalCode"), [" 10115", "SW1A 1AA", "1", null], { profile: "analytics" }),
      ["101", "SW1", "1", null]
    )
  })
})

describe("another value", () => {
  it("of a date that helps to identify somebody is the first day of its year", async () =>
    assert.deepStrictEqual(await masked({ sql: "DATE", personal: "quasi" }, ["1984-12-31", "1984-01-01", null]), [
      "1984-01-01",
      "1984-01-01",
      null
    ]))

  it("as JSON is kept unless it contains an address", async () =>
    assert.deepStrictEqual(await masked({ sql: "JSON", personal: "none" }, ['{"a":1}', '{"a":"x@y.org"}', null]), [
      '{"a":1}',
      null,
      null
    ]))
})

describe("the value of a custom field", () => {
  const custom = text("direct", "customValue")
  const shown = { column: "field", fields: ["open", "it's"] }
  it("is shown if its field is, and hidden in every other field", async () => {
    const fields = ["open", "it's", "closed", "open", "closed"]
    const sent = ["a", "b", "c", null, null]
    assert.deepStrictEqual(await masked(custom, sent, { shown, fields }), ["a", "b", "***", null, null])
    assert.deepStrictEqual(await masked(custom, sent, { shown, fields, profile: "analytics" }), [
      "a",
      "b",
      null,
      null,
      null
    ])
    assert.deepStrictEqual(await masked(custom, sent, { fields }), ["***", "***", "***", null, null])
    assert.deepStrictEqual(await masked(custom, ["a"], { shown: { column: "field", fields: [] }, fields }), ["***"])
  })

  it("of a type that has no stars is hidden whole", async () => {
    assert.deepStrictEqual(await masked({ sql: "DATE", personal: "direct", isCustom: true }, ["2026-01-31"]), [null])
    assert.deepStrictEqual(await masked({ sql: "VARCHAR[]", personal: "direct", isCustom: true }, ["[a, b]", null]), [
      ["***"],
      null
    ])
  })

  it("may be shown only if its field is personal in no location", () => {
    const column = (personal: string, ...fields: ReadonlyArray<string>) => ({
      personal,
      fields: fields.map((field) => ({ field }))
    })
    const view = {
      values: "v",
      field: "field_id",
      columns: [column("none", "a", "b", "c"), column("direct", "b"), column("quasi", "d")]
    }
    assert.deepStrictEqual(shownFields([view as never]).get("v"), { column: "field_id", fields: ["a", "c"] })
  })
})
