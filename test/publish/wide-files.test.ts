/** The files of wide tables have exactly the cells of the wide view. */
import { assert, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import { withViews } from "../../src/stages/publish/changes.ts"
import { changedOf, rowsOfTable } from "../../src/stages/publish/put.ts"
import { columnsOf, selectText, storedTables } from "../../src/stores/warehouse/columns.ts"
import { storedOrder } from "../../src/stores/warehouse/parts.ts"
import { updateCsv, writeCsv } from "../../src/stores/formats/csv/write.ts"
import { format } from "../../src/stores/formats/parquet/format.ts"
import { changeVersions, changedKeys, recordChangedKeys } from "../../src/stores/warehouse/meta/content-versions.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { randomFrom } from "../support/random.ts"
import { stringFromBytes } from "./exact-text.ts"
import { newOutput } from "./output.ts"
import { nastyTexts, warehouseAt } from "./things.ts"

const dataTypes = [
  null,
  "TEXT",
  "NUMERICAL",
  "MONETORY",
  "DATE",
  "DATE_TIME",
  "CHECKBOX",
  "MULTIPLE_OPTIONS",
  "FILE_UPLOAD",
  "TEXTBOX_LIST"
]
const texts = [
  ...nastyTexts,
  "\uFEFF\uFEFFtwo marks",
  "12.5",
  "-0.00000005",
  "99999999999999999999999999999999999",
  "1e400",
  "2026-02-28",
  "02/29/2024",
  "infinity",
  "-infinity",
  "9999-12-31",
  "1766534400123",
  "2026-05-04T10:00:00+02:00",
  "2026-05-04 10:00:00.123456",
  "0001-01-01"
]
const jsons = [null, "null", "[]", '["a","b"]', '["a",null,""]', '[1,{"x":"\\"y\\""}]', '"text"', '{"k":[1]}', "12.50"]

/** Creates the views, writes both files, and compares every cell with the view. */
const compare = (fill: (warehouse: Warehouse["Service"]) => Effect.Effect<void, unknown>) => {
  const output = newOutput()
  return Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const { resources, familyByTable } = yield* Effect.promise(() => discover())
    const catalogue = {
      resources: resources.filter(({ table }) => ["contacts", "custom_fields"].includes(table)),
      familyByTable
    }
    yield* prepare(catalogue)
    yield* fill(warehouse)
    const tables = withViews(publishedTables(catalogue), yield* refreshWide(catalogue))
    const table = tables.find(({ name }) => name === "contacts_wide")!
    const wide = rowsOfTable(table, yield* storedTables)
    const [counted] = yield* warehouse.rows("SELECT count(*) AS n FROM crm.contacts")
    const rows = Number(counted!["n"])
    mkdirSync(join(output, "contacts_wide"))
    const parquet = join(output, format.fileOf("contacts_wide"))
    assert.strictEqual(yield* storedOrder(format.write(wide, parquet)), rows)

    // As one text, because DuckDB needs much memory to compare hundreds of columns.
    const view = "SELECT to_json(t)::VARCHAR AS row FROM crm.contacts_wide AS t"
    const file = `SELECT to_json(t)::VARCHAR AS row FROM read_parquet('${parquet}') AS t`
    const columns = yield* columnsOf("crm.contacts_wide")
    assert.deepStrictEqual(yield* columnsOf(`(FROM read_parquet('${parquet}'))`), columns)
    const [metadata] = yield* warehouse.rows(
      `SELECT array_to_string(json_keys(decode(value), '$.columns'), ' ') AS columns FROM parquet_kv_metadata('${parquet}') WHERE decode(key) = 'sluice'`
    )
    assert.strictEqual(metadata?.["columns"], columns.map((column) => column.name).join(" "))
    for (const difference of [`(${view}) EXCEPT ALL (${file})`, `(${file}) EXCEPT ALL (${view})`])
      assert.deepStrictEqual(yield* warehouse.rows(`SELECT * FROM (${difference}) LIMIT 1`), [])

    // The bytes are those that DuckDB writes for the view, in the same order of rows.
    yield* storedOrder(writeCsv(wide, join(output, "contacts_wide.csv")))
    const position = "(SELECT row_number() OVER () AS position, location_id, id FROM crm.contacts)"
    const expected = join(output, "expected.csv")
    yield* storedOrder(
      warehouse.run(
        `COPY (SELECT COLUMNS(* EXCLUDE position) FROM (${selectText("crm.contacts_wide", columns)}) JOIN ${position} USING (location_id, id) ORDER BY position)
         TO '${expected}' (FORMAT csv, HEADER true, NEW_LINE '\\r\\n')`
      )
    )
    const csv = readFileSync(join(output, "contacts_wide.csv"), "utf8")
    assert.isTrue(csv === readFileSync(expected, "utf8"), "the CSV file differs")

    // An update of the file has the same lines as a new one, those of changed records last.
    mkdirSync(join(output, "updated"))
    const isSome = "substr(id, -1) IN ('3', '7')"
    yield* warehouse.transaction([
      "UPDATE meta.content_versions SET base = version",
      ...changeVersions(["contacts"]),
      recordChangedKeys("contacts", `(SELECT location_id, id AS key FROM crm.contacts WHERE ${isSome})`),
      `DELETE FROM crm.contact_custom_values WHERE contact_id IN (SELECT id FROM crm.contacts WHERE ${isSome}) AND hash(contact_id, custom_field_id) % 2 = 0`,
      `UPDATE crm.contacts SET first_name = 'changed' WHERE ${isSome}`
    ])
    const changed = changedOf(wide, table)
    const previous = { path: join(output, "contacts_wide.csv"), rows, keys: changedKeys("contacts"), changed }
    const target = join(output, "updated/contacts_wide.csv")
    const updated = yield* storedOrder(updateCsv(wide, { table, ...previous }, target))
    mkdirSync(join(output, "anew"))
    yield* storedOrder(writeCsv(wide, join(output, "anew/contacts_wide.csv")))
    const linesIn = (name: string) =>
      parse(readFileSync(join(output, name, "contacts_wide.csv")), { record_delimiter: "\r\n" }).map((line) =>
        JSON.stringify(line)
      )
    assert.strictEqual(updated, rows)
    assert.deepStrictEqual(linesIn("updated").sort(), linesIn("anew").sort())
    return { parquet, csv, rows, columns }
  }).pipe(Effect.provide(warehouseAt(output)))
}

const contact = (location: string, id: string) =>
  `INSERT INTO crm.contacts (location_id, id) VALUES (${literal(location)}, ${literal(id)})`

describe("the files of a wide table", () => {
  it.effect("have the cells of the view for values of every type and difficult texts", () =>
    Effect.gen(function* () {
      const random = randomFrom(11)
      const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(random() * values.length)]!
      const values = Array.from({ length: 900 }, (_, n) => {
        const field = pick([`f${n % 10}`, `g${n % 10}`, "unknown"])
        const json = pick(jsons)
        const cells = [pick(["one", "two"]), `c${Math.floor(random() * 70)}`, field, pick(texts)].map(literal)
        return `(${n}, ${cells.join(", ")}, ${literal(json)}::JSON)`
      })
      const { parquet, csv, rows } = yield* compare((warehouse) =>
        warehouse.transaction([
          ...dataTypes.flatMap((type, n) => [
            `INSERT INTO crm.custom_fields (location_id, id, model, data_type, field_key, position) VALUES ('one', 'f${n}', 'contact', ${literal(type)}, 'contact.field_${n}', ${n})`,
            // A field of another location with the same key and type shares the column; with another type it does not.
            `INSERT INTO crm.custom_fields (location_id, id, model, data_type, field_key, position) VALUES ('two', 'g${n}', 'contact', ${literal(n % 3 === 0 ? "TEXT" : type)}, 'contact.field_${n}', ${n})`
          ]),
          ...Array.from({ length: 120 }, (_, n) => contact(n % 2 === 0 ? "one" : "two", `c${n >> 1}`)),
          `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value_text, value)
           SELECT l, c, f, t, j FROM (VALUES ${values.join(", ")}) AS v (place, l, c, f, t, j)
           QUALIFY row_number() OVER (PARTITION BY l, c, f ORDER BY place) = 1 ORDER BY place`
        ])
      )
      // Readers that share no code with DuckDB.
      const read = yield* Effect.promise(async () =>
        parquetReadObjects({ file: await asyncBufferFromFile(parquet), compressors, parsers: { stringFromBytes } })
      )
      assert.strictEqual(read.length, rows)
      const lines = parse(csv, { columns: true, bom: false, record_delimiter: "\r\n" }) as ReadonlyArray<
        Record<string, string>
      >
      assert.deepStrictEqual(
        read.map((row) => [row["id"], String(row["cf_field_1"] ?? "")]),
        lines.map((line) => [line["id"], line["cf_field_1"]])
      )
      assert.isAbove(read.filter((row) => Array.isArray(row["cf_field_6"])).length, 5)
    })
  )

  for (const [what, contacts, fields, each] of [
    ["no rows", 0, 3, 0],
    ["no fields", 5, 0, 0],
    ["fields without a value", 5, 4, 0],
    ["one row", 1, 1, 1],
    ["more rows than a row group, and columns without a value in it", 6500, 8, 0.01],
    ["700 fields", 1000, 700, 2],
    ["more fields than columns", 20, 1100, 3]
  ] as const)
    it.effect(
      `have the cells of the view with ${what}`,
      () =>
        compare((warehouse) =>
          warehouse.transaction([
            `INSERT INTO crm.contacts (location_id, id) SELECT 'one', 'c' || i FROM range(${contacts}) AS r(i)`,
            `INSERT INTO crm.custom_fields (location_id, id, model, data_type, field_key, position)
           SELECT 'one', 'f' || i, 'contact', if(i % 4 = 0, 'NUMERICAL', 'TEXT'), 'contact.field_' || i, i FROM range(${fields}) AS r(i)`,
            `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value_text)
           SELECT DISTINCT 'one', 'c' || (hash(i) % greatest(${contacts}, 1)), 'f' || (hash(i + 7) % greatest(${fields} - 1, 1)), (i * 3)::VARCHAR
           FROM range(${Math.ceil(contacts * each)}) AS r(i) QUALIFY row_number() OVER (PARTITION BY 2, 3) = 1`
          ])
        ),
      { tags: ["slow"] }
    )
})
