/** A wide table is read as any other: its first rows, and its page, gather nothing from the custom values. */
import * as Struct from "effect/Struct"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { Database } from "../../src/features/explore/database.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { newOutput } from "../support/fixtures.ts"

const { countOf, pageOf } = await import(new URL("../../src/features/explore/page/sql.js", import.meta.url).href)

const fields = 20
const signal = new AbortController().signal
const view = { filters: [], sort: undefined, page: 0, showsDeleted: false }

/** A warehouse with contacts and values of their fields, opened with little memory. */
const openWide = async (rows: number, values: number) => {
  const output = await newOutput()
  const path = join(output, "warehouse.duckdb")
  const fill = Effect.gen(function* () {
    const warehouse = yield* Warehouse
    yield* warehouse.run(
      `INSERT INTO crm.custom_fields (location_id, id, model, field_key, data_type)
       SELECT 'here', 'field' || i, 'contact', 'contact.f' || i, 'NUMERICAL' FROM range(${fields}) AS r (i)`
    )
    yield* warehouse.run(
      `INSERT INTO crm.contacts (location_id, id, first_name, last_name, email)
       SELECT 'here', printf('contact-%08d', i), md5(i::VARCHAR), md5((i + 1)::VARCHAR), md5(i::VARCHAR) || '@example.com' FROM range(${rows}) AS r (i)`
    )
    yield* warehouse.run(
      `INSERT INTO crm.contact_custom_values (location_id, contact_id, custom_field_id, value_text)
       SELECT 'here', printf('contact-%08d', i % ${rows}), 'field' || ((i + i // ${rows}) % ${fields}), i::VARCHAR FROM range(${values}) AS r (i)`
    )
    const [wide] = yield* refreshWide(yield* Effect.promise(() => discover()))
    yield* warehouse.run("ALTER VIEW crm.contacts_wide RENAME TO gathered")
    for (const statement of wide!.published("crm")) yield* warehouse.run(statement)
    yield* warehouse.run("INSERT INTO crm.contacts_wide FROM crm.gathered")
  })
  await Effect.runPromise(fill.pipe(Effect.provide(Warehouse.layer(path, { access: "write", memoryMb: 512 }))))
  const database = new Database({ path, memoryMb: 64 })
  const table = (await database.catalog(signal)).find(
    ({ schema, name }) => schema === "crm" && name === "contacts_wide"
  )!
  const shown = async (more: object): Promise<ReadonlyArray<{ readonly id: unknown; readonly size: unknown }>> => {
    const { columns, rows } = await database.query(pageOf(table, { ...view, ...more }, 100), signal)
    const at = (name: string) => columns.findIndex((column) => column.name === name)
    return rows.map((row) => ({ id: row[at("id")], size: row[at("cf_f0")] }))
  }
  const close = () => {
    database.close()
    rmSync(output, { recursive: true })
  }
  return { database, table, shown, close }
}

it(
  "the page of a large wide table needs a fraction of the memory of the view of the warehouse, which reads every value",
  { tags: ["slow"] },
  async () => {
    const rows = 170_000
    const { database, table, shown, close } = await openWide(rows, 236_000)
    const gathered = await database.query("FROM crm.gathered LIMIT 100", signal).catch((error: Error) => error)
    assert.match(String(gathered), /takes more than \d+ MB of memory/)
    assert.lengthOf((await database.query("FROM crm.contacts_wide LIMIT 100", signal)).rows, 100)
    const first = await shown({})
    assert.lengthOf(first, 100)
    assert.deepStrictEqual(first[0], { id: "contact-00000000", size: "0.0000000" })
    const { rows: counted } = await database.query(countOf(table, view), signal)
    assert.deepStrictEqual(counted, [[String(rows)]])
    close()
  }
)

describe("the page of a wide table", () => {
  const rows = 2_000
  let wide: Awaited<ReturnType<typeof openWide>>
  beforeAll(async () => {
    wide = await openWide(rows, 3_000)
  })
  afterAll(() => wide.close())

  it("is listed as the other tables, with their rows, before the columns are known, which are ten times as much", async () => {
    const { database } = wide
    const [listed, whole] = [await database.tables(signal), await database.catalog(signal)]
    const shown = whole.map((table) => Struct.omit(table, ["columns", "wide"]))
    assert.deepStrictEqual(listed, shown)
    assert.include(
      listed.map(({ name, rows }) => `${name} ${rows}`),
      `contacts_wide ${rows}`
    )
    assert.isBelow(JSON.stringify(listed).length * 10, JSON.stringify(whole).length)
  })

  it("shows the rows that an order, a page and a filter by the columns of the table select", async () => {
    const { database, table, shown } = wide
    const last = await shown({ sort: { column: "id", descending: true }, page: 1 })
    assert.deepStrictEqual([last[0]!.id, last.length], [`contact-0000${rows - 101}`, 100])
    const filters = [{ column: "id", operator: "equals", value: "contact-00000020" }]
    assert.deepStrictEqual(await shown({ filters }), [{ id: "contact-00000020", size: "20.0000000" }])
    assert.deepStrictEqual((await database.query(countOf(table, { ...view, filters }), signal)).rows, [["1"]])
  })

  it("uses the whole table for an order by a custom field", () =>
    assert.include(pageOf(wide.table, { ...view, sort: { column: "cf_f0" } }, 100), "FROM crm.contacts_wide\n"))
})
