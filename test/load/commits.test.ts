/** What one transaction of the load leaves, beside the rows: for each location, kind of change, and end of a reading. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isSynced, readingOf, startsOver, statesOf } from "../../src/stages/load/checkpoints.ts"
import type { EndEntry, Entry, PageEntry } from "../../src/stores/vault/entry.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { decided, ended, load, notesOf, page, run, select, test } from "./loading.ts"

const counts = select(
  `SELECT run_id, location_id, resource, new_rows || '+' || changed_rows || '-' || deleted_rows, rejected_values, rejected_records, dropped_records
   FROM meta.run_resources ORDER BY ALL`
)
const people_ = select("SELECT location_id, id, name, _deleted_at IS NOT NULL FROM crm.persons ORDER BY ALL")
const tags = select("SELECT location_id, person_id, tag, _deleted_at IS NOT NULL FROM crm.person_tags ORDER BY ALL")
const versions = select("SELECT location_id, id, name FROM crm_history.persons ORDER BY ALL")

describe("records with the same id in two locations", () => {
  test(
    "are two rows, each with its children, its versions and its counts",
    Effect.gen(function* () {
      yield* page([{ id: "a", name: "one", tags: ["x"] }])
      yield* page([{ id: "a", name: "uno", tags: ["x", "y"] }], { location: "M" })
      yield* load
      assert.deepStrictEqual(yield* people_, ["L a one false", "M a uno false"])
      yield* page([{ id: "a", name: "two", tags: [] }], { run: "r2", day: 1 })
      yield* load
      assert.deepStrictEqual(yield* people_, ["L a two false", "M a uno false"])
      assert.deepStrictEqual(yield* tags, ["M a x false", "M a y false"])
      assert.deepStrictEqual(yield* versions, ["L a one"])
      assert.deepStrictEqual(yield* select("SELECT location_id, tag FROM crm_history.person_tags"), ["L x"])
      assert.deepStrictEqual(yield* counts, [
        "r1 L persons 1+0-0 0 0 0",
        "r1 M persons 1+0-0 0 0 0",
        "r2 L persons 0+1-0 0 0 0"
      ])
    })
  )

  test(
    "are deleted and restored one by one",
    Effect.gen(function* () {
      yield* page([
        { id: "a", name: "one", tags: ["x"] },
        { id: "b", name: "b" }
      ])
      yield* page([{ id: "a", name: "uno", tags: ["x"] }], { location: "M" })
      yield* load
      yield* decided("deleted", ["a", "unknown"], { run: "r2", day: 1 })
      yield* load
      assert.deepStrictEqual(yield* people_, ["L a one true", "L b b false", "M a uno false"])
      assert.deepStrictEqual(yield* tags, ["L a x true", "M a x false"])
      assert.deepStrictEqual(yield* versions, ["L a one"])
      const times = select(
        "SELECT _deleted_at = TIMESTAMPTZ '2026-01-02 00:00:00+00', _synced_at = _deleted_at FROM crm.persons WHERE _deleted_at IS NOT NULL"
      )
      assert.deepStrictEqual(yield* times, ["true true"])
      yield* decided("deleted", ["a"], { run: "r3", day: 2 })
      yield* load
      assert.deepStrictEqual(yield* versions, ["L a one"], "it is deleted already")
      yield* page([{ id: "a", name: "one", tags: ["x"] }], { run: "r4", day: 3 })
      yield* load
      assert.deepStrictEqual(yield* people_, ["L a one false", "L b b false", "M a uno false"])
      assert.deepStrictEqual(yield* tags, ["L a x false", "M a x false"])
      const deletions = select(
        "SELECT run_id, location_id, deleted_rows FROM meta.run_resources WHERE deleted_rows > 0"
      )
      assert.deepStrictEqual(yield* deletions, ["r2 L 1"])
    })
  )

  test(
    "whose parents are deleted are due again if these return: nothing vouches for them any more",
    Effect.gen(function* () {
      for (const location of ["L", "M"]) {
        yield* page([{ id: "p", name: "p" }], { location })
        yield* notesOf("p", [{ id: "n" }], { location })
      }
      yield* load
      yield* decided("deleted", ["p"], { run: "r2", day: 1 })
      yield* decided("deleted", ["n"], { run: "r2", day: 1 }, "notes")
      yield* load
      const states = select("SELECT location_id, parent_id FROM meta.parent_state ORDER BY ALL")
      assert.deepStrictEqual(yield* states, ["M p"])
      const notes = select("SELECT location_id, _deleted_at IS NOT NULL FROM crm.notes ORDER BY ALL")
      assert.deepStrictEqual(yield* notes, ["L true", "M false"])
      const counted = select("SELECT resource, deleted_rows FROM meta.run_resources WHERE run_id = 'r2' ORDER BY ALL")
      assert.deepStrictEqual(yield* counted, ["notes 1", "persons 1"])
    })
  )

  test(
    "have their rejects counted apart, as many as are stored",
    Effect.gen(function* () {
      const wrong = [{ id: "a", name: "n", updatedAt: "soon" }, { name: "nobody" }, { name: "somebody" }]
      yield* page(wrong)
      yield* page(wrong.slice(0, 2), { location: "M" })
      yield* load
      assert.deepStrictEqual(yield* counts, ["r1 L persons 1+0-0 1 2 2", "r1 M persons 1+0-0 1 1 1"])
      const stored = (table: string) =>
        select(`SELECT location_id, count(*) FROM meta.${table} GROUP BY ALL ORDER BY ALL`)
      assert.deepStrictEqual(yield* stored("rejected_values"), ["L 1", "M 1"])
      assert.deepStrictEqual(yield* stored("rejected_records"), ["L 2", "M 1"])
    })
  )

  test(
    "have their missing children noted apart, until a decision says that they exist",
    Effect.gen(function* () {
      const missing = select(
        "SELECT location_id, key, parent_id, last_at > first_at FROM meta.missing_children ORDER BY ALL"
      )
      for (const location of ["L", "M"]) {
        yield* page([{ id: "p", name: "p" }], { location })
        yield* notesOf("p", [{ id: "n" }, { id: "m" }], { location })
      }
      yield* load
      yield* notesOf("p", [{ id: "n" }], { run: "r2", day: 1 })
      yield* load
      assert.deepStrictEqual(yield* missing, ["L m p false"])
      yield* notesOf("p", [{ id: "n" }], { run: "r3", day: 2 })
      yield* load
      assert.deepStrictEqual(yield* missing, ["L m p true"], "a second reading agrees")
      yield* decided("existing", ["m"], { run: "r3", location: "M" }, "notes")
      yield* load
      assert.deepStrictEqual(yield* missing, ["L m p true"])
      yield* decided("existing", ["m"], { run: "r3", day: 2 }, "notes")
      yield* load
      assert.deepStrictEqual(yield* missing, [])
      assert.deepStrictEqual(yield* select("SELECT DISTINCT _deleted_at IS NULL FROM crm.notes"), ["true"])
    })
  )
})

describe("the next release gets the key of each record", () => {
  const keys = select("SELECT DISTINCT resource, location_id, key FROM meta.changed_keys ORDER BY ALL")
  const before = Effect.gen(function* () {
    yield* page([
      { id: "a", name: "one", tags: ["x"] },
      { id: "b", name: "b" },
      { id: "c", name: "c" }
    ])
    yield* notesOf("a", [{ id: "n" }])
    yield* load
    yield* run("UPDATE meta.content_versions SET base = version WHERE resource = 'persons'")
  })
  const versionOf = select(
    "SELECT resource FROM meta.content_versions WHERE base <> version OR base IS NULL ORDER BY resource DESC"
  )
  const cases: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown, any>, ReadonlyArray<string>]> = [
    ["that is new", page([{ id: "new", name: "n" }], { run: "r2", day: 1 }), ["persons L new"]],
    ["that is changed", page([{ id: "a", name: "two", tags: ["x"] }], { run: "r2", day: 1 }), ["persons L a"]],
    [
      "of which only a child row is changed",
      page([{ id: "a", name: "one", tags: ["y"] }], { run: "r2", day: 1 }),
      ["persons L a"]
    ],
    ["that is deleted", decided("deleted", ["b", "z"], { run: "r2", day: 1 }), ["persons L b"]],
    [
      "of the location that has it",
      page([{ id: "b", name: "beta" }], { run: "r2", day: 1, location: "M" }),
      ["persons M b"]
    ],
    ["and none that is as it was", page([{ id: "a", name: "one", tags: ["x"] }], { run: "r2", day: 1 }), []],
    ["of tables that a release has, and no others", notesOf("a", [{ id: "n", body: "new" }], { run: "r2", day: 1 }), []]
  ]
  for (const [name, change, expected] of cases)
    test(
      name,
      Effect.gen(function* () {
        yield* before
        assert.deepStrictEqual(yield* versionOf, ["notes"])
        yield* change
        yield* load
        assert.deepStrictEqual(yield* keys, expected)
        assert.deepStrictEqual(yield* versionOf, expected.length > 0 ? ["persons", "notes"] : ["notes"])
      })
    )
})

describe("the end of a reading", () => {
  const watermarks = select(
    "SELECT resource, watermark, full_complete_at IS NOT NULL, total FROM meta.watermarks ORDER BY ALL"
  )
  const checkpoints = select("SELECT location_id, resource, partition FROM meta.checkpoints ORDER BY ALL")
  const at = (day: number) => Date.UTC(2026, 0, 1 + day)
  test(
    "that is complete advances the watermark, never back, and leaves no checkpoint of its own",
    Effect.gen(function* () {
      yield* page([{ id: "a", name: "a" }])
      yield* page([{ id: "a", name: "a" }], { location: "M" })
      yield* load
      assert.deepStrictEqual(yield* checkpoints, ["L persons all", "M persons all"])
      yield* ended({ watermark: at(5), total: 7 })
      yield* load
      assert.deepStrictEqual(yield* checkpoints, ["M persons all"])
      assert.deepStrictEqual(yield* watermarks, ["persons 2026-01-06 00:00:00+00 true 7"])
      yield* ended({ watermark: at(3), mode: "incremental" }, { run: "r2", day: 1 })
      yield* load
      assert.deepStrictEqual(yield* watermarks, ["persons 2026-01-06 00:00:00+00 true 7"])
    })
  )

  test(
    "that is not complete advances nothing, and the next one resumes from its checkpoint unless it had reached its end",
    Effect.gen(function* () {
      yield* page([{ id: "a", name: "a" }])
      const shortfalls = [{ _tag: "CursorStuck" }] as const
      yield* ended({ shortfalls, watermark: at(5) })
      yield* load
      assert.deepStrictEqual([yield* checkpoints, yield* watermarks], [["L persons all"], []])
      yield* ended({ shortfalls, watermark: at(5), finished: true })
      yield* load
      assert.deepStrictEqual([yield* checkpoints, yield* watermarks], [[], []])
    })
  )
})

describe("the checkpoints of a batch", () => {
  const entry = (more: Partial<PageEntry> = {}): PageEntry => ({
    kind: "page",
    run: "r",
    at: 1,
    location: "L",
    resource: "persons",
    partition: "all",
    request: {},
    records: "items",
    hasBigNumbers: false,
    checkpoint,
    ...more
  })
  const end = (outcome: Partial<EndEntry["outcome"]> = {}, more: Partial<EndEntry> = {}): EndEntry => ({
    kind: "end",
    run: "r",
    at: 1,
    location: "L",
    resource: "persons",
    outcome: { mode: "full", shortfalls: [], warnings: [], requests: 1, ...outcome },
    ...more
  })
  const shortfalls = [{ _tag: "CursorStuck" }] as const
  const left = (...entries: ReadonlyArray<Entry>) =>
    statesOf(entries).partitions.map(
      ({ entry, reading }) => `${entry.location} ${reading} ${entry.partition} ${entry.checkpoint!.count}`
    )
  const counted = (count: number) => ({ ...checkpoint, count })
  const window = {
    kind: "window",
    run: "r",
    at: 1,
    location: "L",
    resource: "persons",
    window: [1, 2]
  } as unknown as Entry
  const inWindow = entry({ checkpoint: { ...checkpoint, mode: "window" } })

  it("are the last one of each partition and location", () => {
    assert.deepStrictEqual(
      left(
        entry({ checkpoint: counted(1) }),
        entry({ partition: "b" }),
        entry({ location: "M" }),
        entry({ checkpoint: counted(2) })
      ),
      ["L persons all 2", "L persons b 0", "M persons all 0"]
    )
    const parent = { id: "p", version: "1", done: true, full: true }
    assert.deepStrictEqual(left(entry({ parent })), [], "a parent has its own state")
    const { checkpoint: _, ...without } = entry()
    assert.deepStrictEqual(left(without), [])
  })

  it.each([
    ["a complete end", end(), []],
    ["an end with warnings", end({ warnings: shortfalls }), []],
    ["an incomplete end", end({ shortfalls }), ["L persons all 0"]],
    ["an incomplete end of the whole list", end({ shortfalls, finished: true }), []],
    ["the end of a window", end({ mode: "window" }), ["L persons all 0"]],
    ["the end of another reading", end({}, { resource: "notes" }), ["L persons all 0"]],
    ["the end of the reading elsewhere", end({}, { location: "M" }), ["L persons all 0"]],
    ["a window that is read", window, ["L persons all 0"]]
  ] as ReadonlyArray<readonly [string, Entry, ReadonlyArray<string>]>)("end with %s", (_, last, expected) =>
    assert.deepStrictEqual(left(entry(), last), expected)
  )

  it("of a backfill are its own, and end with its window", () => {
    assert.deepStrictEqual(left(entry(), inWindow), ["L persons all 0", "L persons/backfill all 0"])
    assert.deepStrictEqual(left(entry(), inWindow, window), ["L persons all 0"])
    assert.strictEqual(readingOf(inWindow), "persons/backfill")
    assert.strictEqual(
      readingOf(entry({ parent: { id: "p", version: "", done: true, full: true }, partition: "notes" })),
      "notes"
    )
  })

  it("after the end are those of the next reading, and ends and windows are kept in their order", () => {
    assert.deepStrictEqual(left(entry(), end(), entry({ checkpoint: counted(5) })), ["L persons all 5"])
    const { ends, windows } = statesOf([end({ requests: 1 }), window, end({ requests: 2 })])
    assert.deepStrictEqual([ends.map(({ outcome }) => outcome.requests), windows.length], [[1, 2], 1])
    assert.deepStrictEqual([end(), end({ shortfalls }), end({ mode: "window" })].map(isSynced), [true, false, false])
    assert.deepStrictEqual(
      [end(), end({ shortfalls }), end({ shortfalls, finished: true }), end({ mode: "window" })].map(startsOver),
      [true, false, true, false]
    )
  })
})
