/** Custom values through the whole program: each field in a column of its own, and each value as a main column shows it. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { openAccount, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Life, begin } from "../support/life.ts"

const slow = { tags: ["slow"] }
const only = "--only contacts,opportunities,custom_fields,locations"

/** Gives contacts these values of a new field for dates, as their birthdays too; returns the contacts, in the same order. */
const sendDates = async ({ edit, service }: Life, values: ReadonlyArray<unknown>) => {
  const [like] = await service.records("customFields")
  const field = { model: "contact", dataType: "DATE", name: "Since", fieldKey: "contact.since", picklistOptions: [] }
  await service.post("plant", { collection: "customFields", like: like!["id"], id: "since", fields: field })
  const ids = (await service.records("contacts")).slice(0, values.length).map(({ id }) => String(id))
  for (const [n, value] of values.entries())
    await edit("contacts", ids[n], { dateOfBirth: value, customFields: [{ id: "since", value }] })
  return ids
}
const shown = "SELECT id, date_of_birth::VARCHAR AS main, cf_since::VARCHAR AS wide FROM contacts_wide"

describe("custom values", () => {
  it("that are dates are such in their column, and what is none is NULL and counted", async () => {
    const life = await begin(openAlone("locations,custom_fields,contacts", "--contacts", "3"))
    const [one, other] = await sendDates(life, [7_776_000_000, "soon"])
    await life.sync()
    const rows = await life.ask(`${shown.replace("FROM ", "FROM crm.")} WHERE id IN ('${one}', '${other}')`)
    assert.sameDeepMembers(
      [...rows],
      [
        { id: one, main: "1970-04-01", wide: "1970-04-01" },
        { id: other, main: null, wide: null }
      ]
    )
    const losses = await life.ask("SELECT column_name, unfit FROM meta.wide_losses")
    assert.deepStrictEqual(losses, [{ column_name: "cf_since", unfit: "1" }])
  })

  it("become dates where a birthday does, in the release too, and what is no date is said", slow, async () => {
    const days: ReadonlyArray<readonly [sent: unknown, day: string | null]> = [
      // test/warehouse/wide-readings.test.ts draws thousands of values.
      [7_776_000_000, "1970-04-01"],
      [1_767_261_600, "2026-01-01"],
      [5, null],
      ["04/01/1970", "1970-04-01"],
      ["1970-04-01T23:00:00-05", "1970-04-01"],
      ["1970-04-31", null],
      ["soon", null]
    ]
    const life = await begin(openAccount("--contacts", "60"))
    const ids = await sendDates(
      life,
      days.map(([sent]) => sent)
    )
    const { stderr } = await life.sync(only, 0, { SLUICE_FORMATS: "duckdb,csv" })
    const release = join(life.account.output, "published/crm.duckdb")
    const found = new Map((await query(release, shown)).map((row) => [String(row["id"]), row]))
    for (const [n, [sent, day]] of days.entries())
      assert.deepStrictEqual(found.get(ids[n]!), { id: ids[n], main: day, wide: day }, String(sent))
    const unfit = days.filter(([, day]) => day === null).length
    const message = `${unfit} custom values do not fit the type of the field, and the cell is empty: contacts_wide.cf_since (${unfit}).`
    assert.include(stderr, message)
    assert.include((await life.run(["status"])).stderr, message)
    const { data } = JSON.parse((await life.run(["status", "--json"])).stdout)
    assert.deepStrictEqual(data.wideLosses, [{ table: "contacts_wide", column: "cf_since", rounded: 0, unfit }])
    // A value is read anew when it is corrected.
    await life.edit("contacts", ids.at(-1), { customFields: [{ id: "since", value: "5/6/1970" }] })
    assert.include((await life.sync(only)).stderr, `(${unfit - 1})`)
  })

  it("have a column for each field, typed and named by it, and a renamed field keeps its column", slow, async () => {
    const life = await begin(openAccount("--contacts", "60"))
    await life.sync(`${only},forms`)
    const columnsOf = async () => {
      const found = await life.ask(
        `SELECT column_name AS name, data_type AS type FROM duckdb_columns() WHERE table_name = 'contacts_wide'
         AND column_name LIKE 'cf_%' ORDER BY column_name`
      )
      return new Map(found.map(({ name, type }) => [name, type]))
    }
    const before = await columnsOf()
    for (const [column, type] of [
      ["cf_lifetime_value", "DECIMAL(38,7)"],
      ["cf_last_service", "DATE"],
      ["cf_interested_in", "VARCHAR[]"],
      ["cf_home_type", "VARCHAR"]
    ])
      assert.strictEqual(before.get(column!), type, column)
    for (const field of await life.ask("FROM crm.custom_fields WHERE model = 'contact'")) {
      const column = `cf_${String(field["field_key"]).replace("contact.", "")}`
      const [row] = await life.ask(
        `SELECT (SELECT count(*) FROM crm.contact_custom_values WHERE custom_field_id = '${String(field["id"])}') AS long,
         (SELECT count("${column}") FROM crm.contacts_wide) AS wide`
      )
      assert.strictEqual(row!["wide"], row!["long"], `${column} has as many values as the field in the long table`)
    }
    const [rows] = await life.ask(
      `SELECT (SELECT count(*) FROM crm.contacts) = (SELECT count(*) FROM crm.contacts_wide) AS same, (SELECT count(*) > 2
         FROM duckdb_columns() WHERE table_name = 'form_submissions_wide' AND column_name LIKE 'answer_%') AS answers`
    )
    assert.deepStrictEqual(rows, { same: true, answers: true })

    const [field] = await life.ids("SELECT id FROM crm.custom_fields WHERE field_key = 'contact.home_type'")
    await life.edit("customFields", field, { name: "Kind of house" })
    await life.sync("--only custom_fields", 0, { SLUICE_FORMATS: "duckdb" })
    assert.deepStrictEqual(await columnsOf(), before)
    const [column] = await query(
      join(life.account.output, "published/crm.duckdb"),
      "SELECT comment FROM duckdb_columns() WHERE table_name = 'contacts_wide' AND column_name = 'cf_home_type'"
    )
    assert.match(String(column!["comment"]), /^Kind of house/, "the comment follows the new name")
  })

  it("of fields with difficult keys have a column each, in a rebuild and in a new warehouse too", slow, async () => {
    const life = await begin(openAccount("--contacts", "120", "--world", "nasty"))
    assert.oneOf((await life.run(["sync", ...only.split(" ")])).code, [0, 3])
    const columns = () => life.ask("SELECT view_name, field, column_name FROM meta.wide_columns ORDER BY ALL")
    const named = await columns()
    const fields = await life.service.records("customFields")
    for (const model of ["contact", "opportunity"]) {
      const ids = fields.filter((field) => field["model"] === model).map(({ id }) => id)
      const own = named.filter(({ field }) => ids.includes(String(field)))
      assert.strictEqual(own.length, ids.length)
      assert.strictEqual(new Set(own.map(({ column_name }) => column_name)).size, ids.length)
    }
    const plain = fields.filter(({ dataType }) => ["TEXT", "DATE_TIME", "FLOAT"].includes(String(dataType)))
    for (const { view_name: view, field, column_name: column } of named) {
      if (!plain.some(({ id }) => String(id) === field)) continue
      const long = view === "contacts_wide" ? "contact" : "opportunity"
      const [row] = await life.ask(
        `SELECT (SELECT count(*) FROM crm.${long}_custom_values WHERE custom_field_id = '${String(field)}' AND value_text <> '')
           - coalesce((SELECT unfit FROM meta.wide_losses AS l WHERE l.view_name = '${String(view)}' AND l.column_name = '${String(column)}'), 0) AS long,
           (SELECT count(*) FROM (SELECT "${String(column)}"::VARCHAR AS cell FROM crm.${String(view)}) WHERE cell <> '') AS wide`
      )
      assert.strictEqual(row!["wide"], row!["long"], String(column))
    }
    for (const command of [["rebuild"], ["verify", "--all"]]) {
      const ran = await life.run(command)
      assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
    }
    assert.deepStrictEqual(await columns(), named)
  })
})
