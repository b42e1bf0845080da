import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { join } from "node:path"
import { boolean, count, id, instant, rows, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineChild, defineList, childRequestOf } from "../../src/catalog/resource.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { dueParents } from "../../src/stores/warehouse/sync-state.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"
import { checkpoint } from "../support/checkpoint.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = (path: `/${string}`, records: string) => [
  { request: get(path), paging: { kind: "once" } as const, records, pageSize: 10 }
]
const people = defineList({
  ...common,
  table: "persons",
  full: once("/persons", "people"),
  changes: { field: "updatedAt", overlap: "0 days", strategies: [] },
  fields: {
    id: id("Id"),
    name: text("Name"),
    updatedAt: instant("Change"),
    tags: values("person_tags", "Tags", "tag", text("Tag"))
  }
})
const bills = defineList({
  ...common,
  table: "bills",
  full: once("/bills", "bills"),
  fields: { id: id("Id"), status: text("Status"), total: count("Total"), deleted: boolean("Deleted") },
  tombstone: "deleted",
  getOne: { request: get("/bills/{billId}"), record: "" },
  detail: {
    refreshAfter: "30 days",
    fields: { memo: text("Memo"), lines: rows("bill_lines", "Lines", { sku: text("Article") }) }
  }
})
const letters = defineList({
  ...common,
  table: "letters",
  full: once("/letters", "letters"),
  fields: { id: id("Id"), subject: text("Subject") },
  getOne: { request: get("/letters/{letterId}"), record: "" },
  detail: {
    refreshAfter: "30 days",
    linked: { url: "textUrl", as: "text" },
    fields: { textUrl: text("Link"), text: text("Text") }
  }
})
const notes = defineChild({
  ...common,
  table: "notes",
  childOf: {
    table: "persons",
    column: "person_id",
    refreshAfter: "30 days",
    strategy: once("/people/{personId}/notes", "notes")[0]!
  },
  fields: { id: id("Id"), body: text("Body") }
})
const resources: ReadonlyArray<Resource> = [people, bills, letters, notes]
const catalogue = { resources, familyByTable: new Map<string, string>() }

/** Appends a page to the vault as extract does. */
const page = (resource: Resource, body: unknown, more: Partial<Extract<Entry, { kind: "page" | "detail" }>> = {}) =>
  Effect.gen(function* () {
    const entry: Entry = {
      kind: "page",
      run: "run1",
      at: 1_800_000_000_000,
      location: "L",
      resource: resource.table,
      partition: "all",
      request: {},
      records: (resource.childOf?.strategy ?? resource.full![0]!).records,
      hasBigNumbers: false,
      checkpoint,
      ...more
    }
    yield* (yield* Vault).append({ entry, body: JSON.stringify(body) })
  })
const load = Effect.flatMap(makeLoader(resources, join(newFolder(), "tmp")), (loader) => loader.load)
const rowsOf = (sql: string) => Effect.flatMap(Warehouse, (warehouse) => warehouse.rows(sql))

const template = await templateOf(catalogue)
const test = (name: string, body: Effect.Effect<void, unknown, Vault | Warehouse>) =>
  it.live(name, () => {
    const folder = newFolder()
    return prepare(catalogue).pipe(
      Effect.andThen(body),
      Effect.provide(
        Layer.merge(
          Vault.layer(join(folder, "vault")),
          Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256, template })
        )
      )
    )
  })

const person = (id: string, name: string, updatedAt = "2026-01-01T00:00:00Z", tags: ReadonlyArray<string> = []) => ({
  id,
  name,
  updatedAt,
  tags
})

describe("a batch", () => {
  test(
    "the newest version by the change field wins, within a batch and against stored rows, and a repeated record changes nothing",
    Effect.gen(function* () {
      yield* page(people, {
        people: [person("a", "new", "2026-02-01T00:00:00Z", ["t"]), person("a", "old"), person("A", "other")]
      })
      yield* load
      yield* page(people, { people: [person("a", "older still", "2025-01-01T00:00:00Z")] })
      yield* page(people, { people: [person("A", "other")] }, { run: "run2" })
      yield* load
      assert.deepStrictEqual(yield* rowsOf("SELECT id, name, _run_id FROM crm.persons ORDER BY id"), [
        { id: "A", name: "other", _run_id: "run1" },
        { id: "a", name: "new", _run_id: "run1" }
      ])
      assert.deepStrictEqual(yield* rowsOf("SELECT person_id, tag FROM crm.person_tags"), [
        { person_id: "a", tag: "t" }
      ])
      assert.deepStrictEqual(
        yield* rowsOf("SELECT run_id, new_rows, changed_rows FROM meta.run_resources ORDER BY run_id"),
        [
          { run_id: "run1", new_rows: "2", changed_rows: "0" },
          { run_id: "run2", new_rows: "0", changed_rows: "0" }
        ]
      )
    })
  )

  test(
    "the earlier version moves to the history with its children; versions within one run do not",
    Effect.gen(function* () {
      yield* page(people, { people: [person("a", "one", "2026-01-01T00:00:00Z", ["x"])] })
      yield* load
      yield* page(people, { people: [person("a", "two", "2026-01-02T00:00:00Z", ["y", "z"])] }, { run: "run2" })
      yield* load
      yield* page(people, { people: [person("a", "three", "2026-01-03T00:00:00Z", [])] }, { run: "run2" })
      yield* load
      assert.deepStrictEqual(yield* rowsOf("SELECT name, _run_id FROM crm_history.persons"), [
        { name: "one", _run_id: "run1" }
      ])
      assert.deepStrictEqual(yield* rowsOf("SELECT tag FROM crm_history.person_tags"), [{ tag: "x" }])
      assert.deepStrictEqual(yield* rowsOf("SELECT name FROM crm.persons"), [{ name: "three" }])
      assert.deepStrictEqual(yield* rowsOf("SELECT tag FROM crm.person_tags"), [])
    })
  )

  test(
    "a second load from the beginning, as in a rebuild, gives the same rows",
    Effect.gen(function* () {
      yield* page(people, { people: [person("a", "one"), person("b", "two", "2026-03-01T00:00:00Z", ["x"])] })
      yield* page(people, { people: [person("a", "uno", "2026-02-01T00:00:00Z")] }, { run: "run2" })
      yield* load
      const before = yield* rowsOf("SELECT * FROM crm.persons ORDER BY id")
      yield* (yield* Warehouse).transaction(["DELETE FROM meta.vault_offset"])
      yield* load
      assert.deepStrictEqual(yield* rowsOf("SELECT * FROM crm.persons ORDER BY id"), before)
    })
  )

  it.live("a new vault in place of a removed one is loaded from its beginning, without omissions", () => {
    const folder = newFolder()
    const within = <A, E>(vault: string, effect: Effect.Effect<A, E, Vault | Warehouse>) =>
      prepare(catalogue).pipe(
        Effect.andThen(effect),
        Effect.provide(
          Layer.merge(
            Vault.layer(join(folder, vault)),
            Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256, template })
          )
        )
      )
    const many = Array.from({ length: 50 }, (_, n) => person(`a${n}`, "one"))
    return Effect.gen(function* () {
      yield* within("vault", page(people, { people: many }).pipe(Effect.andThen(load)))
      // Loads the new vault from its beginning, although the old one was longer; also after a crash in between.
      yield* within("other", load.pipe(Effect.andThen(page(people, { people: [person("b", "two")] }))))
      yield* within("other", page(people, { people: [person("c", "three")] }).pipe(Effect.andThen(load)))
      const rows = yield* within("other", rowsOf("SELECT count(*) AS n FROM crm.persons"))
      assert.deepStrictEqual(rows, [{ n: "52" }])
    })
  })

  test(
    "an interrupted load counts nothing twice when it resumes",
    Effect.gen(function* () {
      const { load } = yield* makeLoader(resources, join(newFolder(), "tmp"))
      for (let n = 0; n < 40; n++) {
        yield* page(people, { people: [person(`p${n}`, "one")] })
        const loading = yield* Effect.forkChild(load)
        yield* Effect.sleep(n)
        yield* Fiber.interrupt(loading)
      }
      yield* load
      assert.deepStrictEqual(yield* rowsOf("SELECT pages, records, new_rows FROM meta.run_resources"), [
        { pages: "40", records: "40", new_rows: "40" }
      ])
    })
  )

  test(
    "rejects are recorded once for each version of a row",
    Effect.gen(function* () {
      const wrong = { people: [{ ...person("a", "one"), updatedAt: "soon" }, { name: "nobody" }] }
      yield* page(people, wrong)
      yield* load
      yield* page(people, wrong, { run: "run2" })
      yield* load
      assert.deepStrictEqual(
        yield* rowsOf("SELECT run_id, table_name, key, column_name, value FROM meta.rejected_values"),
        [{ run_id: "run1", table_name: "persons", key: "a", column_name: "updated_at", value: '"soon"' }]
      )
      assert.strictEqual((yield* rowsOf("SELECT * FROM meta.rejected_records")).length, 1)
      assert.deepStrictEqual(
        yield* rowsOf("SELECT run_id, rejected_values, rejected_records FROM meta.run_resources ORDER BY run_id"),
        [
          { run_id: "run1", rejected_values: "1", rejected_records: "1" },
          { run_id: "run2", rejected_values: "0", rejected_records: "0" }
        ]
      )
    })
  )

  test(
    "progress and rows are one transaction: a failed batch leaves both unchanged",
    Effect.gen(function* () {
      yield* page(people, { people: [person("a", "one")] })
      yield* load
      const offset = yield* rowsOf("SELECT * FROM meta.vault_offset")
      yield* page(people, { people: [person("b", "two")] })
      yield* (yield* Warehouse).run("ALTER TABLE meta.checkpoints RENAME TO renamed")
      assert.strictEqual((yield* Effect.result(load))._tag, "Failure")
      assert.deepStrictEqual(yield* rowsOf("SELECT id FROM crm.persons"), [{ id: "a" }])
      assert.deepStrictEqual(yield* rowsOf("SELECT * FROM meta.vault_offset"), offset)
      yield* (yield* Warehouse).run("ALTER TABLE meta.renamed RENAME TO checkpoints")
      yield* load
      assert.strictEqual((yield* rowsOf("SELECT id FROM crm.persons")).length, 2)
    })
  )
})

test(
  "a linked text that could not be fetched keeps the text before, unless the link is gone",
  Effect.gen(function* () {
    const detail = (body: object, version: string) =>
      page(
        letters,
        { id: "l", ...body },
        {
          kind: "detail",
          run: version,
          partition: "letters/details",
          records: "",
          parent: { id: "l", version, done: true, full: true }
        }
      )
    const texts = rowsOf("SELECT text_url, text FROM crm.letters")
    yield* page(letters, { letters: [{ id: "l", subject: "s" }] })
    yield* detail({ textUrl: "https://h/1", text: "Dear" }, "run1")
    yield* load
    yield* detail({ textUrl: "https://h/2" }, "run2")
    yield* load
    assert.deepStrictEqual(yield* texts, [{ text_url: "https://h/2", text: "Dear" }])
    yield* detail({}, "run3")
    yield* load
    assert.deepStrictEqual(yield* texts, [{ text_url: null, text: null }])
  })
)

describe("list and detail", () => {
  const detail = (body: unknown, version: string, run = "run1") =>
    page(bills, body, {
      kind: "detail",
      records: "",
      parent: { id: "b", version, done: true, full: true },
      partition: "bills/details",
      run
    })

  test(
    "may disagree whether the row is deleted: the one that was read last counts, whichever loader finds it",
    Effect.gen(function* () {
      const list = (run: string) => page(bills, { bills: [{ id: "b", status: "draft", deleted: false }] }, { run })
      const whole = detail({ id: "b", status: "draft", deleted: true }, "1", "run2")
      for (const [read, deleted] of [
        [list("run1"), false],
        [whole, true],
        [list("run3"), false]
      ] as const) {
        yield* Effect.andThen(read, load)
        assert.deepStrictEqual(yield* rowsOf("SELECT _deleted_at IS NOT NULL AS deleted FROM crm.bills"), [{ deleted }])
      }
    })
  )

  test(
    "form one row: the list keeps columns that only the detail has, and vice versa",
    Effect.gen(function* () {
      yield* page(bills, { bills: [{ id: "b", status: "draft", total: 1 }] })
      yield* load
      const [{ hash }] = (yield* rowsOf("SELECT _row_hash AS hash FROM crm.bills")) as [{ hash: string }]
      yield* detail({ id: "b", status: "draft", memo: "m", lines: [{ sku: "s1" }, { sku: "s2" }] }, hash)
      yield* load
      const merged = { status: "draft", total: "1", memo: "m" }
      assert.deepStrictEqual(yield* rowsOf("SELECT status, total, memo FROM crm.bills"), [merged])
      assert.deepStrictEqual(
        yield* rowsOf("SELECT * FROM crm_history.bills"),
        [],
        "list and detail of one run are one version"
      )

      yield* page(bills, { bills: [{ id: "b", status: "paid", total: 1 }] }, { run: "run2" })
      yield* load
      assert.deepStrictEqual(yield* rowsOf("SELECT status, total, memo FROM crm.bills"), [
        { ...merged, status: "paid" }
      ])
      assert.strictEqual((yield* rowsOf("SELECT * FROM crm.bill_lines")).length, 2)
    })
  )

  test(
    "an invalid value in both is recorded once, and an unknown field keeps its last value",
    Effect.gen(function* () {
      yield* page(bills, { bills: [{ id: "b", total: "many", flat: 1, deep: { a: 1 } }] })
      yield* load
      yield* detail({ id: "b", total: "many", deep: { b: 2 }, none: { is: null } }, "one")
      yield* load
      assert.deepStrictEqual(yield* rowsOf("SELECT column_name, value FROM meta.rejected_values"), [
        { column_name: "total", value: '"many"' }
      ])
      const [row] = yield* rowsOf("SELECT _extra::VARCHAR AS extra FROM crm.bills")
      assert.deepStrictEqual(JSON.parse(String(row!["extra"])), { flat: 1, deep: { b: 2 }, none: { is: null } })
    })
  )

  test(
    "a detail is due after a change in the list, until it has been read",
    Effect.gen(function* () {
      const due = dueParents({ location: "L", childRequest: childRequestOf(bills)!, limit: 10 })
      yield* page(bills, { bills: [{ id: "b", status: "draft" }] }, { at: Date.now() })
      yield* load
      const [first] = yield* due
      yield* page(
        bills,
        { id: "b", status: "draft", memo: "m" },
        { kind: "detail", partition: "bills/details", records: "", parent: { ...first!, done: true }, at: Date.now() }
      )
      yield* load
      assert.deepStrictEqual(yield* due, [])
      yield* page(bills, { bills: [{ id: "b", status: "sent" }] }, { at: Date.now(), run: "run2" })
      yield* load
      assert.strictEqual((yield* due).length, 1)
    })
  )
})

describe("one request for each parent", () => {
  test(
    "a child missing from its parent is noted, until it returns; children of other parents are not, and nothing is deleted",
    Effect.gen(function* () {
      const notesOf = (parent: string, ids: ReadonlyArray<string>, run: string, done = true) =>
        page(
          notes,
          { notes: ids.map((id) => ({ id, body: id })) },
          { parent: { id: parent, version: "s", done, full: true }, partition: "notes", run }
        )
      yield* notesOf("p", ["n1", "n2"], "run1")
      yield* notesOf("q", ["n3"], "run1")
      yield* load
      yield* notesOf("p", ["n1"], "run2")
      yield* load
      const missing = rowsOf("SELECT key, parent_id FROM meta.missing_children")
      assert.deepStrictEqual(yield* missing, [{ key: "n2", parent_id: "p" }])
      yield* notesOf("p", ["n1", "n2"], "run3")
      yield* load
      assert.deepStrictEqual(yield* missing, [])

      // Several pages: a child on the first page is not missing because the last page lacks it.
      yield* notesOf("p", ["n1"], "run4", false)
      yield* load
      assert.deepStrictEqual(yield* missing, [])
      yield* notesOf("p", ["n4"], "run4")
      yield* load
      assert.deepStrictEqual(yield* missing, [{ key: "n2", parent_id: "p" }])
      assert.deepStrictEqual(yield* rowsOf("SELECT id FROM crm.notes WHERE _deleted_at IS NOT NULL"), [])
    })
  )
})
