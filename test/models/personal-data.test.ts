/** The classes of personal data, checked by the values: what identifies a contact is in no column of a lesser class. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { readModels } from "../../src/stages/publish/models/files.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { inDatabase } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

type Ask = (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
interface Column {
  readonly path: string
  readonly column: string
}

describe("a value that identifies a contact", { tags: ["slow"] }, () => {
  let account: Account
  const inFile = <A>(use: (ask: Ask) => Promise<A>) => inDatabase(join(account.output, "published", "crm.duckdb"), use)
  beforeAll(async () => {
    account = await openSynced({ flags: ["--contacts", "30", "--world", "nasty"], formats: "duckdb" })
  })
  afterAll(() => discard(account))

  /** The columns of these that contain an e-mail address, a phone number or a full name of a contact as a part. */
  const identifying = (ask: Ask, columns: ReadonlyArray<Column>) =>
    Promise.all(
      columns.map(async ({ path, column }) => {
        const [found] = await ask(
          `WITH known AS (SELECT unnest([lower(email), phone, lower(name)]) AS value FROM contacts)
           SELECT any_value(v.value) AS value FROM (SELECT DISTINCT lower("${column}"::VARCHAR) AS value FROM ${path}) AS v
           WHERE EXISTS (FROM known AS k WHERE length(k.value) > 7 AND contains(v.value, k.value))`
        )
        return found?.["value"] === null ? [] : [`${path}.${column}`]
      })
    ).then((found) => found.flat())

  it("is in columns of the classes direct, sensitive and content only", () =>
    inFile(async (ask) => {
      const columns = (lesser: boolean) =>
        ask(
          `SELECT table_name AS path, column_name AS column FROM meta.columns
           WHERE personal_data ${lesser ? "" : "NOT"} IN ('none', 'quasi', 'financial') AND type IN ('VARCHAR', 'JSON')`
        ) as unknown as Promise<ReadonlyArray<Column>>
      assert.deepStrictEqual(await identifying(ask, await columns(true)), [])
      const known = await identifying(ask, await columns(false))
      assert.includeMembers(known, ["contacts.email", "contacts_wide.email", "invoices.contact_details_name"])
      const [unclassified] = await ask("SELECT count(*)::INT AS n FROM meta.columns WHERE personal_data IS NULL")
      assert.strictEqual(unclassified!["n"], 0)
    }))

  it("is in columns of models that have one of these classes", async () => {
    const models = (await readModels(undefined)).filter((model) => "pieces" in model && !model.isStaging)
    const classes = new Map(
      models.flatMap((model) =>
        "columns" in model
          ? Object.entries(model.columns).map(
              ([column, { personalData }]) => [`bi.${model.name}.${column}` as string, personalData] as const
            )
          : []
      )
    )
    await inFile(async (ask) => {
      const columns = (await ask(
        "SELECT 'bi.' || table_name AS path, column_name AS column FROM duckdb_columns() WHERE schema_name = 'bi' AND table_name NOT LIKE 'stg_%' AND data_type = 'VARCHAR'"
      )) as unknown as ReadonlyArray<Column>
      const isLesser = ({ path, column }: Column) => !/direct|content/.test(classes.get(`${path}.${column}`) ?? "none")
      assert.deepStrictEqual(await identifying(ask, columns.filter(isLesser)), [])
      assert.include(await identifying(ask, columns), "bi.dim_contact.email")
    })
  })

  it("is in custom fields, which count as direct until a setting says otherwise", async () => {
    const classesOf = () =>
      inFile(async (ask) => {
        const rows = await ask(
          "SELECT c.field_key, d.personal_data FROM custom_fields AS c JOIN meta.columns AS d ON d.table_name = 'contacts_wide' AND d.column_name = 'cf_' || regexp_replace(c.field_key, '^contact.', '')"
        )
        return new Map(rows.map((row) => [String(row["field_key"]), row["personal_data"]]))
      })
    const before = await classesOf()
    assert.isAbove(before.size, 1)
    assert.deepStrictEqual([...new Set(before.values())], ["direct"])
    const key = [...before.keys()][0]!
    const config = join(account.output, "settings.toml")
    writeFileSync(config, `[personal_data]\ncustom_fields = { "${key}" = "none" }\n`)
    const ran = await sluice(["publish", "--config", config], { ...account.environment, SLUICE_FORMATS: "duckdb" })
    assert.strictEqual(ran.code, 0, ran.stderr)
    const after = await classesOf()
    assert.strictEqual(after.get(key), "none")
    after.delete(key)
    assert.deepStrictEqual([...new Set(after.values())], ["direct"])
  })
})

it("a column that is named after an address, a phone number or a name of a person is of a class that says so", async () => {
  const { resources } = await discover()
  const lesser = resources.flatMap((resource) =>
    tablesOf(resource).flatMap(({ columns, name: table }) =>
      columns
        .filter(({ name }) => /^(email|phone|first_name|last_name|contact_name)$/.test(name))
        .filter(({ personal }) => ["none", "quasi", "financial"].includes(personal))
        .map(({ name }) => `${table}.${name}`)
    )
  )
  assert.deepStrictEqual(lesser, [])
})
