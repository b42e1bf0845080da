/** The models of a release: built again only if something they depend on changed. */
import { assert, describe, it } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Model, modelOf } from "../../src/stages/publish/models/model.ts"
import { orderOf } from "../../src/stages/publish/models/order.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newOutput } from "./output.ts"
import { addThings, publishThings, replaceThings, warehouseAt } from "./things.ts"

const models = (texts: Readonly<Record<string, string>>) =>
  orderOf(
    Object.entries(texts).map(([name, text]) =>
      modelOf({
        file: `${name}.sql`,
        text,
        isView: /^(stg|view)_/.test(name),
        isStaging: name.startsWith("stg_"),
        description: `The ${name}.`,
        columns: { id: { description: "Its id", personalData: "none" } }
      })
    ),
    () => true
  )
const usual = {
  stg_things: "SELECT id, name, _synced_at FROM {{ source('crm', 'things') }} WHERE _deleted_at IS NULL",
  named: "SELECT id, name FROM {{ ref('stg_things') }} WHERE name IS NOT NULL",
  constant: "SELECT 1 AS id",
  newest_run: "SELECT max(run_id) AS id FROM {{ source('meta', 'runs') }}"
}
const row = (id: string) => ({ id, name: `name of ${id}`, note: null })

const inode = (output: string, file: string) => statSync(join(output, "published", file)).ino
const names = (output: string, format: string) => readdirSync(join(output, "published", format, "bi")).sort()
const read = (output: string, sql: string) =>
  Effect.promise(async () => {
    const instance = await DuckDBInstance.create(join(output, "published", "crm.duckdb"), { access_mode: "READ_ONLY" })
    const connection = await instance.connect()
    try {
      return (await connection.runAndReadAll(sql)).getRowsJson()
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
  })

describe("the models of a release", () => {
  it.effect("are in the DuckDB file with their comments, and those that are tables also in Parquet and CSV", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([row("a"), row("b")])
      yield* publishThings(output, { formats: ["duckdb", "parquet", "csv"], models: models(usual) })
      assert.deepStrictEqual(yield* read(output, "SELECT * FROM bi.named ORDER BY id"), [
        ["a", "name of a"],
        ["b", "name of b"]
      ])
      assert.deepStrictEqual(
        yield* read(output, "SELECT comment FROM duckdb_columns() WHERE table_name = 'named' AND column_name = 'id'"),
        [["Its id"]]
      )
      assert.deepStrictEqual(yield* read(output, "SELECT comment FROM duckdb_views() WHERE view_name = 'stg_things'"), [
        ["The stg_things."]
      ])
      assert.deepStrictEqual(names(output, "csv"), ["constant.csv", "named.csv", "newest_run.csv"])
      assert.deepStrictEqual(names(output, "parquet"), ["constant", "named", "newest_run"])
      assert.deepStrictEqual(
        yield* read(output, `SELECT * FROM '${join(output, "published/parquet/bi/named/part-0.parquet")}' ORDER BY id`),
        [
          ["a", "name of a"],
          ["b", "name of b"]
        ]
      )
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("have the same text in CSV whether Parquet is written before it or not", () => {
    const [one, both] = [newOutput(), newOutput()]
    return Effect.gen(function* () {
      const view_values = `SELECT id, 9007199254740993::HUGEINT + 1 AS large, 1.5::DECIMAL(38,7) AS amount, 0.1::DOUBLE AS share,
        TIMESTAMP '2026-01-01 00:00:00.5' AS clock, _synced_at, DATE '2026-01-01' AS day, data FROM {{ source('crm', 'things') }}`
      yield* addThings([row("a"), { ...row(""), note: "x" }])
      for (const view of [view_values, view_values.replace("9007199254740993::HUGEINT + 1", "7")]) {
        const ordered = models({ view_values: view })
        yield* publishThings(one, { formats: ["csv"], models: ordered, full: true })
        yield* publishThings(both, { formats: ["parquet", "csv"], models: ordered, full: true })
        const [alone, after] = [one, both].map((output) =>
          readFileSync(join(output, "published/csv/bi/view_values.csv"), "utf8")
        )
        assert.strictEqual(after, alone)
        assert.include(alone, view === view_values ? ",9007199254740994," : ",7,")
      }
    }).pipe(Effect.provide(warehouseAt(one)))
  })

  it.effect("are linked if nothing they read has changed, and built again if it has", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      const publishAll = publishThings(output, { formats: ["duckdb", "parquet", "csv"], models: models(usual) })
      yield* addThings(Array.from({ length: 20 }, (_, n) => row(`id${n}`)))
      yield* publishAll
      assert.isFalse((yield* publishAll).isNew)
      const [named, constant] = [inode(output, "csv/bi/named.csv"), inode(output, "parquet/bi/constant/part-0.parquet")]
      yield* replaceThings(["id3"], "changed")
      assert.isTrue((yield* publishAll).isNew)
      assert.notStrictEqual(inode(output, "csv/bi/named.csv"), named)
      assert.strictEqual(inode(output, "parquet/bi/constant/part-0.parquet"), constant)
      assert.deepStrictEqual(yield* read(output, "SELECT count(*)::INTEGER FROM bi.named"), [[19]])

      // A changed model does not touch the others, and a removed one is gone.
      const other = models({ stg_things: usual.stg_things, named: usual.named, constant: "SELECT 2 AS id" })
      const before = inode(output, "csv/bi/named.csv")
      const ended = yield* publishThings(output, { formats: ["duckdb", "parquet", "csv"], models: other })
      assert.isTrue(ended.isNew)
      assert.strictEqual(inode(output, "csv/bi/named.csv"), before)
      assert.deepStrictEqual(yield* read(output, "FROM bi.constant"), [[2]])
      assert.deepStrictEqual(
        yield* read(output, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'bi' ORDER BY 1"),
        [["constant"], ["named"], ["stg_things"]]
      )
      assert.isFalse(existsSync(join(output, "published/csv/bi/newest_run.csv")))
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("that are views have files, which follow their rows", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      const formats = ["duckdb", "csv"] as const
      const publishAll = publishThings(output, { formats, models: models({ ...usual, view_named: usual.named }) })
      yield* addThings(Array.from({ length: 20 }, (_, n) => row(`id${n}`)))
      yield* publishAll
      yield* replaceThings(["id3"], "changed")
      assert.isTrue((yield* publishAll).isNew)
      const file = join(output, "published/csv/bi/view_named.csv")
      assert.deepStrictEqual(
        yield* read(output, `FROM read_csv('${file}') ORDER BY id`),
        yield* read(output, "FROM bi.named ORDER BY id")
      )
      assert.deepStrictEqual(yield* read(output, "SELECT view_name FROM duckdb_views() WHERE schema_name = 'bi'"), [
        ["stg_things"],
        ["view_named"]
      ])
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("have the same rows without the DuckDB file, also if only a model that refers to others changed", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      const only = (texts: Readonly<Record<string, string>>) =>
        publishThings(output, { formats: ["csv"], models: models(texts) })
      yield* addThings([row("a")])
      yield* only(usual)
      assert.strictEqual(readFileSync(join(output, "published/csv/bi/named.csv"), "utf8"), "id,name\r\na,name of a\r\n")
      yield* only({ ...usual, upper: "SELECT upper(name) AS id FROM {{ ref('named') }}" })
      assert.strictEqual(readFileSync(join(output, "published/csv/bi/upper.csv"), "utf8"), "id\r\nNAME OF A\r\n")
      assert.deepStrictEqual(
        readdirSync(join(output, "published"), { recursive: true }).filter((one) => String(one).includes("duckdb")),
        []
      )
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  const broken = {
    ...usual,
    named: "SELECT nothing FROM {{ ref('stg_things') }}",
    later: "FROM {{ ref('named') }}"
  }
  const problemsIn = (output: string) =>
    read(output, "SELECT model, kept_run_id, kept_at IS NOT NULL FROM meta.model_problems ORDER BY model")

  it.effect("that cannot be built are named with those that refer to them; the release has everything else", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      const publishWith = (texts: Readonly<Record<string, string>>) =>
        publishThings(output, { formats: ["duckdb", "csv"], models: models(texts) })
      yield* addThings([row("a")])
      for (const isNew of [true, false]) {
        const ended = yield* publishWith(broken)
        assert.strictEqual(ended.isNew, isNew)
        assert.deepStrictEqual(
          ended.problems.map(({ where, kept }) => [where, kept]),
          [
            ["named", undefined],
            ["later", undefined]
          ]
        )
        assert.match(ended.problems[0]!.what, /^named\.sql: .*"nothing"/s)
        assert.deepStrictEqual(names(output, "csv"), ["constant.csv", "newest_run.csv"])
        assert.deepStrictEqual(yield* read(output, "SELECT id FROM things"), [["a"]])
        assert.deepStrictEqual(yield* read(output, "SELECT view_name FROM duckdb_views() WHERE schema_name = 'bi'"), [
          ["stg_things"]
        ])
        assert.deepStrictEqual(yield* problemsIn(output), [
          ["later", null, false],
          ["named", null, false]
        ])
      }
      // What failed for want of memory, for instance, is built once the settings give more.
      const warehouse = yield* Warehouse
      const withMore = Warehouse.of({ ...warehouse, memoryMb: warehouse.memoryMb + 1 })
      for (const isNew of [true, false]) {
        const ended = yield* Effect.provideService(publishWith(broken), Warehouse, withMore)
        assert.deepStrictEqual([ended.isNew, ended.problems.length], [isNew, 2])
      }
      assert.isFalse((yield* publishWith(broken)).isNew)
      assert.deepStrictEqual((yield* publishWith(usual)).problems, [])
      assert.deepStrictEqual(yield* read(output, "SELECT id FROM bi.named"), [["a"]])
      assert.deepStrictEqual(yield* problemsIn(output), [])
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  for (const { what, more } of [
    { what: "updated", more: {} },
    {
      what: "written anew",
      more: { statements: { shared: [], own: ["COMMENT ON TABLE main.things IS 'other'"] } }
    }
  ])
    it.effect(`that cannot be built any more keep their last good table, in a file that is ${what}`, () => {
      const output = newOutput()
      return Effect.gen(function* () {
        const publishWith = (texts: Readonly<Record<string, string>>, run: string, more = {}) =>
          publishThings(output, { formats: ["duckdb", "parquet", "csv"], models: models(texts), run, ...more })
        yield* addThings(Array.from({ length: 20 }, (_, n) => row(`id${n}`)))
        yield* publishWith({ ...usual, later: "FROM {{ ref('named') }}" }, "run-1")
        const before = inode(output, "csv/bi/named.csv")
        for (const run of ["run-2", "run-3"]) {
          yield* replaceThings([run === "run-2" ? "id3" : "id4"], "changed")
          const { problems } = yield* publishWith(broken, run, more)
          assert.deepStrictEqual(
            problems.map(({ where, kept }) => [where, kept?.run]),
            [
              ["named", "run-1"],
              ["later", "run-1"]
            ]
          )
          assert.deepStrictEqual(yield* read(output, "SELECT count(*)::INTEGER FROM bi.named"), [[20]])
          assert.deepStrictEqual(yield* read(output, "SELECT count(*)::INTEGER FROM bi.later"), [[20]])
          assert.deepStrictEqual(yield* read(output, "SELECT count(name)::INTEGER FROM things"), [
            [run === "run-2" ? 19 : 18]
          ])
          assert.strictEqual(inode(output, "csv/bi/named.csv"), before)
          assert.include(names(output, "parquet"), "named")
          assert.deepStrictEqual(yield* problemsIn(output), [
            ["later", "run-1", true],
            ["named", "run-1", true]
          ])
        }
        assert.deepStrictEqual((yield* publishWith(usual, "run-4")).problems, [])
        assert.deepStrictEqual(yield* read(output, "SELECT count(*)::INTEGER FROM bi.named"), [[18]])
      }).pipe(Effect.provide(warehouseAt(output)))
    })

  it.effect("that cannot be built keep no table in a masked release, nor in one that is written in full", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([row("a")])
      const all = { formats: ["duckdb", "csv"] as const }
      for (const more of [{ isMasked: true }, { full: true }]) {
        yield* publishThings(output, { ...all, models: models(usual), full: true })
        const { problems } = yield* publishThings(output, { ...all, models: models(broken), ...more })
        assert.deepStrictEqual(
          problems.map(({ kept }) => kept),
          [undefined, undefined]
        )
        assert.notInclude(names(output, "csv"), "named.csv")
        assert.deepStrictEqual(
          yield* read(output, "SELECT table_name FROM duckdb_tables() WHERE table_name = 'named'"),
          []
        )
      }
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})

describe("the versions of models", () => {
  it("differ if the SQL, a sentence or a source differs, also of a model that it refers to", async () => {
    const { modelVersions } = await import("../../src/stages/publish/models.ts")
    const versions = (texts: Readonly<Record<string, string>>, things = "v1") =>
      modelVersions(models(texts), { things }, [])
    const one = versions(usual)
    assert.deepStrictEqual(versions(usual), one)
    const changed = versions(usual, "v2")
    assert.notStrictEqual(changed["named"], one["named"])
    assert.strictEqual(changed["constant"], one["constant"])
    const other = versions({ ...usual, stg_things: `${usual.stg_things} AND true` })
    assert.notStrictEqual(other["named"], one["named"])
    const [first] = models(usual).models as [Model]
    const described = modelVersions(
      { models: [{ ...first, description: "Other." }], problems: [] },
      { things: "v1" },
      []
    )
    assert.notStrictEqual(described[first.name], one[first.name])
  })
})
