import { assert, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { sluiceVersion } from "../../src/values/version.ts"
import { newOutput } from "./output.ts"
import { stringFromBytes } from "./exact-text.ts"
import { type Thing, addThings, nastyTexts, columnNames, publishThings, typedThing, warehouseAt } from "./things.ts"

const nasty: ReadonlyArray<Thing> = nastyTexts.map((note, index) => ({ id: `n${index}`, name: "nasty", note }))

const typed: Thing = { ...typedThing, _deleted_at: "2026-03-01T10:00:00.123456+02:00" }

const published = <A, E>(use: (folder: string) => Effect.Effect<A, E, Warehouse>) => {
  const output = newOutput()
  return addThings([...nasty, typed]).pipe(
    Effect.andThen(publishThings(output)),
    Effect.andThen(use(join(output, "published"))),
    Effect.provide(warehouseAt(output))
  )
}

const query = (file: string, sql: string) => {
  const program = fileURLToPath(new URL("programs/query.ts", import.meta.url))
  return JSON.parse(execFileSync(process.execPath, [program, file, sql], { encoding: "utf8" }))
}

const readCsv = (file: string) =>
  parse<Record<string, string | null>>(readFileSync(file), {
    columns: true,
    record_delimiter: "\r\n",
    cast: (value, { quoting, header }) => (value === "" && !quoting && !header ? null : value)
  })

describe("published files, read by other programs", () => {
  it.effect("csv-parse returns every difficult text, and distinguishes NULL from an empty text", () =>
    published((folder) =>
      Effect.sync(() => {
        const file = join(folder, "csv/things.csv")
        const rows = readCsv(file)
        assert.deepStrictEqual(
          rows.filter((row) => row["name"] === "nasty").map((row) => row["note"]),
          nastyTexts
        )
        assert.notStrictEqual(readFileSync(file)[0], 0xef, "no byte order mark")
      })
    )
  )

  it.effect("a table without rows has the header that it has with rows, which DuckDB writes", () => {
    const output = newOutput()
    const file = join(output, "published/csv/things.csv")
    return Effect.gen(function* () {
      yield* addThings([])
      yield* publishThings(output)
      const empty = readFileSync(file, "utf8")
      yield* addThings([typed])
      yield* publishThings(output)
      const filled = readFileSync(file, "utf8")
      assert.strictEqual(filled.slice(0, empty.length), empty)
      assert.match(empty, /^location_id,id,.*\r\n$/)
      assert.strictEqual(filled.split("\r\n").length, empty.split("\r\n").length + 1)
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("CSV contains timestamps in ISO 8601 UTC, exact numbers, and deleted rows", () =>
    published((folder) =>
      Effect.sync(() => {
        const row = readCsv(join(folder, "csv/things.csv")).find(({ id }) => id === "typed")!
        assert.deepInclude(row, {
          amount: "-12345678901234.5678",
          visits: "-9007199254740993",
          happened_at: "2026-01-01T00:00:00.123Z",
          day: "2026-02-28",
          active: "true",
          data: '{"a": [1, "zwei"]}',
          _deleted_at: "2026-03-01T08:00:00.123456Z",
          note: null
        })
        assert.deepStrictEqual(Object.keys(row), columnNames)
      })
    )
  )

  it.effect("hyparquet returns every difficult text, and the logical types", () =>
    published((folder) =>
      Effect.promise(async () => {
        const file = await asyncBufferFromFile(join(folder, "parquet/things/part-0.parquet"))
        const metadata = await parquetMetadataAsync(file)
        const typeOf = (name: string) => metadata.schema.find((element) => element.name === name)
        assert.deepInclude(typeOf("amount"), { converted_type: "DECIMAL", precision: 38, scale: 7 })
        assert.deepInclude(typeOf("happened_at")?.logical_type, {
          type: "TIMESTAMP",
          isAdjustedToUTC: true,
          unit: "MICROS"
        })
        assert.strictEqual(metadata.row_groups[0]?.columns[0]?.meta_data?.codec, "ZSTD")
        const rows = await parquetReadObjects({ file, compressors, parsers: { stringFromBytes } })
        assert.deepStrictEqual(
          rows.filter((row) => row["name"] === "nasty").map((row) => row["note"] ?? null),
          nastyTexts
        )
        const row = rows.find(({ id }) => id === "typed")!
        assert.strictEqual(row["visits"], -9007199254740993n)
        assert.strictEqual(row["happened_at"].toISOString(), "2026-01-01T00:00:00.123Z")
        assert.deepStrictEqual(row["data"], { a: [1, "zwei"] })
      })
    )
  )

  it.effect(
    "another process reads crm.duckdb, with comments and without internal state, while the warehouse is open",
    () =>
      published((folder) =>
        Effect.sync(() => {
          const file = join(folder, "crm.duckdb")
          const [row] = query(file, "SELECT amount::VARCHAR AS amount, note FROM crm.things WHERE id = 'typed'")
          assert.deepStrictEqual(row, { amount: "-12345678901234.5678000", note: null })
          assert.deepStrictEqual(
            query(file, "SELECT '|' || note AS note FROM things WHERE name = 'nasty'").map(
              (one: Thing) => one.note?.slice(1) ?? null
            ),
            nastyTexts
          )
          assert.deepStrictEqual(
            query(
              file,
              "SELECT comment FROM duckdb_tables() WHERE schema_name = 'main' UNION ALL SELECT comment FROM duckdb_columns() WHERE schema_name = 'crm_history' AND column_name = 'name'"
            ),
            [{ comment: "Things, one of each kind." }, { comment: "Name, as typed" }]
          )
          const meta = query(file, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'meta'")
          const names = meta.map((table: { readonly table_name: string }) => table.table_name)
          assert.includeMembers(names, ["runs", "columns", "watermarks"])
          for (const internal of ["checkpoints", "vault_offset", "parent_state"]) assert.notInclude(names, internal)
          assert.deepStrictEqual(readdirSync(folder).sort(), ["crm.duckdb", "csv", "manifest.json", "parquet"])
          assert.strictEqual(statSync(file).mode & 0o777, 0o600)
          // The warehouse has a newer storage format, for speed; older versions of DuckDB can read this file.
          assert.deepStrictEqual(
            query(file, "SELECT tags['storage_version'] AS version FROM duckdb_databases() WHERE path IS NOT NULL"),
            [{ version: "v1.0.0+" }]
          )
        })
      )
  )

  it.effect("DuckDB reads the texts of its own CSV without a difference", () =>
    published((folder) =>
      Effect.gen(function* () {
        const csv = `read_csv('${join(folder, "csv/things.csv")}', all_varchar = true, allow_quoted_nulls = false, max_line_size = 1000000)`
        const [row] = yield* (yield* Warehouse).rows(
          `SELECT count(*) AS same FROM crm.things AS t JOIN ${csv} AS c USING (id) WHERE t.note IS NOT DISTINCT FROM c.note`
        )
        assert.strictEqual(Number(row?.["same"]), nastyTexts.length + 1)
      })
    )
  )

  it.effect.skipIf(spawnSync("sha256sum", ["--version"]).status !== 0)("sha256sum agrees with the manifest", () =>
    published((folder) =>
      Effect.sync(() => {
        const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))
        const sums = manifest.files
          .map(({ path, sha256 }: { path: string; sha256: string }) => `${sha256}  ${path}\n`)
          .join("")
        assert.match(
          execFileSync("sha256sum", ["-c"], { cwd: folder, input: sums, encoding: "utf8" }),
          /^(\S+: OK\n){3}$/
        )
        assert.deepInclude(manifest, { run: "run-1", schemaVersion: "1", tool: `sluice ${sluiceVersion}` })
        for (const file of manifest.files) {
          assert.strictEqual(file.rows, nastyTexts.length + 1)
          assert.strictEqual(file.bytes, statSync(join(folder, file.path)).size)
        }
      })
    )
  )

  it.effect("the same warehouse gives the same bytes of Parquet and CSV", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([...nasty, typed])
      const [first, second] = [yield* publishThings(output), yield* publishThings(output, { run: "run-2" })]
      const sums = (files: typeof first.files) =>
        files.filter(({ table }) => table === "things").map(({ sha256 }) => sha256)
      assert.deepStrictEqual(sums(first.files), sums(second.files))
      assert.strictEqual(sums(first.files).length, 2)
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("only the requested formats are published", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([typed])
      const { files } = yield* publishThings(output, { formats: ["csv"] })
      assert.deepStrictEqual(
        files.map(({ path, rows }) => ({ path, rows })),
        [{ path: "csv/things.csv", rows: 1 }]
      )
      assert.deepStrictEqual(readdirSync(join(output, "published")).sort(), ["csv", "manifest.json"])
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
