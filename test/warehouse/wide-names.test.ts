/** Two custom fields of one location never share a column, and the names are the same whatever was read when. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Field, nameColumns } from "../../src/stores/warehouse/wide-names.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder } from "../support/sluice.ts"

const long = "contact.what_the_customer_said_on_the_phone_when_we_called_about_the"
/** Keys of one location, each with a value of its own. */
const keys = [
  ["contact.home_phone", "contact.homePhone", "contact.Home Phone"],
  ["contact.住所", "contact.会社", "contact.한국어"],
  ["contact.😀", "contact.❤️", "contact.___"],
  ["contact.Plan", "contact.plan", "contact.plan"],
  ["contact.prénom", "contact.pre\u0301nom", "contact.prenom"],
  [`${long}_first`, `${long}_second`],
  [`contact.${"住".repeat(40)}`, `contact.${"住".repeat(41)}`],
  ["contact.a_2", "contact.a", "contact.A"]
]

const inWarehouse = <A, E>(work: Effect.Effect<A, E, Warehouse>) =>
  work.pipe(Effect.provide(Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 128 })))

const catalogue = Effect.promise(async () => {
  const { resources, familyByTable } = await discover()
  const tables = ["contacts", "opportunities", "form_submissions", "custom_fields"]
  return { resources: resources.filter(({ table }) => tables.includes(table)), familyByTable }
})

describe("wide columns", () => {
  it.live.each(["contact", "opportunity"])(
    "of fields of one location show the values of their own field (%s)",
    (model) =>
      inWarehouse(
        Effect.gen(function* () {
          const warehouse = yield* Warehouse
          const all = yield* catalogue
          const table = { contact: "contacts", opportunity: "opportunities" }[model]!
          const fields = keys.flat().map((key, n) => [`f${n}`, key.replace("contact.", `${model}.`)] as const)
          yield* prepare(all)
          yield* warehouse.transaction([
            `INSERT INTO crm.${table} (location_id, id) VALUES ('L', 'both')`,
            ...fields.flatMap(([id, key]) => [
              `INSERT INTO crm.custom_fields (location_id, id, model, field_key, name, data_type) VALUES ('L', '${id}', '${model}', ${literal(key)}, '${id}', 'TEXT')`,
              `INSERT INTO crm.${table} (location_id, id) VALUES ('L', 'only ${id}')`,
              ...["both", `only ${id}`].map(
                (row) =>
                  `INSERT INTO crm.${model}_custom_values (location_id, ${model}_id, custom_field_id, value_text) VALUES ('L', '${row}', '${id}', 'value of ${id}')`
              )
            ])
          ])
          yield* refreshWide(all)
          const columns = new Map(
            (yield* warehouse.rows(`SELECT field, column_name FROM meta.wide_columns`)).map((row) => [
              String(row["field"]),
              String(row["column_name"])
            ])
          )
          assert.strictEqual(new Set(columns.values()).size, fields.length)
          for (const column of columns.values()) assert.isAtMost(Buffer.byteLength(column), 63)
          const rows = new Map((yield* warehouse.rows(`FROM crm.${table}_wide`)).map((row) => [row["id"], row]))
          for (const [id, column] of columns) {
            assert.strictEqual(rows.get("both")![column], `value of ${id}`)
            const only = Object.entries(rows.get(`only ${id}`)!).filter(
              ([name, value]) => name.startsWith("cf_") && value !== null
            )
            assert.deepStrictEqual(only, [[column, `value of ${id}`]])
          }
          assert.strictEqual(columns.get("f0"), "cf_home_phone")
          assert.strictEqual(columns.get("f1"), "cf_home_phone_f1")
          assert.strictEqual(columns.get("f3"), "cf_住所")
        })
      )
  )

  it.live("that an earlier version gave to two fields stay with the first; the second gets its own", () =>
    inWarehouse(
      Effect.gen(function* () {
        const warehouse = yield* Warehouse
        const all = yield* catalogue
        yield* prepare(all)
        yield* warehouse.transaction([
          `INSERT INTO crm.custom_fields (location_id, id, model, field_key, data_type) VALUES
             ('L', 'one', 'contact', 'contact.home_phone', 'TEXT'), ('L', 'two', 'contact', 'contact.homePhone', 'TEXT'),
             ('M', 'three', 'contact', 'contact.home_phone', 'TEXT')`,
          `INSERT INTO meta.wide_columns VALUES ('contacts_wide', 'L', 'one', 'cf_home_phone'),
             ('contacts_wide', 'L', 'two', 'cf_home_phone'), ('contacts_wide', 'M', 'three', 'cf_home_phone')`
        ])
        for (const _ of ["once", "again"]) {
          yield* refreshWide(all)
          assert.deepStrictEqual(
            yield* warehouse.rows("SELECT field, column_name FROM meta.wide_columns ORDER BY field"),
            [
              { field: "one", column_name: "cf_home_phone" },
              { field: "three", column_name: "cf_home_phone" },
              { field: "two", column_name: "cf_home_phone_two" }
            ]
          )
        }
      })
    )
  )

  it.live("of fields with the same id in two locations show the value of the row's location", () =>
    inWarehouse(
      Effect.gen(function* () {
        const warehouse = yield* Warehouse
        const all = yield* catalogue
        yield* prepare(all)
        yield* warehouse.transaction([
          `INSERT INTO crm.custom_fields (location_id, id, model, field_key, data_type) VALUES
             ('L', 'f', 'contact', 'contact.size', 'TEXT'), ('M', 'f', 'contact', 'contact.size', 'NUMERICAL')`,
          "INSERT INTO crm.contacts (location_id, id) VALUES ('L', 'a'), ('M', 'b')",
          `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value, value_text) VALUES
             ('L', 'a', 'f', '"5"', '5'), ('M', 'b', 'f', '6', '6')`,
          "INSERT INTO crm.form_submissions (location_id, id) VALUES ('L', 's'), ('M', 't')",
          `INSERT INTO crm.form_submission_answers (location_id, form_submission_id, field, value_text) VALUES
             ('L', 's', 'full_name', 'Ann'), ('M', 't', 'full_name', 'Bob')`
        ])
        yield* refreshWide(all)
        assert.deepStrictEqual(
          yield* warehouse.rows("SELECT id, cf_size, cf_size_f FROM crm.contacts_wide ORDER BY id"),
          [
            { id: "a", cf_size: "5", cf_size_f: null },
            { id: "b", cf_size: null, cf_size_f: "6.0000000" }
          ]
        )
        // Without a definition, the id is all that tells a field: it is the same field in both locations.
        assert.deepStrictEqual(
          yield* warehouse.rows("SELECT id, COLUMNS('answer_.*') FROM crm.form_submissions_wide ORDER BY id"),
          [
            { id: "s", answer_full_name: "Ann" },
            { id: "t", answer_full_name: "Bob" }
          ]
        )
      })
    )
  )
})

describe("names of columns, for random keys in five scripts", () => {
  const alphabets = ["abAB_ é1", "домДОМ ё", "住所会社ガ", "شركةهاتف", "한국어 전화", "😀❤️🏠-"]
  const random = randomFrom(6)
  const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(random() * values.length)]!
  const randomKey = () => {
    const letters = Array.from(pick(alphabets))
    const key = Array.from({ length: pick([1, 2, 2, 3, 40]) }, () => pick(letters)).join("")
    return `contact.${random() < 0.3 ? key.normalize("NFD") : key}`
  }
  const world = (): ReadonlyArray<Field> =>
    Array.from({ length: 120 }, (_, n) => ({
      location: pick(["one", "two", "three"]),
      field: `${pick(["Ab", "aB"])}${n}`,
      key: random() < 0.9 ? randomKey() : undefined,
      name: pick(["Size", "Größe"]),
      dataType: pick(["TEXT", "DATE"]),
      madeAt: n,
      known: undefined
    }))
  const fixed = new Set(["cf_a", "id"])
  const named = (fields: ReadonlyArray<Field>) => nameColumns(fields, "cf_", fixed)

  it.each(Array.from({ length: 12 }, (_, n) => n))("world %i", () => {
    const fields = world()
    const names = named(fields)
    const byColumn = Map.groupBy(fields, (field) => names.get(field)!)
    for (const [column, sharing] of byColumn) {
      assert.match(column, /^cf_[\p{L}\p{N}][\p{L}\p{M}\p{N}_]*$/u)
      assert.isAtMost(Buffer.byteLength(column), 63)
      assert.strictEqual(column, column.normalize("NFC").toLowerCase())
      assert.isFalse(fixed.has(column))
      assert.strictEqual(new Set(sharing.map(({ location }) => location)).size, sharing.length, column)
      const same = sharing.map(({ key, name, dataType, field }) =>
        JSON.stringify(key === undefined ? field : [key, name, dataType])
      )
      assert.strictEqual(new Set(same).size, 1, column)
    }
    // Whatever the order in which the service lists them.
    const shuffled = named(fields.toSorted(() => random() - 0.5))
    assert.deepStrictEqual(
      fields.map((field) => shuffled.get(field)),
      fields.map((field) => names.get(field))
    )
    // Those that are there keep their column when others come, one by one; a new warehouse gives the same names.
    let known: ReadonlyArray<Field> = []
    for (const field of fields) {
      const all = [...known, field]
      const now = named(all)
      for (const before of known) assert.strictEqual(now.get(before), before.known)
      known = all.map((one) => ({ ...one, known: now.get(one)! }))
    }
    assert.deepStrictEqual(
      known.map((field) => field.known),
      fields.map((field) => names.get(field))
    )
  })
})
