/** What the columns of the models are named, and what they contain, read with programs that we did not write. */
import { parse } from "csv-parse/sync"
import { parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { parse as parseYaml } from "yaml"
import { discover } from "../../src/catalog/discover.ts"
import { typesOf } from "../../src/catalog/kinds.ts"
import { contractOf } from "../../src/stages/publish/contracts/contract.ts"
import { describedModels } from "../../src/stages/publish/models/described.ts"
import { readModels } from "../../src/stages/publish/models/files.ts"
import { inMemory } from "../../src/stores/warehouse/in-memory.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { newFolder } from "../support/sluice.ts"
import { releaseOf } from "./release.ts"

/** As docs/models.md has them. */
const sameInAllModels: Readonly<Record<string, string>> = {
  date_added: "created_at",
  date_updated: "updated_at",
  assigned_to: "assigned_user_id",
  // `meta` calls it after the resource that a run reads.
  resource: "table_name"
}
const eventTimes = ["sent_at", "asked_at", "replied_at", "booked_at", "submitted_at", "ordered_at", "paid_at"]

interface Properties {
  readonly models: ReadonlyArray<{
    readonly name: string
    readonly config: { readonly meta: { readonly grain: ReadonlyArray<string> } }
  }>
}
const properties: Properties = parseYaml(
  readFileSync(new URL("../../models/marts/_marts.yml", import.meta.url), "utf8")
)

describe("columns of models", () => {
  it("are read without quotes, and are no alias that queries of version 1 may have", async () => {
    const models = await describedModels(await discover())
    const status = models.filter(({ columns }) => columns.some(({ name }) => name === "status"))
    assert.deepStrictEqual(
      status.map(({ name }) => name),
      ["fct_opportunity"]
    )
    await inMemory(async (connection) => {
      await connection.run("CREATE SCHEMA bi")
      for (const { columns, name } of models) {
        await connection.run(
          `CREATE TABLE bi.${name} (${columns.map((one) => `"${one.name}" ${one.type}`).join(", ")})`
        )
        await connection.run(`SELECT ${columns.map((one) => one.name).join(", ")} FROM bi.${name}`)
        // A column takes the place of an alias of its name, so that what the alias stands for is not grouped.
        for (const { name: column } of columns.filter((one) => one.name.endsWith("_status")))
          await connection.run(`SELECT lower(${column}) AS status, count(*) AS n FROM bi.${name} GROUP BY status`)
      }
    })
  })

  it("that have a value unchanged have its name in the table, if need be after that of its record or role", async () => {
    const models = await describedModels(await discover())
    const copies = models.flatMap(({ columns, name: model }) =>
      columns.flatMap(({ copyOf, name }) => (copyOf === undefined ? [] : [{ model, name, copyOf }]))
    )
    assert.isAbove(copies.length, 150)
    const isNamed = ({ copyOf, name }: (typeof copies)[number]) => {
      const own = copyOf.split(".").at(-1)!
      const ends = (whole: string, end: string) => whole === end || whole.endsWith(`_${end}`)
      const withoutRole = name.slice(name.indexOf("_") + 1)
      return (
        ends(name, sameInAllModels[own] ?? own) ||
        ends(own, name) ||
        ends(own, withoutRole) ||
        eventTimes.includes(name)
      )
    }
    assert.deepStrictEqual(
      copies.filter((one) => !isNamed(one)).map(({ copyOf, model, name }) => `${model}.${name} is ${copyOf}`),
      []
    )
  })

  it("have a sentence each, and a type that the contract knows", async () => {
    for (const { columns, name: model } of await describedModels(await discover()))
      for (const { description, name, type } of columns) {
        assert.isNotEmpty(description, `${model}.${name}`)
        if (typesOf(type).sql === "VARCHAR") assert.strictEqual(type, "VARCHAR", `${model}.${name}`)
      }
  })

  it("that are numbers say whether they add up, over what, and in which unit; the grain of each model is its key", async () => {
    const described = await describedModels(await discover())
    const read = (await readModels(undefined)).flatMap((one) => ("level" in one || one.isStaging ? [] : [one]))
    for (const { columns, key, name: model } of read) {
      const own = described.find(({ name }) => name === model)!.columns
      const numbers = own.filter(({ type }) => /INT|DECIMAL|DOUBLE/.test(type)).map(({ name }) => name)
      const typed = Object.entries(columns).filter(([, { number }]) => number !== undefined)
      assert.sameMembers(
        typed.map(([name]) => name),
        numbers,
        model
      )
      const names = own.map(({ name }) => name)
      for (const [name, { description, number }] of typed) {
        const { not_over: over, sum, unit } = number!
        assert.strictEqual(sum === "semi_additive", over !== undefined, `${model}.${name}`)
        if (over !== undefined) assert.include(names, over)
        if (unit === "currency") assert.include(names, "currency", `${model}.${name}`)
        assert.match(description!, /; (does not add up|adds up)/)
      }
      const { config } = properties.models.find(({ name }) => name === model)!
      if (key.length > 0) assert.deepStrictEqual(config.meta.grain, key, model)
      for (const column of config.meta.grain) assert.include(names, column, model)
    }
  })

  it("of an own model without YAML have the sentence and the class of what they are made of, or what the release has", async () => {
    const folder = newFolder()
    const write = (name: string, sql: string) => writeFileSync(join(folder, `${name}.sql`), sql)
    write(
      "people",
      "SELECT email, upper(first_name) AS called, count(*) AS n FROM {{ source('crm', 'contacts') }} GROUP BY ALL"
    )
    write("by_status", "PIVOT {{ ref('fct_opportunity') }} ON status USING count(*) GROUP BY pipeline_name")
    const catalogue = await discover()
    const columnsOf = async (model: string, released?: ReadonlyMap<string, ReadonlyMap<string, string>>) =>
      (await describedModels(catalogue, folder, released)).find(({ name }) => name === model)!.columns
    const people = await columnsOf("people")
    const contacts = contractOf(catalogue).find(({ name }) => name === "contacts")!.columns
    const email = contacts.find(({ name }) => name === "email")!
    assert.deepStrictEqual(
      people.map(({ description, name, personal }) => [name, description, personal]),
      [
        ["email", email.description, "direct"],
        ["called", "", "direct"],
        ["n", "", "none"]
      ]
    )
    assert.isEmpty(await columnsOf("by_status"))
    const released = new Map([
      [
        "by_status",
        new Map([
          ["pipeline_name", "VARCHAR"],
          ["won", "BIGINT"]
        ])
      ]
    ])
    const pivoted = await columnsOf("by_status", released)
    assert.deepStrictEqual(
      pivoted.map(({ name, personal, type }) => [name, type, personal]),
      [
        ["pipeline_name", "VARCHAR", "direct"],
        ["won", "BIGINT", "direct"]
      ]
    )
    for (const { description } of pivoted) assert.match(description, /^Rows of the account decide/)
    rmSync(folder, { recursive: true })
  })

  it("keep each tag of a contact, in every format", { tags: ["slow"] }, async () => {
    const tags = ["do, not, call", 'the "best"', "two\nlines", "vip"]
    const { ask, folder } = await releaseOf(
      [
        "INSERT INTO crm.contacts (location_id, id) VALUES ('l', 'tagged'), ('l', 'untagged')",
        `INSERT INTO crm.contact_tags (location_id, contact_id, tag)
         VALUES ${tags
           .toReversed()
           .map((tag) => `('l', 'tagged', ${literal(tag)})`)
           .join(", ")}`
      ],
      ["duckdb", "parquet", "csv"]
    )
    const expected = { tagged: tags.toSorted(), untagged: [] }
    const stored = await ask("SELECT contact_id, to_json(tags)::VARCHAR AS tags FROM bi.dim_contact")
    const byContact = (rows: ReadonlyArray<Record<string, unknown>>, read: (tags: unknown) => unknown) =>
      Object.fromEntries(rows.map((row) => [row["contact_id"], read(row["tags"])]))
    const json = (text: unknown) => JSON.parse(String(text)) as unknown
    assert.deepStrictEqual(byContact(stored as ReadonlyArray<Record<string, unknown>>, json), expected)
    const csv: ReadonlyArray<Record<string, string>> = parse(readFileSync(join(folder, "csv/bi/dim_contact.csv")), {
      columns: true
    })
    assert.deepStrictEqual(byContact(csv, json), expected)
    const parquet = join(folder, "parquet/bi/dim_contact")
    const bytes = readFileSync(join(parquet, readdirSync(parquet)[0]!))
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
    const rows = await parquetReadObjects({ file, compressors, columns: ["contact_id", "tags"] })
    assert.deepStrictEqual(
      byContact(rows, (list) => list),
      expected
    )
  })

  it("say since when an opportunity has been in the stage in which it was first read, and of what clocks the times are", async () => {
    const { ask } = await releaseOf([
      "INSERT INTO crm.locations (id, location_id, timezone) VALUES ('l', 'l', 'America/New_York')",
      `INSERT INTO crm.opportunities (location_id, id, pipeline_stage_id, status, created_at, last_stage_change_at, _synced_at) VALUES
         ('l', 'moved', 's1', 'open', '2026-01-01 03:00:00Z', '2026-01-05 00:00:00Z', '2026-03-01 00:00:00Z'),
         ('l', 'new', 's1', 'open', '2026-01-02 00:00:00Z', NULL, '2026-03-01 00:00:00Z'),
         ('l', 'unknown', 's1', 'open', NULL, NULL, '2026-03-01 00:00:00Z')`,
      `INSERT INTO crm_history.opportunities (location_id, id, pipeline_stage_id, status, created_at, last_stage_change_at, _valid_from, _valid_to)
       VALUES ('l', 'moved', 's0', 'open', '2026-01-01 03:00:00Z', NULL, '2026-01-03 00:00:00Z', '2026-03-01 00:00:00Z')`
    ])
    const changes = await ask(
      `SELECT opportunity_id || ' ' || is_first || ' ' || to_stage_id || ' ' || coalesce(changed_at::DATE::VARCHAR, 'unknown') AS change
       FROM bi.fct_opportunity_stage_change ORDER BY opportunity_id, change_number`
    )
    assert.deepStrictEqual(
      changes.map(({ change }) => change),
      ["moved true s0 2026-01-01", "moved false s1 2026-01-05", "new true s1 2026-01-02", "unknown true s1 unknown"]
    )
    const [local] = await ask(
      `SELECT created_local::VARCHAR AS time, created_local_date::VARCHAR AS day FROM bi.fct_opportunity WHERE opportunity_id = 'moved'`
    )
    assert.deepStrictEqual(local, { time: "2025-12-31 22:00:00", day: "2025-12-31" })
  })
})
