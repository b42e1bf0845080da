/** A release takes from the previous one what has not changed, and has the same rows as one that is written anew. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import {
  appendFileSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { failure } from "../../src/values/failure.ts"
import { boundChangedKeys } from "../../src/stores/warehouse/meta/content-versions.ts"
import { isAny } from "../../src/stores/warehouse/query.ts"
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { contentOf } from "../support/content.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { randomFrom } from "../support/random.ts"
import { newOutput } from "./output.ts"
import { addManyThings, addThings, nastyTexts, publishThings, warehouseAt, replaceThings } from "./things.ts"
import { verified } from "./verify.ts"

const ids = Array.from(
  { length: 60 },
  (_, n) => `${["id", 'q"uote', "com,ma", "li\nne", "ümläut", "cr\r\nlf", "#x"][n % 7]}-${n}`
)

const released = (output: string) => ({
  release: readlinkSync(join(output, "published")),
  manifest: JSON.parse(readFileSync(join(output, "published/manifest.json"), "utf8"))
})
const inode = (output: string, path: string) => statSync(join(output, "published", path)).ino

/** Throws unless every file of the release has exactly the rows of the warehouse, and its manifest says so. */
const compareFiles = Effect.fnUntraced(function* (output: string) {
  const warehouse = yield* Warehouse
  const folder = realpathSync(join(output, "published"))
  verified(join(output, "published"))
  const { manifest } = released(output)
  for (const table of manifest.tables) {
    const columns = Object.entries<string>(table.columns).map(([name, type]) => ({ name, type }))
    const { rows, sum } = yield* contentOf(`${table.schema}.things`, columns)
    assert.deepStrictEqual({ rows: table.rows, sum: table.sum }, { rows, sum }, table.schema)
  }
  yield* warehouse.run(`ATTACH '${join(folder, "crm.duckdb")}' AS served (READ_ONLY)`)
  const columns = Object.keys(manifest.tables[0].columns)
  const text = columns.map((column) => `"${column}"::VARCHAR`).join(", ")
  const csv = `read_csv('${join(folder, "csv/things.csv")}', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"', new_line = '\\r\\n', allow_quoted_nulls = false)`
  for (const [copy, of] of [
    [`SELECT ${text} FROM served.main.things`, "crm"],
    [`SELECT ${text} FROM served.crm_history.things`, "crm_history"],
    [`SELECT ${text} FROM read_parquet('${join(folder, "parquet/things/part-0.parquet")}')`, "crm"],
    [`SELECT ${text} FROM ${csv}`, "crm"]
  ] as const) {
    const original = `SELECT ${text} FROM ${of}.things`
    for (const difference of [`(${copy}) EXCEPT ALL (${original})`, `(${original}) EXCEPT ALL (${copy})`])
      assert.deepStrictEqual(yield* warehouse.rows(difference), [], difference)
  }
  yield* warehouse.run("DETACH served")
  for (const { path, rows } of manifest.files) assert.strictEqual(rows, manifest.tables[0].rows, path)
})

const addAll = addThings(ids.map((id, n) => ({ id, name: "first", note: nastyTexts[n % nastyTexts.length]! })))

describe("a release", () => {
  it.effect("is not made again if nothing has changed; the manifest says when it was compared", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addAll
      assert.isTrue((yield* publishThings(output)).isNew)
      const first = released(output)
      assert.strictEqual(first.manifest.confirmedAt, first.manifest.writtenAt)
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      assert.isFalse((yield* publishThings(output, { run: "run-2" })).isNew)
      const second = released(output)
      assert.strictEqual(second.release, first.release)
      assert.strictEqual(second.manifest.run, "run-1")
      assert.strictEqual(second.manifest.writtenAt, first.manifest.writtenAt)
      assert.isAbove(Date.parse(second.manifest.confirmedAt), Date.parse(first.manifest.confirmedAt) - 1)
      assert.isTrue((yield* publishThings(output, { run: "run-3", full: true })).isNew)
      yield* compareFiles(output)
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect(
    "links the files of unchanged tables, and writes them anew when asked to or when they were modified",
    () => {
      const output = newOutput()
      return Effect.gen(function* () {
        yield* addAll
        yield* publishThings(output, { formats: ["csv"] })
        const csv = inode(output, "csv/things.csv")
        yield* publishThings(output, { formats: ["csv", "parquet"] })
        assert.strictEqual(inode(output, "csv/things.csv"), csv)
        yield* publishThings(output, { formats: ["duckdb", "csv", "parquet"] })
        assert.strictEqual(inode(output, "csv/things.csv"), csv)
        yield* compareFiles(output)

        for (const modify of [
          (file: string) => appendFileSync(file, "x"),
          (file: string) => utimesSync(file, 1, 1),
          (file: string) => rmSync(file)
        ]) {
          const before = released(output).release
          modify(join(output, "published/csv/things.csv"))
          assert.isTrue((yield* publishThings(output)).isNew)
          assert.notStrictEqual(released(output).release, before)
          yield* compareFiles(output)
        }
        const before = inode(output, "parquet/things/part-0.parquet")
        yield* publishThings(output, { full: true })
        assert.notStrictEqual(inode(output, "parquet/things/part-0.parquet"), before)
      }).pipe(Effect.provide(warehouseAt(output)))
    },
    { tags: ["slow"] }
  )

  it.effect(
    "has the rows of the warehouse after many nights of changes, of which none writes all rows",
    () => {
      const output = newOutput()
      const random = randomFrom(7)
      return Effect.gen(function* () {
        yield* addAll
        // Changed records are found by their keys alone, which another location may have as well.
        yield* (yield* Warehouse).run(
          "INSERT INTO crm.things SELECT * REPLACE ('there' AS location_id) FROM crm.things WHERE id LIKE '%1%'"
        )
        yield* publishThings(output)
        for (let night = 0; night < 12; night++) {
          const changed = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
            random() < 0.3 ? `new-${night}-${Math.floor(random() * 3)}` : ids[Math.floor(random() * ids.length)]!
          )
          yield* replaceThings([...new Set(changed)], nastyTexts[Math.floor(random() * nastyTexts.length)]!)
          // Two runs before one release.
          if (night % 3 === 0) yield* replaceThings([ids[night]!], "twice")
          const { isNew } = yield* publishThings(output, { run: `night-${night}` })
          assert.isTrue(isNew)
          yield* compareFiles(output)
        }
        assert.strictEqual(released(output).manifest.state.fullBytes > 0, true)
        // All changed.
        yield* replaceThings(ids, "all")
        yield* publishThings(output)
        yield* compareFiles(output)
      }).pipe(Effect.provide(warehouseAt(output)))
    },
    { tags: ["slow"] }
  )

  it.effect(
    "has the same row groups of a Parquet file before the first changed row",
    () => {
      const output = newOutput()
      const path = join(output, "published/parquet/things/part-0.parquet")
      const groups = () =>
        Effect.promise(async () => {
          const { row_groups, key_value_metadata } = await parquetMetadataAsync(await asyncBufferFromFile(path))
          const found = Object.fromEntries((key_value_metadata ?? []).map(({ key, value }) => [key, value]))
          assert.strictEqual(found["description"], "Things, one of each kind.")
          const { key, columns } = JSON.parse(found["sluice"]!)
          assert.deepStrictEqual(key, ["location_id", "id"])
          assert.deepStrictEqual(columns["note"], { description: "Whatever was said about it", personalData: "none" })
          return row_groups.map(({ num_rows }) => Number(num_rows))
        })
      const full = [20_480, 20_480, 20_480, 20_480]
      /** The bytes of the file up to the end of its first row groups. */
      const beginning = (bytes: number) => readFileSync(path).subarray(0, bytes)
      return Effect.gen(function* () {
        yield* addManyThings(100_000)
        yield* addAll
        yield* publishThings(output)
        assert.deepStrictEqual(yield* groups(), [...full, 100_000 + ids.length - 81_920])
        const before = beginning(100_000)

        yield* replaceThings(["new-1", "new-2", ids[3]!], "new")
        yield* publishThings(output)
        yield* compareFiles(output)
        assert.isTrue(beginning(100_000).equals(before))
        const updated = yield* groups()
        assert.deepStrictEqual(updated.slice(0, 4), full)
        assert.strictEqual(
          updated.reduce((sum, rows) => sum + rows),
          100_002 + ids.length
        )

        // A row of the third group: the first two stay.
        yield* replaceThings(["id50000"], "changed")
        yield* publishThings(output)
        yield* compareFiles(output)
        assert.isTrue(beginning(100_000).equals(before))
        assert.deepStrictEqual((yield* groups()).slice(0, 2), full.slice(0, 2))
        const rows = yield* Effect.promise(async () =>
          parquetReadObjects({ file: await asyncBufferFromFile(path), compressors, columns: ["id", "note"] })
        )
        assert.deepStrictEqual(rows.at(-1), { id: "id50000", note: "changed" })

        yield* replaceThings(["id7"], "changed")
        yield* publishThings(output)
        yield* compareFiles(output)
        assert.isFalse(beginning(100_000).equals(before))
      }).pipe(Effect.provide(warehouseAt(output)))
    },
    { tags: ["slow"] }
  )

  it.effect("is written anew if more records have changed while nothing was published than the list keeps", () => {
    const output = newOutput()
    const bounded = Effect.provideService(boundChangedKeys(), Limits, limitsOf({ warehouse: { keptChangedKeys: 1 } }))
    return Effect.gen(function* () {
      yield* addAll
      yield* publishThings(output)
      for (const [id, base] of [
        [ids[0], true],
        [ids[1], false]
      ] as const) {
        yield* replaceThings([id!], "changed")
        yield* bounded
        const known = yield* isAny("(FROM meta.content_versions WHERE resource = 'things' AND base IS NOT NULL)")
        assert.strictEqual(known, base)
      }
      yield* publishThings(output)
      yield* compareFiles(output)
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("is written anew if the list of changes does not begin at the current release", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      const warehouse = yield* Warehouse
      yield* addAll
      yield* publishThings(output)
      yield* replaceThings([ids[0]!], "before")
      yield* publishThings(output)
      // A run was killed after the release was made, and before the warehouse recorded it.
      yield* warehouse.run("UPDATE meta.content_versions SET base = uuid(); DELETE FROM meta.changed_keys")
      yield* replaceThings([ids[1]!], "after")
      yield* publishThings(output)
      yield* compareFiles(output)

      // The warehouse cannot record the release, for example because the disk is full. The release is complete all the same.
      yield* replaceThings([ids[1]!], "unrecorded release")
      const { isNew } = yield* publishThings(output).pipe(
        Effect.provideService(Warehouse, {
          ...warehouse,
          transaction: (work) =>
            typeof work === "function"
              ? warehouse.transaction((tx) => {
                  let isRecord = false
                  const run = (...statements: ReadonlyArray<string>) => {
                    isRecord ||= statements.some((sql) => sql.includes("SET base = version"))
                    tx.run(...statements)
                  }
                  const full = Effect.suspend(() =>
                    isRecord ? Effect.fail(failure({ _tag: "WarehouseNotFound", path: "" })) : Effect.void
                  )
                  return Effect.andThen(work({ ...tx, run }), full)
                })
              : warehouse.transaction(work)
        })
      )
      assert.isTrue(isNew)
      yield* compareFiles(output)
      yield* replaceThings([ids[4]!], "after")
      yield* publishThings(output)
      yield* compareFiles(output)

      // An earlier version of sluice wrote the manifest.
      const path = join(output, "published/manifest.json")
      const { state: _, ...manifest } = released(output).manifest
      writeFileSync(path, JSON.stringify({ ...manifest, state: { changes: 1, definitions: "" } }))
      yield* replaceThings([ids[2]!], "after")
      yield* publishThings(output)
      yield* compareFiles(output)
      // Changed rows whose change nothing recorded must not be the reason why this test passes.
      yield* warehouse.run(`UPDATE crm.things SET note = 'unrecorded' WHERE id = ${literal(ids[3])}`)
      assert.isFalse((yield* publishThings(output)).isNew)
      const compared = yield* Effect.exit(compareFiles(output))
      assert.strictEqual(compared._tag, "Failure")
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
