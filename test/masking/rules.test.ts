/** What each profile does with a column, for every class, type and role: the table of docs/hand-out.md as it was decided. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { type PersonalData, personalDataClasses } from "../../src/catalog/personal-data.ts"
import { type Role, roles } from "../../src/catalog/roles.ts"
import type { Masking } from "../../src/settings/masking.ts"
import { type MaskedColumn, type Treatment, treatmentOf, treatments } from "../../src/stages/publish/masking/rules.ts"

const profiles: ReadonlyArray<Masking> = [
  { profile: "masked" },
  { profile: "analytics", key: { id: "k1", master: Redacted.make(new Uint8Array(32)) } }
]
/** The treatments of a column by the profiles masked and analytics. */
const of = (personal: PersonalData, sql: string, role?: Role, more: Partial<MaskedColumn> = {}) =>
  profiles
    .map((masking) => treatmentOf(masking, { name: "x", sql, personal, ...(role && { role }), ...more }))
    .join(", ")
const always = (treatment: Treatment) => [treatment, treatment].join(", ")
const gone = always("dropped")
const hidden = "stars, dropped"
const address = "address, addressPseudonym"
const allRoles = Object.keys(roles) as ReadonlyArray<Role>
const others = ["DATE", "TIMESTAMPTZ", "DECIMAL(38, 18)", "BIGINT", "BOOLEAN"]

describe("a text", () => {
  it.each([
    ["direct", undefined, hidden],
    ["direct", "email", address],
    ["direct", "phone", address],
    ["direct", "emailOrPhone", address],
    ["direct", "personName", "initial, dropped"],
    ["direct", "address", hidden],
    ["direct", "url", hidden],
    ["direct", "contact", hidden],
    ["quasi", undefined, hidden],
    ["quasi", "personName", "initial, dropped"],
    ["quasi", "email", address],
    ["quasi", "url", always("url")],
    ["quasi", "tag", always("tag")],
    ["quasi", "place", always("scrubbed")],
    ["quasi", "postalCode", "scrubbed, prefix"],
    ["quasi", "companyName", "scrubbed, organizationPseudonym"],
    ["quasi", "identifier", "scrubbed, identifierPseudonym"],
    ["quasi", "address", "scrubbed, dropped"],
    ["quasi", "trait", "scrubbed, dropped"],
    ["financial", undefined, "kept, identifierPseudonym"],
    ["financial", "identifier", "kept, identifierPseudonym"],
    ["none", undefined, always("scrubbed")],
    ["none", "identifier", always("kept")],
    ["none", "contact", "kept, contactPseudonym"],
    ["none", "url", always("scrubbed")]
  ] as ReadonlyArray<readonly [PersonalData, Role | undefined, string]>)(
    "of class %s with the role %s: %s",
    (personal, role, expected) => assert.strictEqual(of(personal, "VARCHAR", role), expected)
  )

  it("of class sensitive or content is left out, whatever its role", () => {
    for (const role of [undefined, ...allRoles.filter((role) => role !== "customValue")])
      for (const personal of ["sensitive", "content"] as const)
        assert.strictEqual(of(personal, "VARCHAR", role), gone, role)
  })

  it("that identifies a person is as it is in no profile, whatever its role", () => {
    for (const role of allRoles) assert.notMatch(of("direct", "VARCHAR", role), /kept|scrubbed/, role)
  })
})

describe("another value", () => {
  it.each(others)("of type %s is left out where it identifies a person, and a date that helps to is a year", (sql) => {
    for (const personal of ["sensitive", "content", "direct"] as const) assert.strictEqual(of(personal, sql), gone)
    assert.strictEqual(of("direct", sql, "email"), gone)
    assert.strictEqual(of("financial", sql), always("kept"))
    assert.strictEqual(of("quasi", sql), always(sql === "DATE" ? "year" : "kept"))
    assert.strictEqual(of("none", sql), always("kept"))
  })

  it("as JSON has more than its documents say, so only configuration is shown, and money in the profile masked", () => {
    const expected: Readonly<Record<PersonalData, string>> = {
      sensitive: gone,
      direct: gone,
      content: gone,
      financial: "scrubbed, dropped",
      quasi: gone,
      none: always("scrubbed")
    }
    for (const personal of personalDataClasses) assert.strictEqual(of(personal, "JSON"), expected[personal], personal)
    assert.strictEqual(of("none", "JSON", "identifier"), always("scrubbed"))
  })
})

describe("whatever its class,", () => {
  it("what was made of the whole record is left out", () => {
    for (const personal of personalDataClasses)
      for (const name of ["_row_hash", "_extra"])
        for (const sql of ["VARCHAR", "JSON"])
          assert.strictEqual(of(personal, sql, undefined, { name }), gone, `${name} of class ${personal}`)
    assert.notStrictEqual(of("none", "JSON", undefined, { name: "_extras" }), gone)
  })

  it("a value of a custom field follows the class of its field", () => {
    for (const personal of personalDataClasses) {
      assert.strictEqual(of(personal, "JSON", "customValue"), always("customValue"))
      const wide = of(personal, "VARCHAR[]", undefined, { isCustom: true })
      assert.strictEqual(wide, always(personal === "none" ? "scrubbed" : "customValue"), personal)
    }
  })
})

it("every treatment is given to some column, and no other is", () => {
  const given = new Set(
    personalDataClasses.flatMap((personal) =>
      ["VARCHAR", "JSON", ...others].flatMap((sql) =>
        [undefined, ...allRoles].flatMap((role) => of(personal, sql, role).split(", "))
      )
    )
  )
  assert.deepStrictEqual([...given].sort(), Object.keys(treatments).sort())
})
