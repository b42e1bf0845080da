/** Custom values through the whole program: each field in a column of its own, and each value as a main column shows it. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { discard, openAccount, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

const tables = ["--only", "contacts,opportunities,custom_fields,locations"]

describe("custom values", { tags: ["slow"] }, () => {
  it("become dates where a birthday does, and what is no date is NULL, counted and said", async () => {
    const days: ReadonlyArray<readonly [sent: unknown, day: string | null]> = [
      [7_776_000_000, "1970-04-01"],
      [0, "1970-01-01"],
      [-86_400_000, "1969-12-31"],
      [2_678_400_000, "1970-02-01"],
      [1_767_261_600_000, "2026-01-01"],
      [1_767_261_600, "2026-01-01"],
      [5, null],
      [20_260_101, null],
      ["7776000000", null],
      ["1767261600000", "2026-01-01"],
      ["20260101", "2026-01-01"],
      ["1970-04-01", "1970-04-01"],
      ["04/01/1970", "1970-04-01"],
      ["1970-04-01T23:00:00-05", "1970-04-01"],
      ["1970-04-31", null],
      ["2026-01-01T24:00:00Z", "2026-01-02"],
      ["0001-01-01T00:00:00+14:00", null],
      ["9999-12-31T23:59:59-12:00", null],
      ["9999-12-31", "9999-12-31"],
      ["soon", null]
    ]
    const account = await openAccount("--contacts", "60", "--limits", "off")
    try {
      const { service } = account
      const [like] = await service.records("customFields")
      const field = {
        model: "contact",
        dataType: "DATE",
        name: "Since",
        fieldKey: "contact.since",
        picklistOptions: []
      }
      await service.post("plant", { collection: "customFields", like: like!["id"], id: "since", fields: field })
      const ids = (await service.records("contacts")).slice(0, days.length).map(({ id }) => id)
      for (const [n, [value]] of days.entries()) {
        const fields = { dateOfBirth: value, customFields: [{ id: "since", value }] }
        await service.post("edit", { collection: "contacts", id: ids[n], fields })
      }
      const environment = { ...account.environment, SLUICE_FORMATS: "duckdb,csv" }
      const ran = await sluice(["sync", ...tables], environment)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const release = join(account.output, "published/crm.duckdb")
      const rows = await query(
        release,
        `SELECT id, date_of_birth::VARCHAR AS main, cf_since::VARCHAR AS wide FROM contacts_wide WHERE id IN (${ids.map((id) => `'${String(id)}'`).join()})`
      )
      const found = new Map(rows.map((row) => [row["id"], row]))
      assert.deepStrictEqual(
        ids.map((id) => found.get(String(id))),
        days.map(([, day], n) => ({ id: ids[n], main: day, wide: day }))
      )
      const unfit = days.filter(([, day]) => day === null).length
      assert.deepStrictEqual(
        await query(release, "SELECT column_name, unfit FROM meta.wide_losses WHERE column_name = 'cf_since'"),
        [{ column_name: "cf_since", unfit: String(unfit) }]
      )
      const message = `${unfit} custom values do not fit the type of the field, and the cell is empty: contacts_wide.cf_since (${unfit}).`
      assert.include(ran.stderr, message)
      assert.include((await sluice(["status"], account.environment)).stderr, message)
      const { data } = JSON.parse((await sluice(["status", "--json"], account.environment)).stdout)
      assert.deepStrictEqual(data.wideLosses, [{ table: "contacts_wide", column: "cf_since", rounded: 0, unfit }])
      // A value is read anew when it is corrected.
      await service.post("edit", {
        collection: "contacts",
        id: ids[19],
        fields: { customFields: [{ id: "since", value: "5/6/1970" }] }
      })
      assert.include((await account.sync(...tables)).stderr, `(${unfit - 1})`)
    } finally {
      account.service.stop()
    }
  })

  it("of fields with difficult keys have a column each, in a rebuild and in a new warehouse too", async () => {
    const account = await openAccount("--contacts", "120", "--world", "nasty", "--limits", "off")
    try {
      const first = await account.sync(...tables)
      assert.oneOf(first.code, [0, 3], first.stderr)
      const columns = () =>
        query(account.warehouse, "SELECT view_name, field, column_name FROM meta.wide_columns ORDER BY ALL")
      const named = await columns()
      const fields = await account.service.records("customFields")
      const types = ["TEXT", "DATE_TIME", "FLOAT"]
      const plain = new Set(
        fields.flatMap(({ dataType, id }) => (types.includes(String(dataType)) ? [String(id)] : []))
      )
      for (const model of ["contact", "opportunity"]) {
        const ids = fields.filter((field) => field["model"] === model).map(({ id }) => id)
        const own = named.filter(({ field }) => ids.includes(String(field)))
        assert.strictEqual(own.length, ids.length)
        assert.strictEqual(new Set(own.map(({ column_name }) => column_name)).size, ids.length)
      }
      for (const { view_name, field, column_name } of named.filter(({ field }) => plain.has(String(field)))) {
        const long = view_name === "contacts_wide" ? "contact" : "opportunity"
        const [row] = await query(
          account.warehouse,
          `SELECT (SELECT count(*) FROM crm.${long}_custom_values WHERE custom_field_id = '${String(field)}' AND value_text <> '')
             - coalesce((SELECT unfit FROM meta.wide_losses AS l WHERE l.view_name = '${String(view_name)}' AND l.column_name = '${String(column_name)}'), 0) AS long,
             (SELECT count(*) FROM (SELECT "${String(column_name)}"::VARCHAR AS cell FROM crm.${String(view_name)}) WHERE cell <> '') AS wide`
        )
        assert.strictEqual(row!["wide"], row!["long"], String(column_name))
      }
      for (const format of [["rebuild"], ["verify", "--all"]]) {
        const ran = await sluice(format, account.environment)
        assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
      }
      assert.deepStrictEqual(await columns(), named)
    } finally {
      account.service.stop()
    }
  })
})

describe("a custom value", () => {
  it("that is a date is one in its column, and what is none is NULL and counted", async () => {
    const account = await openAlone("locations,custom_fields,contacts", "--contacts", "3")
    try {
      const { service } = account
      const [like] = await service.records("customFields")
      const field = {
        model: "contact",
        dataType: "DATE",
        name: "Since",
        fieldKey: "contact.since",
        picklistOptions: []
      }
      await service.post("plant", { collection: "customFields", like: like!["id"], id: "since", fields: field })
      const [one, other] = (await service.records("contacts")).map(({ id }) => String(id)).toSorted()
      for (const [id, value] of [
        [one, 7_776_000_000],
        [other, "soon"]
      ])
        await service.post("edit", { collection: "contacts", id, fields: { customFields: [{ id: "since", value }] } })
      const ran = await account.sync()
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.deepStrictEqual(
        await query(
          account.warehouse,
          `SELECT id, cf_since::VARCHAR AS since FROM crm.contacts_wide WHERE id IN ('${one}', '${other}') ORDER BY id`
        ),
        [
          { id: one, since: "1970-04-01" },
          { id: other, since: null }
        ]
      )
      assert.deepStrictEqual(await query(account.warehouse, "SELECT column_name, unfit FROM meta.wide_losses"), [
        { column_name: "cf_since", unfit: "1" }
      ])
    } finally {
      discard(account)
    }
  })
})
