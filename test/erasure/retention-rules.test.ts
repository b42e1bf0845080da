/** Which records the retention settings call too old: by their own time, and never one that is held. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { created, id, instant, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import type { Hold } from "../../src/features/privacy/erasure/hold.ts"
import { ageColumn, planRetention } from "../../src/features/privacy/erasure/retention.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { templateOf } from "../support/fixtures.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const list = (table: string, more: Partial<Parameters<typeof defineList>[0]> = {}) =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
    person: { contacts: ["contact_id"], addresses: [] },
    fields: { id: id("Id"), contactId: text("Contact"), dateAdded: created("Made"), lastAt: instant("Last") },
    ...more
  })
const notes = list("notes")
const files = list("files_of_notes", {
  person: { records: { note_id: "notes" }, addresses: [] },
  fields: { id: id("Id"), noteId: text("Note") }
})
const catalogue = { resources: [notes, files], familyByTable: new Map<string, string>() }
const template = await templateOf(catalogue)
const hold = (more: Partial<Hold>): Hold => ({
  id: "h",
  reason: "r",
  by: "b",
  addedAt: "",
  contacts: [],
  tables: [],
  ...more
})

/** The keys of the records that are too old at the beginning of 2026, with a period of a year, by table. */
const planned = (holds: ReadonlyArray<Hold> = []) =>
  Effect.gen(function* () {
    yield* (yield* Warehouse).run(
      `INSERT INTO crm.notes (location_id, id, contact_id, date_added) VALUES
         ('L', 'old', 'ann', TIMESTAMPTZ '2024-12-31 23:59:59.999+00'), ('L', 'at', 'ann', TIMESTAMPTZ '2025-01-01 00:00:00+00'),
         ('L', 'new', 'ann', TIMESTAMPTZ '2025-06-01'), ('L', 'undated', 'ann', NULL), ('M', 'theirs', 'bob', TIMESTAMPTZ '2020-01-01'), ('L', 'nobody', NULL, TIMESTAMPTZ '2020-01-01');
       INSERT INTO crm.files_of_notes (location_id, id, note_id) VALUES ('L', 'f1', 'old'), ('L', 'f2', 'new'), ('M', 'f3', 'old');`
    )
    const plan = yield* planRetention(catalogue, [{ table: "notes", period: "1 year" }], holds, "2026-01-01T00:00:00Z")
    const keys = plan.identifiers.flatMap((one) => (one.kind === "record" ? [`${one.location} ${one.key}`] : []))
    return { keys: keys.sort(), rows: plan.rows }
  }).pipe(
    Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template }))
  )

describe("a record", () => {
  it.live("is too old before the limit, not at it, and never without a time; what belongs to it goes along", () =>
    Effect.gen(function* () {
      const { keys, rows } = yield* planned()
      assert.deepStrictEqual(keys, ["L f1", "L nobody", "L old", "M theirs"])
      assert.deepInclude(rows, { notes: 3, files_of_notes: 1 })
    })
  )

  it.live.each([
    ["of a contact that is held", hold({ contacts: ["ann"] }), ["L nobody", "M theirs"]],
    ["of another contact that is held", hold({ contacts: ["bob"] }), ["L f1", "L nobody", "L old"]],
    ["of a table that is held", hold({ tables: ["notes"] }), []],
    ["while everything is held", hold({ tables: ["*"] }), []],
    ["of a table, of which parts are held", hold({ tables: ["files_of_notes"] }), ["L nobody", "L old", "M theirs"]]
  ] as ReadonlyArray<readonly [string, Hold, ReadonlyArray<string>]>)("%s", ([, held, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* planned([held])).keys, expected)
    })
  )

  it.live("whose age nobody knows is counted by its reason, and never one that goes along or is held", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 20; seed++) {
        const draw = randomFrom(seed)
        const expected = { missing: 0, unreadable: 0, future: 0, rejected: Math.floor(draw() * 3) }
        const rows = Array.from({ length: 30 }, (_, n) => {
          const kind = (["old", "new", "missing", "unreadable", "future"] as const)[Math.floor(draw() * 5)]!
          if (kind !== "old" && kind !== "new") expected[kind]++
          const time = {
            old: "'2019-02-03'",
            new: "'2025-06-01'",
            future: "'2031-01-01'",
            missing: "NULL",
            unreadable: "NULL"
          }[kind]
          return { kind, row: `('L', 'n${n}', 'ann', ${time}::TIMESTAMPTZ)`, key: `n${n}` }
        })
        const rejects = rows.flatMap(({ key, kind }) =>
          kind === "unreadable" ? [`('r', 'L', 'notes', '${key}', 'date_added', 'last year')`] : []
        )
        const records = Array.from({ length: expected.rejected }, (_, n) => [
          `('r1', 'L', 'notes', 'x${n}')`,
          `('r2', 'L', 'notes', 'x${n}')`
        ])
        const insert = (into: string, values: ReadonlyArray<string>) =>
          values.length > 0 ? `INSERT INTO ${into} VALUES ${values.join(", ")};` : ""
        const plan = yield* Effect.gen(function* () {
          yield* (yield* Warehouse).run(
            insert(
              "crm.notes (location_id, id, contact_id, date_added)",
              rows.map(({ row }) => row)
            ) +
              insert("meta.rejected_values (run_id, location_id, table_name, key, column_name, value)", rejects) +
              insert("meta.rejected_records (run_id, location_id, table_name, record)", records.flat())
          )
          return yield* planRetention(catalogue, [{ table: "notes", period: "1 year" }], [], "2026-01-01T00:00:00Z")
        }).pipe(
          Effect.provide(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128, template }))
        )
        const found = Object.fromEntries(plan.unjudged!.map(({ records, table, why }) => [`${table} ${why}`, records]))
        const wanted = Object.entries(expected).flatMap(([why, n]) => (n > 0 ? [[`notes ${why}`, n] as const] : []))
        assert.deepStrictEqual(found, Object.fromEntries(wanted), `seed ${seed}`)
      }
    })
  )

  it("is as old as the time by which a past period is read, or else as its creation", () => {
    assert.strictEqual(ageColumn(notes), "date_added")
    assert.strictEqual(ageColumn(list("calls", { backfill: { dateField: "lastAt" } as never })), "last_at")
    assert.isUndefined(ageColumn(files))
  })
})
