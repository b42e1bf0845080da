/** Each thing that `verify` can find in the tables and their state is planted once, and what is healthy is not reported. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime } from "effect"
import { join } from "node:path"
import { changed, id, ref, rows, text, values } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineChild, defineList } from "../../src/catalog/resource.ts"
import { type Known, knownTables } from "../../src/features/verify/existing-tables.ts"
import { checkHistory } from "../../src/features/verify/history.ts"
import { checkKeys, checkParents, checkReferences } from "../../src/features/verify/rows.ts"
import { readTables, checkRejects, checkStatuses, checkTimes } from "../../src/features/verify/state.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import type { Failure } from "../../src/values/failure.ts"
import type { Looked } from "../../src/values/finding.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder } from "../support/sluice.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = { request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 } as const
const things = defineList({
  ...common,
  table: "things",
  full: [once],
  changes: { field: "updatedAt", overlap: "0 days", strategies: [] },
  fields: {
    id: id("Id"),
    name: text("Name"),
    ownerId: ref("things", "Owner"),
    updatedAt: changed("Change"),
    tags: values("thing_tags", "Tags", "tag", text("Tag")),
    lines: rows("thing_lines", "Lines", { id: id("Id"), sku: text("Article") })
  }
})
const notes = defineChild({
  ...common,
  table: "notes",
  childOf: { table: "things", column: "thing_id", refreshAfter: "1 day", strategy: once },
  fields: { id: id("Id"), body: text("Body") }
})
const catalogue = { resources: [things, notes], familyByTable: new Map<string, string>() }

const day = (n: number) => `TIMESTAMPTZ '2026-01-0${n} 00:00:00+00'`
/** Two things, of which one was changed twice, with a tag and a note each, as a sync leaves them. */
const healthy = `
  INSERT INTO crm.things (location_id, id, name, owner_id, updated_at, _synced_at) VALUES
    ('L', 'a', 'new', 'b', ${day(3)}, ${day(3)}), ('L', 'b', 'b', NULL, ${day(1)}, ${day(1)});
  INSERT INTO crm_history.things (location_id, id, name, updated_at, _valid_from, _valid_to) VALUES
    ('L', 'a', 'old', ${day(1)}, ${day(1)}, ${day(2)}), ('L', 'a', 'newer', ${day(2)}, ${day(2)}, ${day(3)});
  INSERT INTO crm.thing_tags (location_id, thing_id, tag, _synced_at) VALUES ('L', 'a', 't', ${day(3)}), ('L', 'b', 't', ${day(1)});
  INSERT INTO crm_history.thing_tags (location_id, thing_id, tag, _valid_from, _valid_to) VALUES ('L', 'a', 't', ${day(1)}, ${day(2)});
  INSERT INTO crm.notes (location_id, id, thing_id, _synced_at) VALUES ('L', 'n', 'a', ${day(3)});
  INSERT INTO meta.parent_state (location_id, resource, parent_id) VALUES ('L', 'notes', 'a');
  INSERT INTO meta.watermarks (location_id, resource, watermark, complete_at) VALUES ('L', 'things', ${day(3)}, ${day(4)});
  INSERT INTO meta.run_resources (run_id, location_id, resource, status, reading, rejected_values, rejected_records) VALUES
    ('r', 'L', 'things', 'complete', '{"shortfalls":[],"warnings":[]}', 1, 0), ('r', 'L', 'things/details', 'complete', '{"shortfalls":[],"warnings":[]}', 1, 1);
  INSERT INTO meta.rejected_values (run_id, location_id, table_name) VALUES ('r', 'L', 'things'), ('r', 'L', 'thing_tags');
  INSERT INTO meta.rejected_records (run_id, location_id, table_name) VALUES ('r', 'L', 'things');`

const template = await templateOf(catalogue)
const opened = () =>
  ManagedRuntime.make(
    Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128, template })
  )
const warehouse = opened()
beforeAll(() => warehouse.runPromise(Effect.flatMap(Warehouse, ({ run }) => run(healthy))))
afterAll(() => warehouse.dispose())

type Check = (known: Known) => Effect.Effect<Looked, Failure, Warehouse>
const looking = (check: Check) =>
  Effect.gen(function* () {
    const { findings, looked } = yield* check(yield* knownTables(catalogue))
    return { looked, findings: findings.map(({ level, what, where }) => `${level} ${where}: ${String(what)}`) }
  })
/** What a check finds in the healthy warehouse after a statement, which is then undone. */
const found = (check: Check, damage = "") =>
  warehouse.runPromise(
    Effect.flatMap(Warehouse, ({ run }) =>
      run(`BEGIN; ${damage}`).pipe(Effect.andThen(looking(check)), Effect.ensuring(Effect.orDie(run("ROLLBACK"))))
    )
  )

const checks: Readonly<Record<string, Check>> = {
  blocks: (known) => Effect.map(readTables(known), ({ blocks }) => blocks),
  keys: (known) => Effect.flatMap(readTables(known), ({ counts }) => checkKeys(known, counts)),
  parents: checkParents,
  references: checkReferences,
  times: (known) => Effect.flatMap(readTables(known), ({ counts }) => checkTimes(known, counts)),
  history: checkHistory,
  rejects: () => checkRejects(catalogue, false),
  statuses: checkStatuses
}

describe("a warehouse as a sync leaves it", () => {
  it.each([
    ["blocks", /^\d+ tables$/],
    ["keys", /^5 rows of 4 tables$/],
    ["parents", /^3 tables with parents$/],
    ["references", /^2 columns$/],
    ["times", /^1 watermark, 4 tables$/],
    ["history", /^3 versions$/],
    ["rejects", /^3 rejects$/],
    ["statuses", /^2 readings$/]
  ] as const)("is not reported: %s", async (check, expected) => {
    const { findings, looked } = await found(checks[check]!)
    assert.deepStrictEqual(findings, [])
    assert.match(looked, expected)
  })

  it("is not reported if it is empty", async () => {
    const empty = opened()
    for (const check of Object.values(checks))
      assert.deepStrictEqual((await empty.runPromise(looking(check))).findings, [])
    await empty.dispose()
  })
})

const later = (column: string) =>
  `UPDATE crm_history.things SET ${column} = ${column} + INTERVAL 1 HOUR WHERE name = 'newer';`
const damages: ReadonlyArray<readonly [check: string, damage: string, ...findings: ReadonlyArray<string>]> = [
  ["keys", "UPDATE crm.things SET location_id = NULL WHERE id = 'b';", "wrong things: 1 row with NULL in the key"],
  [
    "keys",
    `INSERT INTO crm.notes (location_id, id) VALUES ('L', 'n'), ('M', 'n'), ('M', NULL);`,
    "wrong notes: 1 row with NULL in the key",
    "wrong notes: 1 duplicate key, for example n"
  ],
  [
    "keys",
    "INSERT INTO crm.thing_tags (location_id, thing_id, tag) VALUES ('L', 'a', 't'), ('L', 'a', 'u');",
    "wrong thing_tags: 1 duplicate key, for example a/t"
  ],
  ["keys", "DROP TABLE crm.notes;", "note tables: the next sync creates notes"],
  [
    "parents",
    "DELETE FROM crm.things WHERE id = 'b';",
    "wrong thing_tags: 1 row without a row in things, for example b/t"
  ],
  [
    "parents",
    "UPDATE crm.thing_tags SET location_id = 'M' WHERE thing_id = 'b';",
    "wrong thing_tags: 1 row without a row in things, for example b/t"
  ],
  [
    "parents",
    "UPDATE crm.notes SET thing_id = 'z'; UPDATE meta.parent_state SET parent_id = 'z';",
    "wrong notes: 1 row without a row in things, for example n"
  ],
  [
    "parents",
    "UPDATE crm.notes SET thing_id = 'z';",
    "note notes: 1 row without a row in things, whose id the service sent in the response for another parent, for example n"
  ],
  ["parents", "UPDATE crm.things SET _deleted_at = now() WHERE id = 'b';"],
  [
    "references",
    "UPDATE crm.things SET owner_id = 'z' WHERE id = 'a';",
    "note things.owner_id: 1 row without a matching row in things, for example z"
  ],
  ["references", "UPDATE crm.things SET owner_id = '' WHERE id = 'a';"],
  [
    "references",
    "UPDATE crm.notes SET thing_id = 'y'; UPDATE crm.things SET owner_id = 'z';",
    "note things.owner_id: 2 rows without a matching row in things, for example z",
    "note notes.thing_id: 1 row without a matching row in things, for example y"
  ],
  [
    "times",
    `UPDATE meta.watermarks SET watermark = ${day(5)};`,
    "wrong things: its watermark 2026-01-05 00:00:00+00 is later than its last read at 2026-01-04 00:00:00+00; the next sync misses changes between them"
  ],
  ["times", `UPDATE meta.watermarks SET watermark = ${day(4)};`],
  [
    "times",
    `UPDATE meta.watermarks SET watermark = ${day(5)}; UPDATE crm.things SET updated_at = ${day(5)} WHERE id = 'b';`
  ],
  ["times", `UPDATE meta.watermarks SET watermark = ${day(5)}; UPDATE crm_history.things SET updated_at = ${day(5)};`],
  [
    "times",
    `UPDATE meta.watermarks SET watermark = ${day(5)}, location_id = 'M'; UPDATE crm.things SET updated_at = ${day(5)};`,
    "wrong things: its watermark 2026-01-05 00:00:00+00 is later than its last read at 2026-01-04 00:00:00+00; the next sync misses changes between them"
  ],
  [
    "times",
    "UPDATE crm.notes SET _synced_at = now() + INTERVAL 1 HOUR;",
    "wrong notes: 1 row with _synced_at in the future, for example n"
  ],
  [
    "history",
    later("_valid_from"),
    "wrong history of things: 1 version with a gap after the previous version, for example a"
  ],
  [
    "history",
    `UPDATE crm_history.things SET _valid_from = _valid_from - INTERVAL 1 HOUR WHERE name = 'newer';`,
    "wrong history of things: 1 version overlapping the previous version, for example a"
  ],
  [
    "history",
    "UPDATE crm_history.things SET _valid_to = _valid_from WHERE name = 'old';",
    "wrong history of things: 1 version with _valid_to not after _valid_from, because the clock was wrong when a run began or ended it, for example a",
    "wrong history of things: 1 version with a gap after the previous version, for example a",
    "wrong history of thing_tags: 1 version without a version in things, for example a/t"
  ],
  [
    "history",
    `UPDATE crm.things SET _synced_at = ${day(4)} WHERE id = 'a';`,
    "wrong history of things: 1 version with a gap after the previous version, for example a"
  ],
  ["history", `UPDATE crm.things SET _synced_at = ${day(4)}, _deleted_at = ${day(4)} WHERE id = 'a';`],
  [
    "history",
    "DELETE FROM crm.things WHERE id = 'a';",
    "wrong history of things: 2 versions without a row, for example a"
  ],
  ["history", later("_valid_to"), "wrong history of things: 1 version overlapping the previous version, for example a"],
  [
    "history",
    "UPDATE crm_history.thing_tags SET _valid_to = _valid_to + INTERVAL 1 HOUR;",
    "wrong history of thing_tags: 1 version without a version in things, for example a/t"
  ],
  [
    "history",
    "UPDATE crm_history.thing_tags SET location_id = 'M';",
    "wrong history of thing_tags: 1 version without a version in things, for example a/t"
  ],
  [
    "history",
    "INSERT INTO crm_history.thing_tags FROM crm_history.thing_tags;",
    "wrong history of thing_tags: 1 version stored twice, for example a/t"
  ],
  [
    "rejects",
    "UPDATE meta.run_resources SET rejected_values = 0 WHERE resource = 'things';",
    "wrong things: run r counts 1 rejected values; meta.rejected_values has 2"
  ],
  [
    "rejects",
    "UPDATE meta.run_resources SET rejected_records = 0;",
    "wrong things: run r counts 0 rejected records; meta.rejected_records has 1"
  ],
  [
    "rejects",
    "UPDATE meta.run_resources SET location_id = 'M';",
    "wrong things: run r counts 0 rejected values; meta.rejected_values has 2",
    "wrong things: run r counts 0 rejected records; meta.rejected_records has 1"
  ],
  ["rejects", "UPDATE meta.run_resources SET rejected_values = 9;"],
  [
    "statuses",
    `UPDATE meta.run_resources SET reading = '{"shortfalls":[{"_tag":"CursorStuck"}],"warnings":[]}' WHERE resource = 'things';`,
    "wrong things: run r calls it complete; what the run found makes it incomplete"
  ],
  [
    "statuses",
    `UPDATE meta.run_resources SET reading = '{"shortfalls":[],"warnings":[{"_tag":"CursorStuck"}]}' WHERE resource = 'things';`,
    "wrong things: run r calls it complete; what the run found makes it complete with warnings"
  ],
  [
    "statuses",
    "UPDATE meta.run_resources SET dropped_records = 1 WHERE resource = 'things';",
    "wrong things: run r calls it complete; what the run found makes it complete with warnings"
  ],
  [
    "statuses",
    "UPDATE meta.run_resources SET blocked_fields = ['things.x'] WHERE resource = 'things';",
    "wrong things: run r calls it complete; what the run found makes it incomplete"
  ]
]

describe("damage", () => {
  it.each(damages)("of %s: %s", async (check, damage, ...findings) =>
    assert.deepStrictEqual((await found(checks[check]!, damage)).findings, findings)
  )

  it("in the counts of rejects is none while entries of the vault wait", async () => {
    const { findings } = await found(
      () => checkRejects(catalogue, true),
      "UPDATE meta.run_resources SET rejected_values = 0;"
    )
    assert.deepStrictEqual(findings, ["note things: run r counts 0 rejected values; meta.rejected_values has 2"])
  })
})
