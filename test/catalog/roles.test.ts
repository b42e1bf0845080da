/** The roles of columns: a name that looks like one has it, and it decides alone. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { discover } from "../../src/catalog/discover.ts"
import { violations } from "../../src/catalog/conformance.ts"
import { linksOf } from "../../src/catalog/person-links.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import * as fields from "../../src/catalog/fields.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { type Role, roles } from "../../src/catalog/roles.ts"
import { type Column, tablesOf } from "../../src/catalog/tables.ts"
import { measuredOf } from "../../src/features/export/bundle/control-totals.ts"
import { ageColumn } from "../../src/features/privacy/erasure/retention.ts"
import type { Masking } from "../../src/settings/masking.ts"
import { treatmentOf } from "../../src/stages/publish/masking/rules.ts"

const tables = (await discover()).resources.flatMap((resource) => tablesOf(resource))

const isText = ({ sql }: Column) => sql === "VARCHAR"
const isAboutPeople = (column: Column) => isText(column) && ["direct", "quasi"].includes(column.personal)
const isTime = ({ sql }: Column) => sql === "TIMESTAMPTZ"

/** Names that say what a value is, and the roles that fit. Of two that match a name, the first counts. */
const names: ReadonlyArray<
  readonly [name: RegExp, among: (column: Column) => boolean, fitting: ReadonlyArray<Role | undefined>]
> = [
  [/(^|_)(email|email_lower_case)$/, isText, ["email"]],
  [/(^|_)(phone|phone_no)$/, isText, ["phone"]],
  [/(^|_)ip_address$/, isText, ["trait"]],
  [/(^|_)address$/, isText, ["email", "emailOrPhone", "address"]],
  [/(^|_)(first|last|full|contact)_name$/, isText, ["personName"]],
  [/(company|business)_name$/, isAboutPeople, ["companyName"]],
  [/(^|_)name$/, isAboutPeople, ["personName", "companyName", "tag"]],
  [/(^|_)(url|referrer|link)$/, isAboutPeople, ["url"]],
  [/(^|_)tags?$/, isAboutPeople, ["tag"]],
  [/(^|_)postal_code$/, isText, ["postalCode"]],
  [/(^|_)(city|state|country|timezone)$/, isAboutPeople, ["place"]],
  [/(^|_)(id|gclid|fbclid|tracking_number)$/, isText, ["identifier", "contact"]],
  [/^value(_text)?$/, ({ personal }) => personal === "direct", ["customValue", undefined]],
  [/^(date_added|created_at)$/, isTime, ["created"]],
  [/^(date_updated|updated_at)$/, isTime, ["changed"]]
]

describe("roles", () => {
  it("of the definitions fit the names of their columns", () => {
    const unexpected = tables.flatMap((table) =>
      table.columns.flatMap((column) => {
        const [, , fitting] = names.find(([name, among]) => name.test(column.name) && among(column)) ?? []
        const place = `${table.name}.${column.name}`
        return fitting === undefined || fitting.includes(column.role) ? [] : [`${place}: ${column.role}`]
      })
    )
    assert.deepStrictEqual(unexpected, [])
  })

  it("are those that columns have, and are described on the page about own definitions", () => {
    const used = tables.flatMap(({ columns }) => columns.flatMap(({ role }) => (role ? [role] : [])))
    assert.sameMembers([...new Set(used)], Object.keys(roles))
    const page = readFileSync(new URL("../../docs/own-pipelines.md", import.meta.url), "utf8")
    const described = [...page.matchAll(/^\| `(\w+)` +\| (.*?) +\| `(\w+)` +\|$/gm)].map(
      ([, role, means, personal]) => [role, { means, personal }]
    )
    // `person.contacts` and references to contacts give the role.
    const { contact: _, ...given } = roles
    assert.deepStrictEqual(Object.fromEntries(described), given)
  })
})

describe("a column of an own definition", () => {
  const { address, changed, created, email, identifier, instant, personName, ref, text, trait, url } = fields
  const visitors = defineList({
    table: "visitors",
    description: "Visitors of the office.",
    source: "GET /visitors",
    scope: "any",
    full: [],
    person: { contacts: ["host"] },
    fields: {
      id: fields.id("Visitor id"),
      email: text("A text with the name of an address", { personal: "direct" }),
      url: text("A text with the name of a page", { personal: "quasi" }),
      agencyId: text("A text with the name of an id"),
      host: text("The contact who is visited"),
      guest: ref("contacts", "The contact who comes"),
      writes: email("Where invitations go"),
      known: personName("How the badge names them"),
      page: url("Where they announced themselves"),
      home: address("Where they live"),
      browser: trait("Their browser"),
      badge: identifier("What the badge says", { personal: "quasi" }),
      expected: instant("When they are expected"),
      entered: created("When they were announced"),
      moved: changed("When they were last expected at another time")
    }
  })
  const [published] = publishedTables({ resources: [visitors] })
  const columns = new Map(tablesOf(visitors)[0].columns.map((column) => [column.name, column]))
  const treated = (name: string) =>
    ["masked", "analytics", "aggregate"].map((profile) => treatmentOf({ profile } as Masking, columns.get(name)!))

  it.each([
    ["email", ["stars", "dropped", "dropped"]],
    ["url", ["stars", "dropped", "dropped"]],
    ["agency_id", ["scrubbed", "scrubbed", "scrubbed"]],
    ["_extra", ["dropped", "dropped", "dropped"]]
  ])("without a role gets the strictest treatment of its class, whatever its name: %s", (name, expected) =>
    assert.deepStrictEqual(treated(name), expected)
  )

  it.each([
    ["host", ["kept", "contactPseudonym", "kept"]],
    ["guest", ["kept", "contactPseudonym", "kept"]],
    ["writes", ["address", "addressPseudonym", "dropped"]],
    ["known", ["initial", "dropped", "dropped"]],
    ["page", ["url", "url", "url"]],
    ["home", ["stars", "dropped", "dropped"]],
    ["browser", ["scrubbed", "dropped", "dropped"]],
    ["badge", ["scrubbed", "identifierPseudonym", "dropped"]],
    ["id", ["kept", "kept", "kept"]]
  ])("with a role is treated by it, whatever its name: %s", (name, expected) =>
    assert.deepStrictEqual(treated(name), expected)
  )

  it("with an address links the record to its person, unless the definition names the columns", () => {
    assert.deepStrictEqual(linksOf(visitors)?.addresses, ["writes"])
    assert.deepStrictEqual(linksOf({ ...visitors, person: { addresses: [] } })?.addresses, [])
    const { person: _, ...withoutPerson } = visitors
    assert.isUndefined(linksOf(withoutPerson))
  })

  it("that says when a record was made decides about its age, and is the time of the control totals", () => {
    const released = {
      name: "visitors",
      columns: Object.fromEntries([...columns].map(([name, { sql }]) => [name, sql]))
    }
    const measured = () => measuredOf({ released, published: published! }).timeColumn
    assert.deepStrictEqual([ageColumn(visitors), measured()], ["entered", "entered"])
    // A release of before the column has another time, and no other name is taken for an age.
    delete released.columns["entered"]
    assert.strictEqual(measured(), "expected")
    const { entered: _, ...others } = visitors.fields
    assert.isUndefined(ageColumn({ ...visitors, fields: { ...others, createdAt: instant("Some time") } }))
    assert.strictEqual(ageColumn({ ...visitors, backfill: { dateField: "expected", strategies: [] } }), "expected")
  })

  it("is the only one of its table that says when a row was made", () => {
    const twice = { ...visitors, fields: { ...visitors.fields, createdAt: created("When they were announced, again") } }
    const catalogue = {
      resources: [visitors],
      familyByTable: new Map(["contacts", "locations"].map((table) => [table, "crm"]))
    }
    assert.deepStrictEqual(violations(visitors, catalogue, new Set()), [])
    assert.deepStrictEqual(
      violations(twice, catalogue, new Set()).map(({ text, message }) => [text, message]),
      [["createdAt", "visitors.created_at is the second column that says when a row was made."]]
    )
  })
})
