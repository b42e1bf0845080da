/** A release that was updated is the one that would be written anew: every table, view, comment and macro that its own file lists. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { customFields } from "../../pipelines/account/custom_fields.ts"
import { customValue, id, ref, rows, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import type { WholeManifest as Manifest } from "../../src/stages/publish/manifest.ts"
import { withViews } from "../../src/stages/publish/changes.ts"
import { modelOf } from "../../src/stages/publish/models/model.ts"
import { orderOf } from "../../src/stages/publish/models/order.ts"
import { publish } from "../../src/stages/publish/publish.ts"
import { changeVersions, recordChangedKeys, recordRelease } from "../../src/stores/warehouse/meta/content-versions.ts"
import { commentStatements, prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { refreshWide } from "../../src/stores/warehouse/wide-views.ts"
import { randomFrom } from "../support/random.ts"
import { newOutput } from "./output.ts"
import { warehouseAt } from "./things.ts"

/** Of this many people, a release replaces those that changed. Every second id is one of both locations. */
const count = 300
const people = defineList({
  table: "people",
  description: "d",
  source: "s",
  scope: "s",
  full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
  wide: { table: "people_values", field: "custom_field_id", model: "contact", prefix: "cf_" },
  fields: {
    id: id("Id"),
    firstName: text("Name"),
    values: rows(
      "people_values",
      "Values",
      { id: ref("custom_fields", "Field", { column: "custom_field_id" }), value: customValue("Value") },
      ["custom_field_id"]
    )
  }
})
const texts = {
  stg_person: "SELECT location_id, id, first_name, _deleted_at FROM {{ source('crm', 'people') }}",
  named: "SELECT first_name, count(*) AS people FROM {{ ref('stg_person') }} WHERE _deleted_at IS NULL GROUP BY ALL",
  versions: "SELECT id, count(*) AS versions FROM {{ source('crm_history', 'people') }} GROUP BY ALL",
  fields: "SELECT field_key, count(*) AS fields FROM {{ source('crm', 'custom_fields') }} GROUP BY ALL"
}
const models = orderOf(
  Object.entries(texts).map(([name, text]) => {
    const isStaging = name.startsWith("stg_")
    return modelOf({ file: `${name}.sql`, text, isView: isStaging, isStaging, description: `The ${name}.` })
  }),
  () => true
)
const schemas = { current: "main", history: "crm_history" }

const catalogue = { resources: [people, customFields], familyByTable: new Map<string, string>() }

const fill = Effect.gen(function* () {
  yield* prepare(catalogue)
  yield* (yield* Warehouse).run(
    `INSERT INTO crm.custom_fields (location_id, id, model, field_key, name, data_type, position)
         SELECT l, 'f' || n, 'contact', 'contact.f' || n, 'Field ' || n, if(n = 1, 'NUMERICAL', 'TEXT'), n FROM unnest(['L', 'M']) AS t(l), range(3) AS r(n);
       INSERT INTO crm.people (location_id, id, first_name, _row_hash) SELECT l, 'c' || n, 'name ' || n % 5, 'h' FROM unnest(['L', 'M']) AS t(l), range(${count}) AS r(n) WHERE l = 'L' OR n % 2 = 0;
       INSERT INTO crm_history.people (location_id, id, first_name, _valid_from, _valid_to) SELECT 'L', 'c' || n, 'old', now(), now() FROM range(${count}) AS r(n);
       INSERT INTO crm.people_values (location_id, people_id, custom_field_id, value_text) SELECT l, 'c' || n, 'f' || n % 3, '' || n FROM unnest(['L', 'M']) AS t(l), range(${count}) AS r(n);
       INSERT INTO crm.people_values (location_id, people_id, custom_field_id, value_text) VALUES ('L', 'c1', 'undefined', 'x');`
  )
})

/** As the load does: a change of some people of a location, and the keys of these. */
const ofPeople = (location: string, ids: ReadonlyArray<string>, ...statements: ReadonlyArray<string>) => [
  ...statements,
  ...changeVersions(["people"]),
  recordChangedKeys(
    "people",
    `(SELECT ${literal(location)} AS location_id, unnest([${ids.map(literal).join(", ")}]) AS key)`
  )
]

type Change = readonly [what: string, ...statements: ReadonlyArray<string>]

/** A night with each kind of change of people of one location, in an order that is drawn, and one with changes of fields. */
const drawNights = (random: () => number): ReadonlyArray<ReadonlyArray<Change>> => {
  const below = (limit: number) => Math.floor(random() * limit)
  const drawn = (change: (among: (column: string) => string, location: string, first: string) => Change): Change => {
    const location = ["L", "M"][below(2)]!
    const ids = Array.from({ length: 1 + below(4) }, () => `c${below(count)}`)
    const among = (column: string) => `location_id = '${location}' AND ${column} IN (${ids.map(literal).join(", ")})`
    const [what, ...statements] = change(among, location, ids[0]!)
    return [`${what}: ${location} ${ids.join(", ")}`, ...ofPeople(location, [...ids, "added"], ...statements)]
  }
  const ofFields = (statement: string): Change => [statement, statement, ...changeVersions(["custom_fields"])]
  const noValues = (among: string) => `DELETE FROM crm.people_values WHERE ${among}`
  const changes = [
    drawn((among) => ["renamed", `UPDATE crm.people SET first_name = 'new' WHERE ${among("id")}`]),
    drawn((among) => ["removed", `DELETE FROM crm.people WHERE ${among("id")}`, noValues(among("people_id"))]),
    drawn((among) => ["marked", `UPDATE crm.people SET _deleted_at = '2026-01-01 00:00:00Z' WHERE ${among("id")}`]),
    drawn((among) => ["without values", noValues(among("people_id"))]),
    drawn((among) => ["valued", `UPDATE crm.people_values SET value_text = '7' WHERE ${among("people_id")}`]),
    drawn((_, location) => ["added", `INSERT INTO crm.people (location_id, id) VALUES ('${location}', 'added')`]),
    drawn((_, location, id) => [
      "with a version",
      `INSERT INTO crm_history.people (location_id, id, first_name, _valid_from, _valid_to) VALUES ('${location}', '${id}', 'older', now(), now())`
    ])
  ]
  const ofDefinitions = [
    ofFields(
      "INSERT INTO crm.custom_fields (location_id, id, model, field_key) VALUES ('M', 'g', 'contact', 'contact.g')"
    ),
    ofFields(`UPDATE crm.custom_fields SET name = 'Renamed' WHERE id = 'f${below(3)}'`),
    ofFields("UPDATE crm.custom_fields SET data_type = 'TEXT' WHERE id = 'f1' AND location_id = 'M'"),
    ofFields(`DELETE FROM crm.custom_fields WHERE id = 'f${below(3)}' AND location_id = 'L'`)
  ]
  const shuffled = changes
    .map((change) => [random(), change] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, change]) => change)
  return [shuffled, ofDefinitions]
}

/** All that a DuckDB file lists, and of each table and view the number of its rows and the sum of their hashes. */
const contentsOf = Effect.fnUntraced(function* (file: string) {
  const warehouse = yield* Warehouse
  yield* warehouse.run(`ATTACH ${literal(file)} AS served (READ_ONLY)`)
  const listed = (select: string) => warehouse.rows(`SELECT ${select} WHERE database_name = 'served' ORDER BY ALL`)
  const columns = yield* listed("schema_name, table_name, column_name, data_type, comment FROM duckdb_columns()")
  const described = [
    columns,
    yield* listed("schema_name, table_name, comment FROM duckdb_tables()"),
    yield* listed("schema_name, view_name, comment, sql FROM duckdb_views()"),
    yield* listed("schema_name, function_name, macro_definition FROM duckdb_functions()")
  ]
  const names = [...new Set(columns.map((row) => `${row["schema_name"]}.${row["table_name"]}`))]
  const sums = names.map(
    (name) =>
      `SELECT '${name}' AS name, count(*)::VARCHAR || ' rows, ' || sum(hash(t)) AS content FROM served.${name} AS t`
  )
  const contents = yield* warehouse.rows(`${sums.join(" UNION ALL ")} ORDER BY ALL`)
  yield* warehouse.run("DETACH served")
  return { described, contents, names }
})

describe("a release that was updated", () => {
  it.live.each([4])("equals one that is written anew, after drawn nights (seed %i)", (seed) => {
    const folder = newOutput()
    const random = randomFrom(seed)
    return Effect.gen(function* () {
      yield* fill
      const publishInto = Effect.fnUntraced(function* (name: string, full: boolean) {
        const wide = yield* refreshWide(catalogue)
        const statements = {
          shared: commentStatements(catalogue, schemas),
          own: wide.flatMap((view) => [...view.published("main"), ...view.comments("main")])
        }
        const place = { folder: join(folder, name), formats: ["duckdb"], full } as const
        const more = { run: "r", schemaVersion: "1", statements, models } as const
        const { isNew } = yield* publish({ ...place, ...more }, withViews(publishedTables(catalogue), wide))
        const release = realpathSync(join(folder, name))
        const { state }: Manifest = JSON.parse(readFileSync(join(release, "manifest.json"), "utf8"))
        return { file: join(release, "crm.duckdb"), isNew, fullBytes: state.fullBytes }
      })
      const first = yield* publishInto("published", false)
      yield* recordRelease()
      for (const [night, changes] of drawNights(random).entries()) {
        yield* (yield* Warehouse).transaction([
          `INSERT INTO meta.runs (run_id, command) VALUES ('run ${night}', 'sync')`,
          ...changes.flatMap(([, ...statements]) => statements)
        ])
        const { file, fullBytes } = yield* publishInto("published", false)
        if (night === 0) assert.strictEqual(fullBytes, first.fullBytes, "the file was updated")
        const updated = yield* contentsOf(file)
        const anew = yield* contentsOf((yield* publishInto("anew", true)).file)
        assert.deepStrictEqual(updated, anew, changes.map(([what]) => what).join("; "))
        assert.includeMembers(updated.names, ["main.people_wide", "bi.named", "bi.stg_person", "crm_history.people"])
        yield* recordRelease()
        assert.isFalse((yield* publishInto("published", false)).isNew, "nothing has changed since")
      }
    }).pipe(Effect.provide(warehouseAt(folder)))
  })
})
