/** Wide columns and main columns take the same values: one module decides, and DuckDB casts only what it has decided. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { Adjusted, Rounded, converters, readable } from "../../src/catalog/convert.ts"
import { discover } from "../../src/catalog/discover.ts"
import { parseExact } from "../../src/catalog/json.ts"
import { kinds } from "../../src/catalog/kinds.ts"
import { wideLosses } from "../../src/stores/warehouse/meta/wide-readings.ts"
import { maskedMetaTables } from "../../src/stages/publish/masking/meta-tables.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { insertStatements, literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const random = randomFrom(7)
const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(random() * values.length)]!
const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join("")
const two = (below: number, from = 0) =>
  String(from + Math.floor(random() * (below - from))).padStart(pick([2, 2, 2, 1]), "0")

/** JSON of what a service may send for a number, a date or a time. */
const someJson = (): string => {
  const sign = pick(["-", "-", "-", "/", ".", "_", ""])
  const year = pick(["2026", "2024", "1970", "0001", "0010", "0999", "9999", "0000", "1900"])
  const date = pick([
    [year, two(14), two(33)],
    [two(14), two(33), year]
  ]).join(sign)
  const time = `${pick(["T", " ", "t"])}${two(25)}${pick([":", ""])}${two(61)}${pick(["", ":00", ":60", ":59.1234567891", ":07,5", "30"])}`
  const zone = pick(["", "Z", "z", "+00", "+14:00", "-1200", "-05:30", " UTC", " PST"])
  const number = `${pick(["", "-", "+"])}${digits(pick([1, 2, 9, 10, 11, 12, 13, 14, 16, 31, 32]))}${pick(["", "", ".5", `.${digits(7)}`, `.${digits(9)}`, "e5", "e-3", ",5", "."])}`
  const text = pick([
    date,
    `${date}${time}${zone}`,
    `${date}${time}${zone}`,
    number,
    "n/a",
    "true",
    "infinity",
    "NaN",
    "epoch",
    "today",
    `${date} or so`
  ])
  const blank = pick(["", "", "", "", " ", "\n", "\u00a0"])
  const plain = `${pick(["", "-"])}${pick(["0", String(1 + Math.floor(random() * 9)) + digits(pick([0, 4, 8, 9, 10, 12, 14, 18, 30]))])}`
  return pick([
    JSON.stringify(`${blank}${text}${blank}`),
    JSON.stringify(text),
    `${plain}${pick(["", "", `.${digits(2)}`, `.${digits(12)}`, "e3", "e-9", ".50"])}`,
    pick([
      "0",
      "-86400000",
      "2678400000",
      "7776000000",
      "1767261600",
      "900000",
      "true",
      "[5]",
      `["${date}"]`,
      '{"a":1}',
      '""',
      "5"
    ])
  ])
}

const fields = [
  ["day", "DATE", "date"],
  ["moment", "DATE_TIME", "instant"],
  ["size", "NUMERICAL", "decimal"]
] as const

it.live("random texts and numbers are equal in both, or NULL in both and counted", () =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    const { resources, familyByTable } = yield* Effect.promise(() => discover())
    const tables = ["contacts", "custom_fields"]
    const catalogue = { resources: resources.filter(({ table }) => tables.includes(table)), familyByTable }
    yield* prepare(catalogue)
    const sent = Array.from({ length: 4000 }, someJson)
    const counts = Object.fromEntries(fields.map(([field]) => [field, { read: 0, rounded: 0, unfit: 0 }]))
    const expected = sent.map((json) => {
      const value = parseExact(json)
      return fields.map(([field, , kind]) => {
        const converted = converters[kind](value)
        const result = converted instanceof Rounded || converted instanceof Adjusted ? converted.value : converted
        const count = counts[field]!
        if (converted instanceof Rounded) count.rounded++
        if (typeof result === "string") count.read++
        else if (value !== "") count.unfit++
        return typeof result === "string" ? result : null
      })
    })
    yield* warehouse.transaction([
      "CREATE TABLE main (id VARCHAR, day VARCHAR, moment VARCHAR, size VARCHAR)",
      ...insertStatements(
        "main",
        expected.map((row, n) => `(${[`c${n}`, ...row].map(literal).join(", ")})`)
      ),
      ...fields.map(
        ([field, type]) =>
          `INSERT INTO crm.custom_fields (location_id, id, model, field_key, data_type) VALUES ('L', '${field}', 'contact', 'contact.${field}', '${type}')`
      ),
      `INSERT INTO crm.contacts (location_id, id) SELECT 'L', id FROM main`,
      "CREATE TABLE sent (id VARCHAR, value VARCHAR, value_text VARCHAR)",
      ...insertStatements(
        "sent",
        sent.map((json, n) => `(${[`c${n}`, json, readable(parseExact(json))].map(literal).join(", ")})`)
      ),
      ...fields.map(
        ([field]) =>
          `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value, value_text)
           SELECT 'L', id, '${field}', value::JSON, value_text FROM sent`
      )
    ])
    yield* refreshWide(catalogue)
    const different = yield* warehouse.rows(
      `SELECT sent.value AS sent, ${fields.map(([field, , kind]) => `main.${field}::${kinds[kind].sql} AS main_${field}, wide.cf_${field}`).join(", ")}
       FROM main JOIN crm.contacts_wide AS wide USING (id) JOIN sent USING (id)
       WHERE ${fields.map(([field]) => `main_${field} IS DISTINCT FROM wide.cf_${field}`).join(" OR ")} LIMIT 5`
    )
    assert.deepStrictEqual(different, [])
    const [years] = yield* warehouse.rows(
      "SELECT min(year(cf_moment)) >= 1 AND max(year(cf_moment)) <= 9999 AND min(year(cf_day)) >= 1 AS are_right FROM crm.contacts_wide"
    )
    assert.isTrue(years!["are_right"])
    const losses = yield* wideLosses()
    for (const [field] of fields) {
      const { read, rounded, unfit } = counts[field]!
      assert.isAbove(read, 400, field)
      assert.isAbove(unfit, 400, field)
      assert.deepStrictEqual(
        losses.find(({ column }) => column === `cf_${field}`),
        { table: "contacts_wide", column: `cf_${field}`, rounded, unfit }
      )
    }
    // A masked release has the values of fields only that are not personal.
    const [, masked] = maskedMetaTables().find(([table]) => table === "wide_readings")!
    const fieldsIn = `SELECT DISTINCT field FROM (${masked})`
    assert.deepStrictEqual(yield* warehouse.rows(fieldsIn), [])
    yield* refreshWide(catalogue, { "contact.size": "none" })
    assert.deepStrictEqual(yield* warehouse.rows(fieldsIn), [{ field: "size" }])
  }).pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 256 })))
)
