/** The classification of personal data and the references of columns, checked by the names of the columns. */
import { assert, describe, it } from "@effect/vitest"
import { discover } from "../../src/catalog/discover.ts"
import { type Column, tablesOf } from "../../src/catalog/tables.ts"

const tables = (await discover()).resources.flatMap((resource) => tablesOf(resource))
const columns = tables.flatMap((table) =>
  table.columns.filter(({ name }) => !name.startsWith("_")).map((column) => ({ ...column, table: table.name }))
)
type Found = Column & { readonly table: string }
const named = (pattern: RegExp, more: (column: Found) => boolean = () => true) =>
  columns.filter((column) => pattern.test(column.name) && more(column))
const places = (found: ReadonlyArray<Found>) => found.map(({ table, name }) => `${table}.${name}`)
const isData = ({ sql, references }: Column) => (sql === "VARCHAR" || sql === "JSON") && references === undefined

describe("personal data", () => {
  const personal =
    /(^|_)(email|emails|phone|phone_no|extension|first_name|last_name|full_name|contact_name|contact_email|contact_phone|company_name|contact_snapshot|from|to|ip_address|address|postal_code|ssn|date_of_birth|relations|attributions|attribution_source)$/
  // The relations of a note or a task are records, those of an opportunity people.
  const notPersonal = ["contact_notes.relations", "tasks.relations"]

  it("columns that identify or contact a person are not classified as none", () => {
    const found = named(personal, (column) => isData(column) && column.personal === "none")
    assert.deepStrictEqual(
      places(found).filter((place) => !notPersonal.includes(place)),
      []
    )
  })

  it("amounts of money are classified as financial", () => {
    const money =
      /(^|_)(amount|amount_due|amount_refunded|total|subtotal|discount|discount_value|price|compare_at_price|setup_fee|monetary_value|value)$/
    const isMoney = ({ sql, name }: Column) => sql.startsWith("DECIMAL") || (sql === "JSON" && name === "price")
    const found = named(money, (column) => isMoney(column) && column.personal !== "financial")
    assert.deepStrictEqual(places(found), ["prices.shipping_options_weight_value"])
  })

  it("texts that people write are not classified as none", () => {
    const written = /^(title|description|body|summary|subject|terms_notes?|estimates_terms_note|error)$/
    // Texts that the account defines.
    const names = ["invoice_settings.title", "object_fields.description", "product_media.title"]
    const found = named(written, (column) => isData(column) && column.personal === "none")
    assert.deepStrictEqual(places(found).toSorted(), names)
  })
})

describe("references", () => {
  /** The table that an id of this name refers to. */
  const tableBy = new Map([
    ...tables.map(({ name }) => [name.replace(/ies$/, "y").replace(/s$/, ""), name] as const),
    ["assigned_to", "users"],
    ["conversation_provider", "messaging_providers"],
    ["variant", "product_variants"],
    ["variant_option", "product_variant_options"]
  ])

  it("an id that is named after a table refers to it", () => {
    const found = columns.flatMap((column) => {
      const to = tableBy.get(column.name.replace(/_id$/, ""))
      const isId = column.name.endsWith("_id") || column.name === "assigned_to"
      return isId && to && column.references === undefined ? [column] : []
    })
    // Campaigns of advertisers and affiliates have no list.
    const others = found.filter(({ name }) => name !== "campaign_id")
    // A document has a second id, which its links name; the others are ids of the payment service.
    assert.deepStrictEqual(places(others).toSorted(), [
      "documents.document_id",
      "subscriptions.subscription_id",
      "transactions.subscription_id"
    ])
  })
})
