/** A masked copy has every table, and no table of it says what the profile leaves out: nor do those about the runs. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { join } from "node:path"
import { email, id, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import type { Masking } from "../../src/settings/masking.ts"
import { maskedTables, stampOf } from "../../src/stages/publish/masking/copy.ts"
import { maskingDocument, stateOf } from "../../src/stages/publish/masking/document.ts"
import { copiedState, isPlainText, maskedMetaTables } from "../../src/stages/publish/masking/meta-tables.ts"
import { publishedMetaTables } from "../../src/stores/warehouse/meta/tables.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const people = defineList({
  table: "people",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
  fields: {
    id: id("Id"),
    email: email("Address"),
    kind: text("Kind"),
    words: values("people_words", "Words", "word", text("Word", { personal: "direct" }))
  }
})
const catalogue = { resources: [people], familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)
const warehouse = ManagedRuntime.make(
  Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
)
const masked: Masking = { profile: "masked" }
const analytics = (key: number, keyId = "k1"): Masking => ({
  profile: "analytics",
  key: { id: keyId, master: Redacted.make(new Uint8Array(32).fill(key)) }
})
const secret = "ann.secret@example.com"

beforeAll(() =>
  warehouse.runPromise(
    Effect.flatMap(Warehouse, ({ run }) =>
      run(`
      INSERT INTO crm.people (location_id, id, email, kind) VALUES ('L', 'p', '${secret}', 'lead');
      INSERT INTO crm.people_words (location_id, people_id, word) VALUES ('L', 'p', '${secret}');
      INSERT INTO crm_history.people (location_id, id, email, _valid_from, _valid_to) VALUES ('L', 'p', '${secret}', TIMESTAMPTZ '2026-01-01', TIMESTAMPTZ '2026-01-02');
      INSERT INTO meta.run_resources (run_id, location_id, resource, warnings, blocked_fields, reading) VALUES ('r', 'L', 'people', ['plain words', 'about ${secret}'], ['people.good', 'people.${secret}'], '{"shortfalls":["${secret}"],"warnings":[]}');
      INSERT INTO meta.watermarks (location_id, resource, total, capabilities) VALUES ('L', 'people', 3, '{"x":"${secret}"}');
      INSERT INTO meta.rejected_values (run_id, location_id, table_name, key, column_name, value, reason) VALUES ('r', 'L', 'people', '${secret}', 'kind', '${secret}', 'too long; in ${secret}'), ('r', 'L', 'people', 'k', 'kind', 'v', 'not ${secret}');
      INSERT INTO meta.rejected_records (run_id, location_id, table_name, record, reason) VALUES ('r', 'L', 'people', '{"mail":"${secret}"}', 'no id; in ${secret}');
      INSERT INTO meta.schema_changes (location_id, table_name, field, kind, sample, sample_key) VALUES ('L', 'people', 'good', 'new', '${secret}', '${secret}'), ('L', 'people', '${secret}', 'new', NULL, NULL);
      `)
    )
  )
)
afterAll(() => warehouse.dispose())
const rowsOf = (select: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
  warehouse.runPromise(Effect.flatMap(Warehouse, ({ rows }) => rows(select)))

describe("a masked copy", () => {
  it("has each table with its current rows and its earlier versions, and each of their columns", async () => {
    for (const masking of [masked, analytics(1)]) {
      const tables = maskedTables(catalogue, [], masking)
      assert.deepStrictEqual(tables.map(({ path }) => path.replaceAll('"', "")).sort(), [
        "crm.people",
        "crm.people_words",
        "crm_history.people",
        "crm_history.people_words"
      ])
      if (masking.profile === "analytics") continue
      for (const { path, select } of tables) {
        const [copied, original] = [await rowsOf(`DESCRIBE ${select}`), await rowsOf(`DESCRIBE FROM ${path}`)]
        assert.deepStrictEqual(
          copied.map((row) => [row["column_name"], row["column_type"]]),
          original.map((row) => [row["column_name"], row["column_type"]]),
          path
        )
        assert.notInclude(JSON.stringify(await rowsOf(select)), secret, path)
      }
    }
  })

  it("keeps the times of earlier versions", async () => {
    const { select } = maskedTables(catalogue, [], masked).find(({ path }) => path === `crm_history."people"`)!
    assert.deepInclude((await rowsOf(select))[0], { _valid_to: "2026-01-02 00:00:00+00", email: "a***@e***.com" })
  })

  it("has another stamp for another profile, key, name of a key, or table", () => {
    const stamp = (masking: Masking, tables = maskedTables(catalogue, [], masked)) => stampOf(tables, masking)
    const stamps = [
      stamp(masked),
      stamp(analytics(1)),
      stamp(analytics(2)),
      stamp(analytics(1, "k2")),
      stamp(masked, [])
    ]
    assert.strictEqual(new Set(stamps).size, stamps.length)
    assert.strictEqual(stamp(analytics(1)), stamp(analytics(1)))
  })

  it("is described by a document, which names its state and each column that is not as it was", () => {
    const document = maskingDocument(masked, catalogue, "s1")
    assert.strictEqual(stateOf(document), "s1")
    assert.isUndefined(stateOf("{}"))
    assert.isUndefined(stateOf(undefined))
    const { columns, profile } = JSON.parse(document)
    assert.deepInclude(columns, {
      "people.email": "address",
      "people.kind": "scrubbed",
      "people_words.word": "stars",
      "people._extra": "dropped"
    })
    assert.deepStrictEqual([profile, "people.id" in columns, "keyId" in JSON.parse(document)], ["masked", false, false])
    assert.strictEqual(JSON.parse(maskingDocument(analytics(1, "k7"), catalogue, "s")).keyId, "k7")
  })
})

describe("the tables about the runs in a masked copy", () => {
  it("are all of them, with their columns, and contain no value of a record", async () => {
    const tables = maskedMetaTables()
    assert.deepStrictEqual(
      tables.map(([table]) => table),
      [...publishedMetaTables]
    )
    for (const [table, select] of tables) {
      const [copied, original] = [await rowsOf(`DESCRIBE ${select}`), await rowsOf(`DESCRIBE FROM meta."${table}"`)]
      assert.deepStrictEqual(
        copied.map((row) => row["column_name"]),
        original.map((row) => row["column_name"]),
        table
      )
      assert.notInclude(JSON.stringify(await rowsOf(select)), secret, table)
    }
  })

  it("keep what names nobody", async () => {
    const of = async (table: string) => rowsOf(maskedMetaTables().find(([name]) => name === table)![1])
    assert.deepInclude((await of("run_resources"))[0], {
      warnings: ["plain words"],
      blocked_fields: ["people.good"],
      reading: null
    })
    assert.deepStrictEqual(
      (await of("rejected_values")).map(({ key, reason, value }) => [key, value, reason]),
      [
        [null, null, "too long"],
        [null, null, null]
      ]
    )
    assert.deepStrictEqual(
      (await of("rejected_records")).map(({ reason, record }) => [record, reason]),
      [[null, "no id"]]
    )
    assert.deepStrictEqual(
      (await of("schema_changes")).map(({ field }) => field),
      ["good", null]
    )
    assert.deepInclude((await of("watermarks"))[0], { total: "3", capabilities: null })
  })

  it("let a publish of the copy know that it differs from the one before", async () => {
    const versions = async (stamp: string) =>
      rowsOf(copiedState(stamp).find(([table]) => table === "content_versions")![1])
    const [one, same, other] = [await versions("a"), await versions("a"), await versions("b")]
    assert.deepStrictEqual(one, same)
    assert.notDeepEqual(one, other)
    assert.isTrue(one.length > 0 && one.every(({ base }) => base === null))
  })

  it("and a text that is in no table is plain by the same rule", () => {
    assert.deepStrictEqual(
      ["plain words", "a@b", "x%40y", "1234567", "123456", "abcdefghijklmnop", "abcdefghijklmno"].map(isPlainText),
      [true, false, false, false, true, false, true]
    )
  })
})
