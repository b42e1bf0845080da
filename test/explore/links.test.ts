/** To which tables the columns of a release lead, as far as the release has them. */
import { assert, it } from "@effect/vitest"
import { definedLinks } from "../../src/features/explore/defined-links.ts"
import { withLinks } from "../../src/features/explore/links.ts"
import type { CatalogTable } from "../../src/features/explore/messages.ts"
import { randomFrom } from "../support/random.ts"

it("a key or a reference is named where the release has all its columns, and nowhere else", async () => {
  const links = await definedLinks(undefined, undefined)
  const whole = Array.from(links, ([address, { key, references }]) => {
    const [schema = "", name = ""] = address.split(".")
    return { schema, name, columns: [...new Set([...key, ...references.keys(), "other"])] }
  })
  for (const seed of [1, 2]) {
    const random = randomFrom(seed)
    const release = whole
      .filter(() => random() < 0.7)
      .map(({ columns, name, schema }): CatalogTable => ({
        schema,
        name,
        kind: "table",
        comment: null,
        columns: columns
          .filter(() => random() < 0.9)
          .map((column) => ({ name: column, type: "VARCHAR", comment: null }))
      }))
    const has = new Set(
      release.flatMap((table) => table.columns.map((column) => `${table.schema}.${table.name}.${column.name}`))
    )
    const counts = { references: 0, missing: 0, keys: 0, incomplete: 0 }
    for (const { columns, key, name, schema } of withLinks(release, links)) {
      const known = links.get(`${schema}.${name}`)!
      const isWhole = known.key.every((column) => has.has(`${schema}.${name}.${column}`))
      assert.deepStrictEqual(key, isWhole ? known.key : [], `${schema}.${name}`)
      counts[isWhole ? "keys" : "incomplete"]++
      for (const column of columns) {
        const target = known.references.get(column.name)
        const isThere = target !== undefined && has.has(`${target.schema}.${target.table}.${target.column}`)
        assert.deepStrictEqual(column.refersTo, isThere ? target : undefined, `${schema}.${name}.${column.name}`)
        if (target) counts[isThere ? "references" : "missing"]++
      }
    }
    for (const [what, n] of Object.entries(counts)) assert.isAbove(n, 20, what)
  }
})

it("a model is about what it reads first, and only what reads nothing but the syncs is about these", async () => {
  const links = await definedLinks(undefined, undefined)
  const subjectOf = (model: string) => links.get(`bi.${model}`)!.subject
  const subjects = [
    "dim_contact",
    "fct_appointment",
    "fct_call",
    "fct_invoice",
    "fct_opportunity",
    "fct_task",
    "fct_payment"
  ]
  assert.deepStrictEqual(subjects.map(subjectOf), [
    "crm",
    "calendars",
    "conversations",
    "invoices",
    "crm",
    "crm",
    "payments"
  ])
  const ofSyncs = Array.from(links).flatMap(([address, { subject }]) => (subject === "meta" ? [address] : []))
  assert.sameMembers(ofSyncs, ["bi.fct_daily_change", "bi.mart_freshness"])
})
