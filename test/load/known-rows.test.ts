/** What a loader knows of the warehouse without a query: it may not know, but it is never wrong. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { KnownRows, isUnchanged, unknown } from "../../src/stages/load/known-rows.ts"
import { type Row, Warehouse } from "../../src/stores/warehouse/warehouse.ts"

const things = defineList({
  table: "things",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
  fields: { id: id("Id"), name: text("Name") }
})

/** `stored`: the hashes of the rows in the warehouse, by location and key. Counts the queries for them. */
const knowing = (stored: Readonly<Record<string, Readonly<Record<string, string>>>> = {}) =>
  Effect.gen(function* () {
    const queries: Array<string> = []
    const rows = (sql: string): ReadonlyArray<Row> => {
      if (!sql.includes("string_agg"))
        return sql.includes("meta.run_resources") && Object.keys(stored).length > 0 ? [{ one: 1 }] : []
      queries.push(sql)
      return sql.split(" UNION ALL ").map((select, place) => {
        const location = Object.keys(stored).find((one) => select.includes(`location_id = '${one}'`))
        const [, listed] = /IN \(('.*')\)\)/.exec(select) ?? []
        const limit = Number(/LIMIT (\d+)/.exec(select)?.[1] ?? Infinity)
        const found = Object.entries(stored[location ?? ""] ?? {})
          .filter(([key]) => listed === undefined || listed.includes(`'${key}'`))
          .slice(0, limit)
        return { place, n: found.length, hashes: found.length === 0 ? null : found.flat().join("\0") }
      })
    }
    const service = { rows: (sql: string) => Effect.sync(() => rows(sql)) } as unknown as Warehouse["Service"]
    const known = yield* KnownRows.make().pipe(Effect.provideService(Warehouse, service))
    const read = (keys: ReadonlyArray<string>, isFull = false, location = "L") =>
      known.read({ resource: things, location, isFull }, keys)
    return { known, queries, read }
  })
const hashesOf = (known: KnownRows, location = "L") => {
  const hashes = known.of(things, location)
  return hashes && Object.fromEntries(hashes)
}
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "1"]))

describe("a record", () => {
  it.each([
    [5, 5, true],
    [-5, 5, true],
    [5, 6, false],
    [undefined, 5, false],
    [unknown, 5, false],
    // The number of a hash is never that of a row which is unknown or deleted.
    [-2, 5, false]
  ])("whose row has the hash %o changes nothing with the hash %i: %o", (before, now, expected) =>
    assert.strictEqual(isUnchanged(before, now), expected)
  )
})

describe("the rows of a table", () => {
  it.effect("are known to be none in a warehouse into which nothing was loaded, without a query", () =>
    Effect.gen(function* () {
      const { known, queries, read } = yield* knowing()
      yield* read(["a"])
      assert.deepStrictEqual([hashesOf(known), queries.length], [{}, 0])
      assert.isTrue(known.isEmptyTable(things, "L"))
    })
  )

  it.effect("are read once if they are few, each location for itself", () =>
    Effect.gen(function* () {
      const { known, queries, read } = yield* knowing({ L: { a: "1f", b: "-2f" }, M: { a: "3" } })
      yield* read(["a"])
      yield* read(["b"])
      assert.deepStrictEqual(hashesOf(known), { a: 0x1f, b: -0x2f })
      assert.strictEqual(queries.length, 1)
      assert.isUndefined(hashesOf(known, "M"))
      yield* read(["a"], false, "M")
      assert.deepStrictEqual(hashesOf(known, "M"), { a: 3 })
      assert.isFalse(known.isEmptyTable(things, "L"))
      assert.isFalse(known.isEmptyTable(things, "unread"))
      yield* read([], false, "none")
      assert.isTrue(known.isEmptyTable(things, "none"))
    })
  )

  it.effect("are looked up for a page if they are many, and read whole after eight pages or for a full reading", () =>
    Effect.gen(function* () {
      const stored = { L: many(5001) }
      const { known, queries, read } = yield* knowing(stored)
      yield* read(["k7", "new"])
      assert.deepStrictEqual(hashesOf(known), { k7: 1 })
      const before = queries.length
      yield* read(["k7"])
      assert.strictEqual(queries.length, before, "it is known already")
      for (const key of ["k8", "k9", "k10", "k11", "k12", "k13"]) yield* read([key])
      const looked = known.of(things, "L")!
      assert.strictEqual(looked.size, 7)
      assert.isFalse(known.hasNoDeleted("things", "L"), "all rows are not known")
      known.of(things, "L")!.set("k7", 99)
      yield* read(["k14"])
      assert.strictEqual(known.of(things, "L")!.size, 5001)
      assert.strictEqual(known.of(things, "L")!.get("k7"), 99, "what a batch has changed stays")
      assert.strictEqual(looked.size, 5001, "a batch that has begun decides by all rows too")
      const full = yield* knowing(stored)
      yield* full.read(["k1"], true)
      assert.strictEqual(full.known.of(things, "L")!.size, 5001)
      const small = yield* knowing({ L: many(5000) })
      yield* small.read(["k1"])
      assert.strictEqual(small.known.of(things, "L")!.size, 5000)
    })
  )

  it.effect("are read again after a batch that was not committed", () =>
    Effect.gen(function* () {
      const { known, read } = yield* knowing({ L: { a: "1" } })
      yield* read(["a"])
      known.of(things, "L")!.set("a", 2)
      known.see("things", "L", ["a"], false)
      known.reset()
      assert.isUndefined(hashesOf(known))
      yield* read(["a"])
      assert.deepStrictEqual(hashesOf(known), { a: 1 })
      assert.isFalse(known.hasSeenAll("things", "L"))
      const empty = yield* knowing()
      empty.known.reset()
      yield* empty.read(["a"])
      assert.strictEqual(empty.queries.length, 1, "the warehouse may have rows by now")
    })
  )
})

describe("a full reading has returned every live row", () => {
  const after = (
    stored: Readonly<Record<string, string>>,
    seen: ReadonlyArray<ReadonlyArray<string>>,
    more?: (known: KnownRows) => void
  ) =>
    Effect.gen(function* () {
      const { known, read } = yield* knowing({ L: stored, M: { a: "1" } })
      yield* read([])
      for (const keys of seen) known.see("things", "L", keys, Object.keys(stored).length === 0)
      more?.(known)
      return known.hasSeenAll("things", "L")
    })
  it.effect.each([
    ["each of its pages together", { a: "1", b: "2" }, [["a"], ["b"]], true],
    ["without one of them", { a: "1", b: "2" }, [["a"]], false],
    ["one with a flag that deletes it", { a: "1", b: "-2f" }, [["a"]], true],
    ["a row whose content is not known", { a: "1", b: "-1" }, [["a"]], false],
    ["a row that is deleted", { a: "1", b: "-2" }, [["a"]], true],
    ["an empty table", {}, [], true],
    ["nothing of a table with rows", { a: "1" }, [], false],
    ["a table that was empty before", {}, [["a"]], true]
  ] as ReadonlyArray<readonly [string, Record<string, string>, ReadonlyArray<ReadonlyArray<string>>, boolean]>)(
    "%s",
    ([, stored, seen, expected]) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* after(stored, seen), expected)
      })
  )

  it.effect("counts from its own beginning, and not for another location", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* after({ a: "1" }, [["a"]], (known) => known.endReading("things", "L")))
      assert.isTrue(yield* after({ a: "1" }, [["a"]], (known) => known.endReading("things", "M")))
      const { known, read } = yield* knowing({ L: { a: "1" }, M: { a: "1" } })
      yield* read([])
      yield* read([], false, "M")
      known.see("things", "M", ["a"], false)
      assert.isFalse(known.hasSeenAll("things", "L"))
      assert.isTrue(known.hasSeenAll("things", "M"))
    })
  )

  it.effect("is not known of a table of which some rows are not known", () =>
    Effect.gen(function* () {
      const { known, read } = yield* knowing({ L: many(5001) })
      yield* read(["k1"])
      known.see("things", "L", Object.keys(many(5001)), false)
      assert.isFalse(known.hasSeenAll("things", "L"))
    })
  )

  it.effect("is not so for a row that came in after it, and is so for one that a batch deletes", () =>
    Effect.gen(function* () {
      const seen = (change: (known: KnownRows) => void) => after({ a: "1", b: "2" }, [["a", "b"]], change)
      assert.isFalse(yield* seen((known) => void known.of(things, "L")!.set("c", 3)))
      const isDeleted = yield* after({ a: "1", b: "2" }, [["a"]], (known) => known.forget("things", "L", ["b", "z"]))
      assert.isTrue(isDeleted)
    })
  )
})

describe("a row that the next batch deletes", () => {
  it.effect("is deleted in a table that has it, and in one that may have it", () =>
    Effect.gen(function* () {
      const { known, read } = yield* knowing({ L: { a: "1" }, M: many(5001) })
      yield* read([])
      assert.isTrue(known.hasNoDeleted("things", "L"))
      known.forget("things", "L", ["a", "z"])
      assert.deepStrictEqual(hashesOf(known), { a: -2 })
      assert.isFalse(known.hasNoDeleted("things", "L"))
      yield* read(["k1"], false, "M")
      known.forget("things", "M", ["k9"])
      assert.strictEqual(hashesOf(known, "M")!["k9"], -2)
      known.forget("things", "unread", ["a"])
    })
  )

  it.effect("is known to be none only where all rows are known", () =>
    Effect.gen(function* () {
      const { known, read } = yield* knowing({ L: { a: "1", b: "-2f" } })
      assert.isFalse(known.hasNoDeleted("things", "L"))
      yield* read([])
      assert.isFalse(known.hasNoDeleted("things", "L"), "a flag deletes it")
    })
  )
})

it.effect("batches, parents and missing children are counted for each table and location", () =>
  Effect.gen(function* () {
    const { known } = yield* knowing({ L: {} })
    known.commit([
      ["things", "L"],
      ["things", "L"],
      ["things", "M"]
    ])
    assert.deepStrictEqual(
      [known.commitsOf("things", "L"), known.commitsOf("things", "M"), known.commitsOf("others", "L")],
      [2, 1, 0]
    )
    known.addMissing("L", "notes")
    known.addParentState("M", "notes")
    assert.deepStrictEqual([known.hasMissing("L", "notes"), known.hasMissing("M", "notes")], [true, false])
    assert.deepStrictEqual([known.hasParentState("L", "notes"), known.hasParentState("M", "notes")], [false, true])
  })
)
