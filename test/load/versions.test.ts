/** Which of several versions of a row is current, and what happens to its child rows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { boolean, id, instant, rows, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineList } from "../../src/catalog/resource.ts"
import { makeLoader } from "../../src/stages/load/load.ts"
import { customFields } from "../../pipelines/account/custom_fields.ts"
import { opportunities } from "../../pipelines/crm/opportunities.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { type Row, Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"
import { checkpoint } from "../support/checkpoint.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = (path: `/${string}`, records: string) => [
  { request: get(path), paging: { kind: "once" } as const, records, pageSize: 10 }
]
const people = defineList({
  ...common,
  table: "persons",
  full: once("/persons", "persons"),
  changes: { field: "updatedAt", overlap: "0 days", strategies: [] },
  tombstone: "deleted",
  fields: {
    id: id("Id"),
    name: text("Name"),
    updatedAt: instant("Change"),
    deleted: boolean("Deleted"),
    tags: values("person_tags", "Tags", "tag", text("Tag"))
  },
  getOne: { request: get("/persons/{personId}"), record: "" },
  detail: {
    refreshAfter: "1 day",
    fields: { memo: text("Memo"), scopes: rows("person_scopes", "Scopes", { scope: text("Scope") }) }
  }
})
const resources: ReadonlyArray<Resource> = [people, customFields, opportunities]
const catalogue = { resources, familyByTable: new Map<string, string>() }

/** Loads one page of a list or the response of a detail. */
const send = (
  run: number,
  resource: Resource,
  body: unknown,
  more: Partial<Extract<Entry, { kind: "page" | "detail" }>> = {}
) =>
  Effect.gen(function* () {
    const entry: Entry = {
      kind: "page",
      run: `run${run}`,
      at: Date.parse("2026-03-01T00:00:00Z") + run * 86_400_000,
      location: "L",
      resource: resource.table,
      partition: "all",
      request: {},
      records: resource.full![0]!.records,
      hasBigNumbers: false,
      checkpoint,
      ...more
    }
    yield* (yield* Vault).append({ entry, body: body === undefined ? "" : JSON.stringify(body) })
    yield* load
  })
const detail = (run: number, body: object | undefined) =>
  send(run, people, body, {
    kind: "detail",
    partition: "persons/details",
    records: "",
    parent: { id: "a", version: `s${run}`, done: true, full: true }
  })
const markDeleted = (run: number, resource: Resource, ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const at = Date.parse("2026-03-01T12:00:00Z") + run * 86_400_000
    yield* (yield* Vault).append({
      entry: { kind: "deleted", run: `run${run}`, at, location: "L", resource: resource.table },
      body: JSON.stringify(ids)
    })
    yield* load
  })
const load = Effect.flatMap(makeLoader(resources, join(newFolder(), "tmp")), (loader) => loader.load)
const rowsOf = (sql: string) => Effect.flatMap(Warehouse, (warehouse) => warehouse.rows(sql))
const listed = (person: object) => ({ persons: [{ id: "a", updatedAt: "2026-02-01T00:00:00Z", ...person }] })

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

describe("a record of which the list and the detail each know a part", () => {
  test(
    "has of each field what came last, in any order of both: what is the same as before says nothing new",
    Effect.gen(function* () {
      const draw = randomFrom(12)
      const pick = <A>(of: ReadonlyArray<A>): A => of[Math.floor(draw() * of.length)]!
      interface Person {
        name?: string | undefined
        memo?: string | undefined
        tags: ReadonlyArray<string>
        scopes: ReadonlyArray<string>
        list?: string
        detail?: string
        version: number
      }
      const all = new Map<string, Person>(["a", "b"].map((id) => [id, { tags: [], scopes: [], version: 0 }]))
      const some = () => ["x", "y"].filter(() => draw() < 0.5)
      for (let run = 1; run <= 14; run++) {
        if (run === 1 || draw() < 0.5) {
          const persons = Array.from(all, ([id, one]) => {
            const sent = { name: pick(["n1", "n2", undefined]), tags: some() }
            if (JSON.stringify(sent) !== one.list)
              Object.assign(one, sent, { list: JSON.stringify(sent), version: one.version + 1 })
            return { id, ...sent }
          })
          yield* send(run, people, { persons })
        } else {
          const [id, one] = all.entries().next().value!
          const sent = { name: pick(["n1", "n2"]), memo: "m", scopes: draw() < 0.8 ? ["x"] : [] }
          const detail = `${JSON.stringify(sent)} of ${one.version}`
          if (one.detail !== detail) Object.assign(one, sent, { detail })
          yield* send(
            run,
            people,
            { id, ...sent, scopes: sent.scopes.map((scope) => ({ scope })) },
            {
              kind: "detail",
              partition: "persons/details",
              records: "",
              parent: { id, version: String(one.version), done: true, full: true }
            }
          )
        }
        const found = yield* rowsOf(
          `SELECT id, name, memo, (SELECT string_agg(tag, '' ORDER BY tag) FROM crm.person_tags AS t WHERE t.person_id = p.id) AS tags,
             (SELECT string_agg(scope, '' ORDER BY scope) FROM crm.person_scopes AS s WHERE s.person_id = p.id) AS scopes
           FROM crm.persons AS p ORDER BY id`
        )
        const expected = Array.from(all, ([id, { memo, name, scopes, tags }]) => {
          const joined = (values: ReadonlyArray<string>) => (values.length === 0 ? null : values.join(""))
          return { id, name: name ?? null, memo: memo ?? null, tags: joined(tags), scopes: joined(scopes) }
        })
        assert.deepStrictEqual(found, expected, `run ${run}`)
      }
    })
  )
})

describe("a record whose change timestamp goes back", () => {
  const names = rowsOf("SELECT name FROM crm.persons")
  const older = listed({ name: "restored", updatedAt: "2026-01-01T00:00:00Z" })

  test(
    "is current if a later run reads it, and the newer version moves to the history",
    Effect.gen(function* () {
      yield* send(1, people, listed({ name: "newest" }))
      yield* send(2, people, older)
      assert.deepStrictEqual(yield* names, [{ name: "restored" }])
      assert.deepStrictEqual(yield* rowsOf("SELECT name FROM crm_history.persons"), [{ name: "newest" }])
    })
  )

  test(
    "is a stale copy if the run that read the newer version reads it",
    Effect.gen(function* () {
      yield* send(1, people, listed({ name: "newest" }))
      yield* send(1, people, older)
      assert.deepStrictEqual(yield* names, [{ name: "newest" }])
    })
  )

  test(
    "is the same after a rebuild, and after a batch is loaded twice",
    Effect.gen(function* () {
      yield* send(1, people, listed({ name: "newest" }))
      yield* send(2, people, older)
      yield* send(3, people, listed({ name: "newest again" }))
      const all = Effect.zip(
        rowsOf("SELECT * FROM crm.persons"),
        rowsOf("SELECT * FROM crm_history.persons ORDER BY _valid_from")
      )
      const before = yield* all
      yield* (yield* Warehouse).transaction(["DELETE FROM meta.vault_offset"])
      yield* load
      assert.deepStrictEqual(yield* names, [{ name: "newest again" }])
      yield* (yield* Warehouse).transaction([
        "DELETE FROM meta.vault_offset",
        "DELETE FROM crm.persons",
        "DELETE FROM crm_history.persons"
      ])
      yield* load
      assert.deepStrictEqual(yield* all, before)
    })
  )
})

describe("a night with the clock two days ahead", () => {
  const day = 86_400_000
  const now = Date.parse("2026-03-10T02:00:00Z")
  const wrong = { at: now + 2 * day }
  const changes = rowsOf("SELECT run_id, change FROM crm.persons_changes ORDER BY run_id")
  const history = rowsOf(
    "SELECT name, _valid_to > _valid_from AS is_right FROM crm_history.persons ORDER BY _valid_from"
  )
  const gaps = rowsOf(
    `SELECT count(*) AS n FROM (SELECT _valid_to AS ends FROM crm_history.persons ORDER BY ends DESC LIMIT 1)
     JOIN crm.persons ON _synced_at <> ends`
  )
  const deletedAt = (run: number, at: number) =>
    Effect.gen(function* () {
      yield* (yield* Vault).append({
        entry: { kind: "deleted", run: `run${run}`, at, location: "L", resource: "persons" },
        body: JSON.stringify(["a"])
      })
      yield* load
    })

  test(
    "leaves versions in the order of the runs, each ending after it began, also after a rebuild",
    Effect.gen(function* () {
      const nights = Effect.gen(function* () {
        yield* send(1, people, listed({ name: "one" }), { at: now - day })
        yield* send(2, people, listed({ name: "two", updatedAt: "2026-02-02T00:00:00Z" }), wrong)
        yield* send(3, people, listed({ name: "three", updatedAt: "2026-02-03T00:00:00Z" }), { at: now + day })
        yield* deletedAt(4, now + 1.5 * day)
      })
      yield* nights
      const expected = [
        { name: "one", is_right: true },
        { name: "two", is_right: true },
        { name: "three", is_right: true }
      ]
      assert.deepStrictEqual(yield* history, expected)
      assert.deepStrictEqual(yield* gaps, [{ n: "0" }])
      assert.deepStrictEqual(
        (yield* changes).map(({ change }) => change),
        ["new", "changed", "changed", "deleted"]
      )
      yield* (yield* Warehouse).transaction([
        "DELETE FROM meta.vault_offset",
        "DELETE FROM crm.persons",
        "DELETE FROM crm_history.persons"
      ])
      yield* load
      assert.deepStrictEqual(yield* history, expected)
    })
  )

  test(
    "does not keep the older state that a later run reads from being current",
    Effect.gen(function* () {
      yield* send(1, people, listed({ name: "two", updatedAt: "2026-02-02T00:00:00Z" }), wrong)
      yield* send(2, people, listed({ name: "restored", updatedAt: "2026-02-01T00:00:00Z" }), { at: now })
      assert.deepStrictEqual(yield* rowsOf("SELECT name FROM crm.persons"), [{ name: "restored" }])
    })
  )
})

describe("columns of a detail that a list also has", () => {
  const stored = Effect.zip(
    rowsOf("SELECT name, memo FROM crm.persons"),
    rowsOf("SELECT scope FROM crm.person_scopes ORDER BY scope")
  )
  const scopes = (...names: ReadonlyArray<string>) => names.map((scope) => ({ scope }))

  test(
    "come from the list until a detail is read",
    Effect.gen(function* () {
      yield* send(1, people, listed({ name: "one", memo: "listed", scopes: scopes("read") }))
      assert.deepStrictEqual(yield* stored, [[{ name: "one", memo: "listed" }], scopes("read")])
      // A detail that does not exist.
      yield* detail(1, undefined)
      assert.deepStrictEqual(yield* stored, [[{ name: "one", memo: "listed" }], scopes("read")])
      yield* send(2, people, listed({ name: "two", memo: "listed again", scopes: scopes("read", "write") }))
      assert.deepStrictEqual(yield* stored, [[{ name: "two", memo: "listed again" }], scopes("read", "write")])
      yield* detail(2, { id: "a", memo: "detail", scopes: scopes("all") })
      assert.deepStrictEqual(yield* stored, [[{ name: "two", memo: "detail" }], scopes("all")])
      yield* send(3, people, listed({ name: "three", memo: "short", scopes: scopes("few") }))
      assert.deepStrictEqual(yield* stored, [[{ name: "three", memo: "detail" }], scopes("all")])
    })
  )
})

describe("child rows of a deleted row", () => {
  const countsOf = (table: string): Effect.Effect<ReadonlyArray<Row>, unknown, Warehouse> =>
    rowsOf(
      `SELECT count(*) FILTER (_deleted_at IS NULL) AS current, count(_deleted_at) AS deleted FROM crm.${table} WHERE location_id = 'L'`
    )

  test(
    "are deleted and restored with it, by a deletion, a list and a tombstone",
    Effect.gen(function* () {
      const person = { name: "one", tags: ["x", "y"], scopes: [{ scope: "read" }] }
      // Another location has a row with the same id, to which nothing of this happens.
      yield* send(1, people, listed(person), { location: "M" })
      yield* send(1, people, listed(person))
      yield* detail(1, { id: "a", memo: "m", scopes: [{ scope: "read" }, { scope: "write" }] })
      assert.deepStrictEqual(yield* countsOf("person_tags"), [{ current: "2", deleted: "0" }])
      yield* markDeleted(2, people, ["a"])
      assert.deepStrictEqual(yield* countsOf("person_tags"), [{ current: "0", deleted: "2" }])
      assert.deepStrictEqual(yield* countsOf("person_scopes"), [{ current: "0", deleted: "2" }])
      // The list has the tags; the scopes are those of the detail.
      yield* send(3, people, listed({ ...person, tags: ["x"] }))
      assert.deepStrictEqual(yield* countsOf("person_tags"), [{ current: "1", deleted: "0" }])
      assert.deepStrictEqual(yield* countsOf("person_scopes"), [{ current: "2", deleted: "0" }])
      yield* send(4, people, listed({ ...person, tags: ["x"], deleted: true }))
      assert.deepStrictEqual(yield* countsOf("person_tags"), [{ current: "0", deleted: "1" }])
      assert.deepStrictEqual(yield* countsOf("person_scopes"), [{ current: "0", deleted: "2" }])
      const elsewhere = ["persons", "person_tags", "person_scopes"].map(
        (table) => `SELECT count(*) AS n FROM crm.${table} WHERE location_id = 'M' AND _deleted_at IS NULL`
      )
      assert.deepStrictEqual(yield* rowsOf(elsewhere.join(" UNION ALL ")), [{ n: "1" }, { n: "2" }, { n: "1" }])
      const [row] = yield* rowsOf(
        "SELECT (SELECT _deleted_at FROM crm.persons WHERE location_id = 'L') = (SELECT _deleted_at FROM crm.person_tags WHERE location_id = 'L') AS same"
      )
      assert.strictEqual(row!["same"], true)
      assert.deepStrictEqual(
        yield* rowsOf("SELECT count(*) AS n FROM crm.person_tags_as_of(TIMESTAMPTZ '2026-03-02 06:00:00+00')"),
        [{ n: "4" }],
        "two of each location"
      )
    })
  )
})

describe("custom values of opportunities that name their field by its key", () => {
  const values = rowsOf(
    "SELECT custom_field_id AS field, value_text AS value FROM crm.opportunity_custom_values ORDER BY 1"
  )
  const opportunityPage = (name: string) => ({
    opportunities: [
      {
        id: "d1",
        name,
        customFields: [
          { key: "opportunity.field_34", fieldValue: "long key" },
          { key: "field_35", fieldValue: "short key" },
          { id: "f36", fieldValue: "id" },
          { key: "opportunity.unknown", fieldValue: "unknown key" }
        ]
      }
    ]
  })
  const fields = {
    customFields: [34, 35, 36].map((n) => ({
      id: `f${n}`,
      name: `Field ${n}`,
      model: "opportunity",
      fieldKey: `opportunity.field_${n}`
    }))
  }
  const resolved = [
    { field: "f34", value: "long key" },
    { field: "f35", value: "short key" },
    { field: "f36", value: "id" },
    { field: "opportunity.unknown", value: "unknown key" }
  ]

  test(
    "get its id, whether the field or the opportunity is loaded first, and none is rejected",
    Effect.gen(function* () {
      yield* send(1, opportunities, opportunityPage("one"))
      assert.deepStrictEqual(
        (yield* values).map(({ field }) => field),
        ["f36", "field_35", "opportunity.field_34", "opportunity.unknown"]
      )
      yield* send(1, customFields, fields)
      assert.deepStrictEqual(yield* values, resolved)
      yield* send(2, opportunities, opportunityPage("two"))
      assert.deepStrictEqual(yield* values, resolved)
      assert.deepStrictEqual(
        yield* rowsOf("SELECT custom_field_id AS field FROM crm_history.opportunity_custom_values ORDER BY 1"),
        resolved.map(({ field }) => ({ field }))
      )
      assert.deepStrictEqual(yield* rowsOf("FROM meta.rejected_records"), [])
    })
  )
})
