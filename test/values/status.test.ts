/** The status of a resource, and every fact that makes it less than complete. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import type { Reason } from "../../src/values/reason.ts"
import { type Facts, sentencesOf, statusOf, worstStatus } from "../../src/values/status.ts"
import { RunChanges } from "../../src/stores/warehouse/meta/run-changes.ts"
import { resourcesOf, setStatuses } from "../../src/stores/warehouse/meta/run-resources.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

const text = (sentence: string): Reason => ({ _tag: "Text", text: sentence })
const none: Facts = { shortfalls: [], warnings: [] }

describe("the status of a resource", () => {
  it.each<[Partial<Facts>, string, ReadonlyArray<RegExp>]>([
    [{}, "complete", []],
    [{ warnings: [text("w")] }, "complete_with_warnings", [/^w$/]],
    [{ warnings: [{ _tag: "PartitionIgnored", partition: "deleted" }] }, "complete", []],
    [{ warnings: [{ _tag: "PartitionIgnored", partition: "deleted" }, text("w")] }, "complete_with_warnings", [/^w$/]],
    [{ droppedRecords: 3 }, "complete_with_warnings", [/^3 records have no key; see meta\.rejected_records$/]],
    [{ shortfalls: [text("s")], warnings: [text("w")] }, "incomplete", [/^s$/, /^w$/]],
    [{ blockedFields: ["a.b"] }, "incomplete", [/frozen.*a\.b.*accepted = \["a\.b"\]/]],
    [{ blockedFields: ["1", "2", "3", "4", "5", "6", "7"] }, "incomplete", [/1, 2, 3, 4, 5 and 2 more/]],
    [
      { shortfalls: [text("s")], blockedFields: ["a.b"], warnings: [text("w")], droppedRecords: 1 },
      "incomplete",
      [/^s$/, /frozen/, /^w$/, /1 records/]
    ]
  ])("%j is %s", (facts, status, sentences) => {
    assert.strictEqual(statusOf({ ...none, ...facts }), status)
    const found = sentencesOf({ ...none, ...facts })
    assert.strictEqual(found.length, sentences.length)
    for (const [index, pattern] of sentences.entries()) assert.match(found[index]!, pattern)
  })

  it("of several readings is the least complete one", () => {
    assert.strictEqual(worstStatus(["complete", "complete_with_warnings"]), "complete_with_warnings")
    assert.strictEqual(worstStatus(["complete_with_warnings", "incomplete", "complete"]), "incomplete")
    assert.strictEqual(worstStatus([]), "complete")
  })
})

it.live("the status is set for every reading that has ended, and for no other", () =>
  Effect.gen(function* () {
    yield* prepare({ resources: [], familyByTable: new Map() })
    const row = (label: string) => ({ run: "r", location: "L", label })
    const changes = new RunChanges()
    const end = (label: string, facts: Partial<Facts>) =>
      changes.end(row(label), {
        mode: "full",
        requests: 1,
        at: 1_700_000_000_123,
        since: 1_600_000_000_001,
        ...none,
        ...facts
      })
    for (const label of ["a", "b", "c", "under way"]) changes.add(row(label))
    end("a", {})
    end("b", { warnings: [text("it's a warning")] })
    yield* (yield* Warehouse).transaction(changes.take())
    changes.add(row("b"), { dropped_records: 2 })
    end("c", {})
    changes.block(row("c"), ["c.x"])
    yield* (yield* Warehouse).transaction(changes.take())
    const before = yield* resourcesOf("r")
    assert.deepStrictEqual([...new Set(before.map(({ status }) => status))], ["interrupted"])
    yield* setStatuses()
    assert.deepStrictEqual(
      (yield* resourcesOf("r")).map(({ resource, status, warnings }) => [resource, status, warnings.length]),
      [
        ["a", "complete", 0],
        ["b", "complete_with_warnings", 2],
        ["c", "incomplete", 1],
        ["under way", "interrupted", 0]
      ]
    )
    // A second reading in the same run gets a new status.
    end("a", { shortfalls: [text("s")] })
    yield* (yield* Warehouse).transaction(changes.take())
    yield* setStatuses()
    assert.strictEqual((yield* resourcesOf("r"))[0]!.status, "incomplete")
    // What a reading stored and this version cannot read is no proof of anything.
    yield* (yield* Warehouse).transaction([
      `UPDATE meta.run_resources SET status = NULL, reading = '{"shortfalls":[],"warnings":[{"_tag":"Later"}]}' WHERE resource = 'a'`
    ])
    yield* setStatuses()
    assert.deepInclude((yield* resourcesOf("r"))[0], {
      status: "incomplete",
      warnings: ["what the reading found cannot be read"]
    })
    // A later load adds to the rows of an earlier one, and keeps the rest of them.
    const all = (yield* Warehouse).rows("SELECT COLUMNS(*)::VARCHAR FROM meta.run_resources ORDER BY resource")
    const earlier = yield* all
    const added = new RunChanges()
    for (const label of ["a", "b", "c", "under way"]) added.add(row(label), { pages: 1 })
    yield* (yield* Warehouse).transaction(added.take())
    assert.deepStrictEqual(
      yield* all,
      earlier.map((one) => ({ ...one, pages: "1" }))
    )
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 128 })))
)
