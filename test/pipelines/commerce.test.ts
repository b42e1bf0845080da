/** Email, products, invoices, payments, social, blogs, funnels and surveys of an account with invalid data, value by value. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { decimalType } from "../../src/catalog/decimals.ts"
import { type Account, openAccount, usualScale } from "../support/account.ts"
import { commerceTables, differences, query } from "../support/compare.ts"
import { type Row, families, idOf, isDeleted, isObject, list, wellFormed } from "./records.ts"

const tableByCollection = { ...commerceTables, invoice_settings: "invoice_settings" }

/** Fields that the service sends and no document contains, by table. */
const undocumented: Readonly<Record<string, ReadonlyArray<string>>> = {
  blog_posts: ["readTimeInMinutes"],
  email_templates: ["aiScore"],
  products: ["storeRank"],
  social_posts: ["facebookPostDetails", "instagramPostDetails", "pinterestPostDetails", "tiktokPostDetails"]
}

const social = (account: Account) => `/social-media-posting/${account.service.locationId}`
const templates = (account: Account) => `/emails/locations/${account.service.locationId}/templates`

describe("the commerce of an account with invalid data", () => {
  let account: Account
  /** The types of the columns, by table. */
  const columnsByTable = new Map<string, Map<string, string>>()
  /** The rejected values as sent, by table, key and column. */
  const rejectedByField = new Map<string, string>()
  const ask = (sql: string) => query(account.warehouse, sql)

  beforeAll(async () => {
    account = await openAccount("--world", "nasty", ...usualScale)
    const posts = await account.service.records("social_posts")
    for (const { id } of posts.slice(0, 3))
      await account.service.call("DELETE", `${social(account)}/posts/${String(id)}`)
    const ran = await account.sync("--only", families)
    assert.strictEqual(ran.code, 0, ran.stderr)
    for (const { table_name, column_name, data_type } of await ask(
      "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'crm'"
    )) {
      const columns = columnsByTable.get(String(table_name)) ?? new Map<string, string>()
      columnsByTable.set(String(table_name), columns.set(String(column_name), String(data_type)))
    }
    for (const { table_name, key, column_name, value } of await ask(
      "SELECT * FROM meta.rejected_values WHERE reason NOT LIKE '%stored as U+FFFD'"
    )) {
      const field = [table_name, key, column_name].join(".")
      rejectedByField.set(field, String(value))
    }
  })
  afterAll(() => account.service.stop())

  /** The expected row of a record: objects without a column as prefixed columns, without the rejected values, and with rounded ones. */
  const expected = (table: string, record: Row): Row => {
    const columns = columnsByTable.get(table)!
    const flat = (inside: Row, prefix: string): ReadonlyArray<readonly [string, unknown]> =>
      Object.entries(inside).flatMap(([name, value]) => {
        const column = prefix + snakeCase(name)
        const hasColumns = [...columns.keys()].some((known) => known.startsWith(`${column}_`))
        if (isObject(value) && !columns.has(column) && hasColumns) return flat(value, `${column}_`)
        const isPlain = columns.has(`${column}_id`) || columns.has(`${column}_enabled`)
        const isText = columns.get(column) === "JSON" && typeof value === "string" && !isPlain
        return [[prefix === "" ? name : column, isText ? JSON.stringify(value) : value]]
      })
    return Object.fromEntries(
      flat(wellFormed(record), "").flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
        const field = [table, idOf(record), snakeCase(name)].join(".")
        const rejected = rejectedByField.get(field)
        if (rejected !== undefined && String(JSON.parse(rejected)) === String(value)) return []
        const hasMoreDecimals = columns.get(snakeCase(name)) === decimalType && /\.\d{8}|e-/.test(String(value))
        return [[name, hasMoreDecimals ? Number(value).toFixed(7) : value]]
      })
    )
  }
  const compare = async (table: string, records: ReadonlyArray<Row>) => {
    assert.isNotEmpty(records)
    const found = await differences(
      account.warehouse,
      table,
      records.map((record) => expected(table, record))
    )
    assert.deepStrictEqual(found.slice(0, 10), [])
  }
  const deletedRows = (table: string) => `(SELECT id FROM crm.${table} WHERE _deleted_at IS NOT NULL)`

  it.each(Object.entries(tableByCollection))("%s equal the service, value by value", async (collection, table) => {
    await compare(table, await account.service.records(collection))
  })

  it("survey_submissions equal the service, and a record that is sent twice has its later date", async () => {
    const copies = new Map(
      (await account.service.records("survey_submissions?strays=1")).map((one) => [idOf(one), one])
    )
    const records = await account.service.records("survey_submissions")
    assert.isTrue(records.some((record) => copies.has(idOf(record))))
    await compare(
      "survey_submissions",
      records.map(({ others, createdAt, ...rest }) => {
        const { eventData, fieldsOriSequance: fieldOrder } = others as Row
        // Some are sent twice with different dates, of which the later one counts.
        return { ...rest, eventData, fieldOrder, createdAt: later(createdAt, copies.get(idOf(rest))?.["createdAt"]) }
      })
    )
  })

  it("templates and folders are those of both lists, and a template is archived if its list is the archived one", async () => {
    const listed: Array<Row> = []
    for (const archived of [false, true])
      for (let offset = 0; ; offset += 20) {
        const page = await account.service.call(
          "GET",
          `${templates(account)}?limit=20&offset=${offset}&archived=${archived}`
        )
        const { items } = page as { readonly items: ReadonlyArray<Row> }
        listed.push(...items.map((item) => (item["type"] === "template" ? { ...item, archived } : item)))
        if (items.length < 20) break
      }
    const ofType = (type: string) => listed.filter((item) => item["type"] === type)
    assert.isNotEmpty(listed.filter(({ archived }) => archived === true))
    const details = new Map((await account.service.records("email_templates")).map((one) => [idOf(one), one]))
    await compare(
      "email_templates",
      ofType("template").map((item) => ({ ...details.get(idOf(item)), ...item }))
    )
    await compare("email_template_folders", ofType("folder"))
  })

  it.each(["email_templates", "email_campaigns"])("%s have the body that their link returns", async (table) => {
    const rows = await ask(`SELECT body, editor_content_url AS url FROM crm.${table} WHERE _deleted_at IS NULL`)
    assert.isNotEmpty(rows)
    for (const { body, url } of rows) assert.strictEqual(body, await (await fetch(String(url))).text())
  })

  it("notes of orders are stored completely", async () => {
    const rows = await ask("SELECT id, order_id, body FROM crm.order_notes")
    const asText = (id: unknown, order: unknown, note: unknown) => JSON.stringify([id, order, note])
    assert.deepStrictEqual(
      rows.map(({ id, order_id, body }) => asText(id, order_id, JSON.parse(String(body)))).sort(),
      (await account.service.records("order_notes"))
        .map((note) => asText(note["_id"], note["orderId"], wellFormed(note)))
        .sort()
    )
  })

  it("taxes of products have their name, rate and calculation", async () => {
    const answer = await account.service.call(
      "GET",
      `/products/?locationId=${account.service.locationId}&expand=tax&limit=100`
    )
    const { products } = answer as { readonly products: ReadonlyArray<Row> }
    const asText = (product: unknown, tax: unknown, rest: unknown) => JSON.stringify([product, tax, rest])
    const sent = products
      // The list contains some products twice, and some without an id.
      .filter(({ _id }) => typeof _id === "string")
      .flatMap(({ _id: product, taxes }) =>
        list(taxes).map(({ _id, name, rate, calculation }) => asText(product, _id, [name, Number(rate), calculation]))
      )
    const stored = await ask("SELECT * FROM crm.product_taxes")
    assert.isNotEmpty(stored)
    assert.deepStrictEqual(
      stored
        .map(({ product_id, id, name, rate, calculation }) => asText(product_id, id, [name, Number(rate), calculation]))
        .sort(),
      [...new Set(sent)].sort()
    )
  })

  it("deleted posts are stored and marked as deleted", async () => {
    const deleted = (await account.service.records("social_posts")).filter(isDeleted)
    const rows = await ask("SELECT id FROM crm.social_posts WHERE deleted AND _deleted_at IS NOT NULL ORDER BY id")
    assert.lengthOf(deleted, 3)
    assert.deepStrictEqual(rows.map(idOf), deleted.map(idOf).sort())
    assert.deepStrictEqual(await ask("SELECT id FROM crm.social_posts WHERE deleted <> (_deleted_at IS NOT NULL)"), [])
  })

  it.each(["email_campaigns", "estimates", "funnel_pages"])(
    "exactly the %s that the service sends as deleted are marked as deleted",
    async (table) => {
      const records = (await account.service.records(table)).filter(isDeleted)
      assert.isNotEmpty(records)
      assert.deepStrictEqual((await ask(`${deletedRows(table)} ORDER BY id`)).map(idOf), records.map(idOf).sort())
    }
  )

  it("_extra contains exactly the undocumented fields", async () => {
    const tables = [...columnsByTable].filter(([table, columns]) => columns.has("_extra") && table !== "orders")
    const keys = tables.map(
      ([table]) => `SELECT '${table}' AS owner, unnest(json_keys(_extra)) AS field FROM crm.${table}`
    )
    const rows =
      await ask(`SELECT owner, list(DISTINCT field ORDER BY field) AS fields FROM (${keys.join(" UNION ALL ")})
      GROUP BY owner ORDER BY owner`)
    const found = Object.fromEntries(rows.map(({ owner, fields }) => [owner, fields]))
    assert.deepStrictEqual(found, undocumented)
  })

  it("rejected values do not fit their columns, and each record without an id is rejected once", async () => {
    assert.isAbove(rejectedByField.size, 10)
    for (const [field, value] of rejectedByField) {
      const [table, , column] = field.split(".")
      const isFlag = columnsByTable.get(table!)!.get(column!) === "BOOLEAN"
      assert.match(value, isFlag ? /^[01]$/ : noAmount, field)
    }
    const rejected = await ask("SELECT table_name, count(*)::INT AS n FROM meta.rejected_records GROUP BY ALL")
    const expectedCounts = new Map<string, number>()
    for (const collection of withInvalidItems) {
      const invalidItems = await account.service.records(`${collection}?strays=1&form=list`)
      const texts = invalidItems
        .filter(({ id, _id }) => (id ?? _id ?? null) === null)
        .map((invalidItem) => JSON.stringify(invalidItem))
      expectedCounts.set(collection === "submissions" ? "form_submissions" : collection, new Set(texts).size)
    }
    assert.deepStrictEqual(
      new Map(rejected.map(({ table_name, n }) => [String(table_name), Number(n)] as const)),
      expectedCounts
    )
  })
})

describe("redirects", () => {
  it.each(["array", "object"])("are read if the service sends them as an %s", async (shape) => {
    const account = await openAccount("--quirk", `redirectShape=${shape}`, "--contacts", "20")
    try {
      const ran = await account.sync("--only", "redirects")
      assert.strictEqual(ran.code, 0, ran.stderr)
      const records = await account.service.records("redirects")
      assert.isNotEmpty(records)
      assert.deepStrictEqual(await differences(account.warehouse, "redirects", records), [])
    } finally {
      account.service.stop()
    }
  })
})

/** Collections whose lists contain records without an id. */
const withInvalidItems = (
  "products invoices estimates orders transactions subscriptions blog_posts social_posts submissions " +
  "survey_submissions"
).split(" ")

/** A text that is no number, or a number with more decimals than the column. */
const noAmount = /^("n\/a"|"1,234\.50"|"\$12"|\d+\.\d{9}\d*[1-9]|\de-\d+)$/

const snakeCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()

/** The later of two instants in any notation; the second may be missing. */
const later = (one: unknown, other: unknown): unknown => (other !== undefined && at(other) > at(one) ? other : one)
const at = (instant: unknown): number => (/^\d+$/.test(String(instant)) ? Number(instant) : Date.parse(String(instant)))
