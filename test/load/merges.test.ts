/** Two states of one record, in whatever order they come: which one is current, and what is counted and archived. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { checkpoint } from "../support/checkpoint.ts"
import { decided, load, noNotesOf, notesOf, page, select, test } from "./loading.ts"

const at = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString()
const person = (name: string, day?: number, tags: ReadonlyArray<string> = []) => ({
  id: "a",
  name,
  tags,
  ...(day !== undefined && { updatedAt: at(day) })
})
const current = select("SELECT name, _run_id, _synced_at::DATE FROM crm.persons")
const history = select(
  "SELECT name, _valid_from::DATE, _valid_to::DATE FROM crm_history.persons ORDER BY _valid_from, name"
)
const counts = select("SELECT run_id, new_rows, changed_rows FROM meta.run_resources ORDER BY run_id")

describe("a record", () => {
  test(
    "with the same time of change and another content is the newer one of two runs",
    Effect.gen(function* () {
      yield* page([person("one", 1)], { run: "r1", day: 1 })
      yield* load
      yield* page([person("two", 1)], { run: "r2", day: 2 })
      yield* load
      assert.deepStrictEqual(yield* current, ["two r2 2026-01-03"])
      assert.deepStrictEqual(yield* history, ["one 2026-01-02 2026-01-03"])
      assert.deepStrictEqual(yield* counts, ["r1 1 0", "r2 0 1"])
    })
  )

  test(
    "with an older time is not the current one in the run that has read the newer, and is in a later run",
    Effect.gen(function* () {
      yield* page([person("new", 5)], { run: "r1", day: 6 })
      yield* load
      yield* page([person("stale", 1)], { run: "r1", day: 7 })
      yield* load
      assert.deepStrictEqual([yield* current, yield* history], [["new r1 2026-01-07"], []])
      yield* page([person("restored", 1)], { run: "r2", day: 8 })
      yield* load
      assert.deepStrictEqual(yield* current, ["restored r2 2026-01-09"])
      assert.deepStrictEqual(yield* history, ["new 2026-01-07 2026-01-09"])
    })
  )

  test(
    "that changes twice in one run has one version before, which ends with the first change",
    Effect.gen(function* () {
      yield* page([person("one", 1)], { run: "r1", day: 1 })
      yield* load
      yield* page([person("two", 2)], { run: "r2", day: 2 })
      yield* load
      yield* page([person("three", 3)], { run: "r2", day: 3 })
      yield* load
      assert.deepStrictEqual(yield* current, ["three r2 2026-01-03"])
      assert.deepStrictEqual(yield* history, ["one 2026-01-02 2026-01-03"])
    })
  )

  test(
    "with the same time on two pages of one run is that of the later page, which is no version of its own",
    Effect.gen(function* () {
      yield* page([person("one", 1)], { run: "r1", day: 1 })
      yield* load
      yield* page([person("two", 1)], { run: "r1", day: 1 })
      yield* page([person("three", 1)], { run: "r1", day: 1 })
      yield* load
      assert.deepStrictEqual([yield* current, yield* history], [["three r1 2026-01-02"], []])
      assert.deepStrictEqual(yield* select("SELECT new_rows FROM meta.run_resources"), ["1"])
    })
  )

  test(
    "that comes twice on one page is the newer one, and the last one if neither is newer",
    Effect.gen(function* () {
      yield* page([person("newer", 5), person("older", 1)])
      yield* page([person("first"), { ...person("last"), id: "a" }].map((one) => ({ ...one, id: "b" })))
      yield* load
      assert.deepStrictEqual(yield* select("SELECT id, name FROM crm.persons ORDER BY id"), ["a newer", "b last"])
      assert.deepStrictEqual(yield* counts, ["r1 2 0"])
    })
  )

  test(
    "that loses a value has none, and its version keeps it with its children",
    Effect.gen(function* () {
      yield* page([person("one", 1, ["x", "y"])], { run: "r1", day: 1 })
      yield* load
      yield* page([{ id: "a", updatedAt: at(2), tags: ["y"] }], { run: "r2", day: 2 })
      yield* load
      assert.deepStrictEqual(yield* select("SELECT name IS NULL, _run_id FROM crm.persons"), ["true r2"])
      assert.deepStrictEqual(yield* select("SELECT tag, _run_id FROM crm.person_tags"), ["y r2"])
      assert.deepStrictEqual(yield* select("SELECT tag, _valid_to::DATE FROM crm_history.person_tags ORDER BY tag"), [
        "x 2026-01-03",
        "y 2026-01-03"
      ])
    })
  )
})

describe("the children of a parent", () => {
  const states = select(
    "SELECT parent_id, parent_version, full_at IS NOT NULL, checkpoint IS NULL FROM meta.parent_state ORDER BY ALL"
  )
  const missing = select("SELECT key FROM meta.missing_children ORDER BY key")
  const readPart = (items: ReadonlyArray<unknown>, more: object, day: number) =>
    page(
      items,
      { run: `r${day}`, day },
      { resource: "notes", partition: "notes", parent: { id: "p", version: "1", done: true, full: true, ...more } }
    )
  test(
    "are read whole, in part, or not to the end: only a whole reading notes what it did not return",
    Effect.gen(function* () {
      yield* page([{ id: "p", name: "p" }])
      yield* notesOf("p", [{ id: "n" }, { id: "m" }])
      yield* load
      assert.deepStrictEqual(yield* states, ["p 1 true true"])
      yield* readPart([{ id: "n" }], { full: false }, 1)
      yield* load
      assert.deepStrictEqual([yield* missing, yield* states], [[], ["p 1 true true"]])
      yield* readPart([{ id: "n" }], { done: false }, 2)
      yield* load
      assert.deepStrictEqual(yield* missing, [])
      assert.match((yield* states)[0]!, /^p .*false$/, "it is resumed")
      yield* readPart([], {}, 2)
      yield* load
      assert.deepStrictEqual(yield* missing, ["m"], "the page before returned the other one")
      yield* decided("deleted", ["m"], { run: "r3", day: 3 }, "notes")
      yield* load
      yield* readPart([{ id: "n" }], {}, 4)
      yield* load
      assert.deepStrictEqual(yield* missing, [], "what is deleted is not missing")
      assert.deepStrictEqual(yield* states, ["p 1 true true"])
    })
  )

  test(
    "of which the service says by an error that there are none are none, and nothing is missing",
    Effect.gen(function* () {
      yield* page([{ id: "p", name: "p" }])
      yield* notesOf("p", [{ id: "n" }])
      yield* load
      yield* noNotesOf("p", { run: "r2", day: 1 })
      yield* load
      assert.deepStrictEqual(yield* missing, [])
      assert.deepStrictEqual(yield* select("SELECT parent_version FROM meta.parent_state"), ["2"])
    })
  )
})

describe("a table that is too large to be read whole", () => {
  const incremental = { checkpoint: { ...checkpoint, mode: "incremental" as const } }
  for (const [what, limits] of [
    ["at first", { knownRows: 200, smallKnownRows: 1, knownPages: 1 }],
    ["at all", { knownRows: 2, smallKnownRows: 1, knownPages: 1 }]
  ] as const)
    test(
      `${what} has each record once after a batch of many changed pages`,
      Effect.gen(function* () {
        const people = (names: string, name: string, day: number) =>
          [...names].map((id) => ({ id, name, tags: [], updatedAt: at(day) }))
        yield* page(people("abcdef", "old", 1), { run: "r1", day: 1 })
        yield* load
        for (const names of ["ab", "cx", "da", "ey"])
          yield* page(people(names, "new", 2), { run: "r2", day: 2 }, incremental)
        yield* load.pipe(Effect.provideService(Limits, limitsOf({ load: limits })))
        assert.deepStrictEqual(
          yield* select("SELECT string_agg(id, '' ORDER BY id) FROM crm.persons GROUP BY name ORDER BY name"),
          ["abcdexy", "f"]
        )
        assert.deepStrictEqual(yield* counts, ["r1 6 0", "r2 2 5"])
        assert.deepStrictEqual(yield* select("SELECT count(*) FROM crm_history.persons"), ["5"])
      })
    )
})
