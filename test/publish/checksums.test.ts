/** The checksum of rows in memory is the one that DuckDB computes of a table and of its files. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { csvReading } from "../../src/stores/formats/csv/format.ts"
import { headerOf, machineText, writeCsv } from "../../src/stores/formats/csv/write.ts"
import { format } from "../../src/stores/formats/parquet/format.ts"
import { noMetadata } from "../../src/stores/formats/metadata.ts"
import { columnsOf, storedTables } from "../../src/stores/warehouse/columns.ts"
import { Failure } from "../../src/values/failure.ts"
import {
  contentOfTexts,
  contentsIfReadable,
  contentsOfEach,
  forEachRowOf,
  jsonOfRow
} from "../../src/stores/warehouse/content.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { contentOf } from "../support/content.ts"
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
        "CHECKPOINT"
      ].join(";\n")
    )
  )

describe("a table with every type and text", () => {
  it.live("has one checksum: of the table, of its rows in memory, and of its files", () => {
    const folder = newFolder()
    return Effect.gen(function* () {
      yield* prepare(values)
      const stored = yield* storedTables
      // One that cannot be read says nothing of those that are read together with it.
      const all = ["things", "nothing", "empty"].map((table) => `crm."${table}"`)
      const columnsOfAll = stored.get(all[0]!)!.columns
      for (const size of [1, 5000]) {
        const found = yield* contentsIfReadable(
          all.map((from) => ({ from, columns: stored.get(from)?.columns ?? columnsOfAll, size }))
        )
        assert.deepStrictEqual(
          all.map((from) => found.get(from) instanceof Failure),
          [false, true, false]
        )
        for (const from of all.filter((_, n) => n !== 1))
          assert.deepStrictEqual<unknown>(found.get(from), yield* contentOf(from, stored.get(from)!.columns))
      }
      for (const table of ["things", "empty"]) {
        const from = `crm."${table}"`
        const { columns } = stored.get(from)!
        const rows: Array<ReadonlyArray<string | null>> = []
        yield* forEachRowOf([{ row: jsonOfRow(columns), from }], (_, row) => rows.push(row!))
        const expected = yield* contentOf(from, columns)
        assert.deepStrictEqual(contentOfTexts(columns, rows), expected)
        for (const size of [0, rows.length, 1000])
          assert.deepStrictEqual([...(yield* contentsOfEach([{ from, columns, size }])).values()], [expected])

        const names = columns.map((column) => column.name)
        const given = { name: table, from, columns, metadata: noMetadata, isEmpty: rows.length === 0 }
        const csv = join(folder, `${table}.csv`)
        yield* writeCsv(given, csv)
        // Earlier versions wrote all decimal places.
        const earlier = join(folder, `${table}-earlier.csv`)
        writeFileSync(earlier, headerOf(columns) + machineText(rows))
        for (const file of [csv, earlier])
          assert.deepStrictEqual(yield* contentOf(csvReading.from([file], names), columns, true), expected, file)

        mkdirSync(join(folder, table))
        const file = join(folder, format.fileOf(table))
        assert.strictEqual(yield* format.write(given, file), rows.length)
        const parquet = format.reading!.from([file], names)
        assert.deepStrictEqual(yield* columnsOf(`(FROM ${parquet})`), columns)
        assert.deepStrictEqual(yield* contentOf(parquet, columns), expected)
      }
    }).pipe(Effect.provide(warehouseOf(folder)))
  })

  it.live("is compared with its copies by DuckDB's hash, and a copy that differs is summed", () => {
    const folder = newFolder()
    return Effect.gen(function* () {
      yield* prepare(values)
      const { columns, rows: size } = (yield* storedTables).get('crm."things"')!
      const names = columns.map((column) => column.name)
      const warehouse = yield* Warehouse
      /** No table has it: who gets it was compared with the source alone. */
      const content = { rows: -1, sum: "of the source" }
      const found = Effect.fnUntraced(function* (from: string, text: boolean) {
        const source = { from: "crm.things", content }
        return [...(yield* contentsOfEach([{ from, columns, text, size: size + 1000, source }])).values()]
      })
      const fileOf = Effect.fnUntraced(function* (from: string, file: string) {
        yield* writeCsv({ name: "t", from, columns, metadata: noMetadata, isEmpty: false }, join(folder, file))
        return csvReading.from([join(folder, file)], names)
      })
      assert.deepStrictEqual(yield* found("(FROM crm.things)", false), [content])
      assert.deepStrictEqual(yield* found(yield* fileOf("crm.things", "same.csv"), true), [content])
      const changes = [
        ...columns.map(
          ({ name }) =>
            `UPDATE other SET "${name}" = NULL WHERE rowid = (SELECT max(rowid) FROM other WHERE "${name}" IS NOT NULL)`
        ),
        "DELETE FROM other WHERE rowid = 0",
        "INSERT INTO other FROM crm.things LIMIT 1",
        "UPDATE other SET t = 'one byte more' WHERE rowid = 1"
      ]
      for (const [at, change] of changes.entries()) {
        yield* warehouse.run(`CREATE OR REPLACE TEMP TABLE other AS FROM crm.things; ${change}`)
        const expected = yield* contentOf("other", columns)
        assert.deepStrictEqual(yield* found("other", false), [expected], change)
        assert.deepStrictEqual(yield* found(yield* fileOf("other", `${at}.csv`), true), [expected], change)
      }
    }).pipe(Effect.provide(warehouseOf(folder)))
  })
})
