/** The files and checksums of small tables, which this program makes itself, are those that DuckDB would make. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { copyCsv, headerOf, machineText, smallCsv } from "../../src/stores/formats/csv/write.ts"
import { csvReading } from "../../src/stores/formats/csv/reading.ts"
import { readFooter } from "../../src/stores/formats/parquet/footer.ts"
import { metadataFrom } from "../../src/stores/formats/metadata.ts"
import { copyParquet } from "../../src/stores/formats/parquet/write.ts"
import { smallParquet, smallParquetBytes } from "../../src/stores/formats/parquet/small.ts"
import { smallTables } from "../../src/stages/publish/small-tables.ts"
import { storedTables } from "../../src/stores/warehouse/columns.ts"
import { contentOfRows, contentOfTexts } from "../../src/stores/warehouse/content.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"
import { nastyTexts } from "./things.ts"

const columns = `t VARCHAR, j JSON, flag BOOLEAN, n BIGINT, money DECIMAL(38,7), day DATE, moment TIMESTAMPTZ, list VARCHAR[]`
const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join("")
const texts = [...nastyTexts, controls, `\\u001f\\${controls}`, "ä".repeat(50), "ä".repeat(51), "x".repeat(101)]
const values = [
  `NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`,
  `'', '{"a": [1, null]}', true, 9223372036854775807, 0.0000001, '1970-01-01', '1970-01-01', []`,
  `'a', '"b"', false, -9223372036854775808, -12345678901234567890123.4567891, '0001-01-01', '0001-01-01 00:00:00.000001', ['']`,
  `'b', 'null', true, 0, -0.5, '9999-12-31', '9999-12-31 23:59:59.999999', [NULL, 'x', '"']`,
  `'c', '1', true, 1, 1, '2024-02-29', '1969-12-31 23:59:59.999', ['y', NULL]`,
  ...texts.map((text) => `${literal(text)}, NULL, NULL, NULL, NULL, NULL, NULL, [${literal(text)}, ${literal(text)}]`)
]

const warehouseOf = (folder: string) =>
  Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })

const prepare = (rows: ReadonlyArray<string>) =>
  Effect.flatMap(Warehouse, (warehouse) =>
    warehouse.run(
      [
        "CREATE SCHEMA crm",
        "SET preserve_insertion_order = true",
        `CREATE TABLE crm.empty (${columns})`,
        `CREATE TABLE crm.things (${columns})`,
        ...rows.map((row) => `INSERT INTO crm.things VALUES (${row})`),
        "CREATE TABLE crm.large AS SELECT i::VARCHAR AS t FROM range(1000) AS r (i)",
        "CHECKPOINT"
      ].join(";\n")
    )
  )

describe("a small table", () => {
  it.live("has the checksum, CSV file and Parquet file that DuckDB makes of every type and text", () => {
    const folder = newFolder()
    return Effect.gen(function* () {
      yield* prepare(values)
      const stored = yield* storedTables
      const paths = ["things", "empty", "large"].map((table) => `crm."${table}"`)
      const small = yield* smallTables(paths, stored)
      assert.deepStrictEqual(
        [...small].map(([path, rows]) => [path, rows.length]),
        [
          [`crm."things"`, values.length],
          [`crm."empty"`, 0]
        ]
      )
      const metadata = metadataFrom('It\'s "described", ä', { key: ["id"] })
      for (const [path, rows] of small) {
        const { columns } = stored.get(path)!
        assert.deepStrictEqual(contentOfTexts(columns, rows), yield* contentOfRows(path, columns))

        const csv = join(folder, "copied.csv")
        yield* copyCsv(path, columns, csv, true)
        assert.strictEqual(smallCsv(columns, rows), readFileSync(csv, "utf8"))
        // Earlier versions wrote all decimal places.
        const earlier = join(folder, "earlier.csv")
        writeFileSync(earlier, headerOf(columns) + machineText(rows))
        for (const file of [csv, earlier]) {
          const read = csvReading.from(
            [file],
            columns.map((column) => column.name)
          )
          assert.deepStrictEqual(yield* contentOfRows(read, columns, true), yield* contentOfRows(path, columns), file)
        }

        const [copied, made] = [join(folder, "copied.parquet"), join(folder, "made.parquet")]
        yield* copyParquet(path, metadata, copied)
        writeFileSync(made, smallParquetBytes(smallParquet(columns, rows)!, rows.length, metadata))
        const [own, expected] = yield* Effect.promise(() => Promise.all([readFooter(made), readFooter(copied)]))
        assert.deepStrictEqual(
          [own.field_1, own.field_2, own.field_3, own.field_5, own.field_7],
          [expected.field_1, expected.field_2, expected.field_3, expected.field_5, expected.field_7]
        )
        const { rows: query } = yield* Warehouse
        const rowsIn = (file: string) => query(`SELECT t::VARCHAR AS row FROM read_parquet(${literal(file)}) AS t`)
        assert.deepStrictEqual(yield* rowsIn(made), yield* rowsIn(copied))
      }
    }).pipe(Effect.provide(warehouseOf(folder)))
  })

  for (const [what, row] of [
    ["a date without end", "NULL, NULL, NULL, NULL, NULL, 'infinity', NULL, NULL"],
    ["a year of five digits", "NULL, NULL, NULL, NULL, NULL, NULL, '12345-01-01', NULL"],
    ["a year before the first", "NULL, NULL, NULL, NULL, NULL, '0044-03-15 (BC)', NULL, NULL"]
  ] as const)
    it.live(`is left to DuckDB as Parquet if it has ${what}`, () =>
      Effect.gen(function* () {
        yield* prepare([row])
        const stored = yield* storedTables
        const path = `crm."things"`
        const rows = (yield* smallTables([path], stored)).get(path)!
        assert.isUndefined(smallParquet(stored.get(path)!.columns, rows))
      }).pipe(Effect.provide(warehouseOf(newFolder())))
    )

  it("is left to DuckDB as Parquet if it has a column of another type", () => {
    assert.isUndefined(smallParquet([{ name: "n", type: "INTEGER" }], []))
    assert.isUndefined(smallParquet([{ name: "n", type: "DECIMAL(18,2)" }], []))
  })
})
