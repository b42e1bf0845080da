import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readModels } from "../../src/stages/publish/models/files.ts"
import {
  type Model,
  type ModelProblem,
  isProblem,
  modelOf,
  refsOf,
  sqlOf
} from "../../src/stages/publish/models/model.ts"
import { orderOf } from "../../src/stages/publish/models/order.ts"
import { newFolder } from "../support/sluice.ts"

const model = (name: string, text: string) => modelOf({ file: `${name}.sql`, text, isView: false })
const right = (one: Model | ModelProblem): Model => {
  assert.isFalse(isProblem(one), JSON.stringify(one))
  return one as Model
}
const problemOf = (one: Model | ModelProblem): string => (isProblem(one) ? one.what : "none")
const order = (...models: ReadonlyArray<Model | ModelProblem>) =>
  orderOf(models, ({ schema, table }) => schema === "crm" && table === "contacts")

describe("a model", () => {
  it("replaces references and comments, and ends before a semicolon", () => {
    const one = right(
      model("won", `{# for sales #}SELECT * FROM {{ ref('deals') }} JOIN {{source( "crm" ,'contacts')}} USING (id) ;\n`)
    )
    assert.deepStrictEqual(refsOf(one), ["deals"])
    assert.strictEqual(
      sqlOf(one, (reference) => ("ref" in reference ? `bi.${reference.ref}` : `main.${reference.source.table}`)),
      "SELECT * FROM bi.deals JOIN main.contacts USING (id)"
    )
  })

  it.each([
    ["{{ config(materialized='view') }}", "won.sql:2"],
    ["{% if true %}", "won.sql:2"],
    ["{{ ref('a', 'b') }}", "won.sql:2"],
    ["{{ ref(name) }}", "won.sql:2"],
    ["{{ source('crm') }}", "won.sql:2"]
  ])("with %s is refused, with the line", (template, place) => {
    const problem = problemOf(model("won", `SELECT 1\nFROM ${template}`))
    assert.isTrue(problem.startsWith(`${place}: ${template}: `), problem)
    assert.include(problem, "{{ ref('model') }}")
  })

  it.each(["Won", "won deals", "1st", 'a"b'])("named %s is refused", (name) =>
    assert.match(problemOf(model(name, "SELECT 1")), /lower-case letters/)
  )
})

describe("the order of models", () => {
  it("puts each model after those to which it refers", () => {
    const { models, problems } = order(
      model("c", "SELECT * FROM {{ ref('b') }} JOIN {{ ref('a') }} USING (id)"),
      model("b", "FROM {{ ref('a') }}"),
      model("a", "FROM {{ source('crm', 'contacts') }}")
    )
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(
      models.map(({ name }) => name),
      ["a", "b", "c"]
    )
  })

  it("names cycles, unknown models and tables, and what depends on them; the others are built", () => {
    const { models, problems } = order(
      model("good", "FROM {{ source('crm', 'contacts') }}"),
      model("one", "FROM {{ ref('two') }}"),
      model("two", "FROM {{ ref('three') }}"),
      model("three", "FROM {{ ref('one') }}"),
      model("typo", "FROM {{ ref('god') }}"),
      model("table", "FROM {{ source('crm', 'contcts') }}"),
      model("after", "FROM {{ ref('typo') }}"),
      model("good", "SELECT 1"),
      model("broken", "FROM {{ nothing }}"),
      model("later", "FROM {{ ref('broken') }}")
    )
    assert.deepStrictEqual(
      models.map(({ name }) => name),
      ["good"]
    )
    const text = problems.map(({ what }) => what).join("\n")
    assert.include(text, "one -> two -> three -> one")
    assert.include(text, "typo.sql: there is no model god; did you mean good?")
    assert.include(text, "table.sql: there is no table crm.contcts")
    assert.include(text, "after.sql: the model typo, to which it refers, cannot be built")
    assert.include(text, "good.sql: good.sql has the same name")
    assert.include(text, "later.sql: the model broken, to which it refers, cannot be built")
    assert.isFalse(problems.some((one) => one.where === "good"))
    for (const name of ["one", "two", "three"])
      assert.isTrue(
        problems.some((one) => one.where === name),
        name
      )
  })
})

describe("the files of models", () => {
  it("of the user are read from any folder below theirs, with the sentences of their YAML", async () => {
    const folder = newFolder()
    mkdirSync(join(folder, "sales"))
    writeFileSync(join(folder, "sales", "won_deals.sql"), "FROM {{ ref('fct_opportunity') }}")
    writeFileSync(
      join(folder, "about.yml"),
      "models:\n  - name: won_deals\n    description: Deals that were won.\n    config: { meta: { is_view: true, personal_data: { status: none }, numbers: { worth: { sum: additive, unit: currency } } } }\n    columns:\n      - name: status\n        description: Always won\n      - name: worth\n        description: Their value\n"
    )
    const found = (await readModels(folder)).map(right).find(({ name }) => name === "won_deals")
    assert.deepInclude(found, {
      description: "Deals that were won.",
      columns: {
        status: { description: "Always won", personalData: "none" },
        worth: {
          description: "Their value; adds up within one currency",
          personalData: undefined,
          number: { sum: "additive", unit: "currency" }
        }
      },
      isView: false
    })
  })

  it("that cannot be read are one problem; sluice's own models stay", async () => {
    const found = await readModels("/nowhere/models")
    assert.lengthOf(found.filter(isProblem), 1)
    assert.match(found.filter(isProblem)[0]!.what, /^\/nowhere\/models \(models\.folder\) cannot be read: ENOENT/)
    assert.isAbove(found.length, 100)
  })

  it("of sluice have no problems, and a sentence for each column of a mart", async () => {
    const { models, problems } = orderOf(await readModels(undefined), () => true)
    assert.deepStrictEqual(problems, [])
    for (const one of models.filter(({ isStaging }) => !isStaging))
      assert.isNotEmpty(Object.keys(one.columns), one.name)
  })
})
