/** A small warehouse to publish from, whose table has a column of every type. */
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { count, date, decimal, boolean, id, instant, json, text } from "../../src/catalog/fields.ts"
import { defineList } from "../../src/catalog/resource.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { columnsOf } from "../../src/stores/warehouse/columns.ts"
import { recordRelease } from "../../src/stores/warehouse/meta/content-versions.ts"
import { type PublishOptions, publish } from "../../src/stages/publish/publish.ts"
import { changeVersions, recordChangedKeys } from "../../src/stores/warehouse/meta/content-versions.ts"
import { commentStatements, prepare } from "../../src/stores/warehouse/schema.ts"
import { literal } from "../../src/stores/warehouse/sql.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"

const resource = defineList({
  table: "things",
  description: "Things, one of each kind.",
  source: "made up",
  scope: "things.readonly",
  full: [],
  fields: {
    id: id("Thing id"),
    name: text("Name, as typed"),
    note: text("Whatever was said about it"),
    amount: decimal("What it costs"),
    visits: count("How often it was seen"),
    happenedAt: instant("When it happened"),
    day: date("Its day"),
    active: boolean("Whether it is in use"),
    data: json("What came with it")
  }
})

const catalogue = { resources: [resource], familyByTable: new Map() }

/** The current rows, as `publish --stdout things` selects them. */
export const thingRows = Effect.gen(function* () {
  const parts = ["crm.things"]
  return { table: "things", parts, columns: yield* columnsOf(parts[0]!) }
})

export const things = publishedTables(catalogue)[0]!
export const columnNames = tablesOf(resource)[0].columns.map(({ name }) => name)

/** As the load does with every change. */
export const recordThings = Effect.gen(function* () {
  yield* (yield* Warehouse).transaction(changeOf("(SELECT location_id, id AS key FROM crm.things)"))
})

/** The load records keys only once a release has the table. */
const changeOf = (keys: string) => [
  ...changeVersions(["things"]),
  recordChangedKeys(
    "things",
    `(FROM ${keys} WHERE EXISTS (FROM meta.content_versions WHERE resource = 'things' AND base IS NOT NULL))`
  )
]

export interface Thing {
  readonly id: string
  readonly name: string | null
  readonly note?: string | null
  readonly amount?: string
  readonly visits?: string
  readonly happened_at?: string
  readonly day?: string
  readonly active?: boolean
  readonly data?: string
  readonly _deleted_at?: string
}

/** A row with a value of each type. */
export const typedThing: Thing = {
  id: "typed",
  name: "of each type",
  amount: "-12345678901234.5678",
  visits: "-9007199254740993",
  happened_at: "2026-01-01T00:00:00.123Z",
  day: "2026-02-28",
  active: true,
  data: '{"a": [1, "zwei"]}'
}

/** What the DuckDB file has besides tables. */
export const views = commentStatements(catalogue, { current: "main", history: "crm_history" })

export const addThings = Effect.fnUntraced(function* (rows: ReadonlyArray<Thing>) {
  const warehouse = yield* Warehouse
  yield* prepare(catalogue)
  const columns = [
    "id",
    "name",
    "note",
    "amount",
    "visits",
    "happened_at",
    "day",
    "active",
    "data",
    "_deleted_at"
  ] as const
  if (rows.length > 0)
    yield* warehouse.run(
      `INSERT INTO crm.things (location_id, ${columns.join(", ")}) VALUES ${rows
        .map((row) => `('here', ${columns.map((column) => literal(row[column])).join(", ")})`)
        .join(", ")}`
    )
  if (rows.length > 0) yield* recordThings
})

/** Enough rows that a publish takes some time. */
export const addManyThings = Effect.fnUntraced(function* (rows: number) {
  yield* addThings([])
  yield* (yield* Warehouse).run(
    `INSERT INTO crm.things (location_id, id, name, note, visits)
     SELECT 'here', 'id' || i, 'generation 0', md5(i::VARCHAR) || md5((i + 1)::VARCHAR), i FROM range(${rows}) AS r(i)`
  )
  yield* recordThings
})

/** Replaces rows as the load does: the old version moves to the history, and the new one is appended. */
export const replaceThings = Effect.fnUntraced(function* (changed: ReadonlyArray<string>, text: string | null) {
  const isChanged = `location_id = 'here' AND id IN (${changed.map(literal).join(", ")})`
  yield* (yield* Warehouse).transaction([
    `INSERT INTO crm_history.things BY NAME SELECT *, now() AS _valid_from, now() AS _valid_to FROM crm.things WHERE ${isChanged}`,
    `DELETE FROM crm.things WHERE ${isChanged}`,
    ...changed.map(
      (id) =>
        `INSERT INTO crm.things BY NAME SELECT 'here' AS location_id, ${literal(id)} AS id, ${literal(text)} AS note`
    ),
    ...changeOf(`(SELECT 'here' AS location_id, unnest([${changed.map(literal).join(", ")}]) AS key)`)
  ])
})

export const warehouseAt = (output: string): Layer.Layer<Warehouse, unknown> =>
  Warehouse.layer(join(output, "warehouse.duckdb"), { access: "write", memoryMb: 256 })

/** As `publishNow` does. */
export const publishThings = (output: string, options: Partial<PublishOptions> = {}) =>
  Effect.tap(published(output, options), () => Effect.ignore(recordRelease()))

const published = (output: string, options: Partial<PublishOptions>) =>
  publish(
    {
      folder: join(output, "published"),
      formats: ["duckdb", "parquet", "csv"],
      run: "run-1",
      schemaVersion: "1",
      statements: { shared: views, own: [] },
      ...options
    },
    publishedTables(catalogue)
  )

/** Texts that break writers and readers of tables. */
export const nastyTexts: Array<string | null> = [
  null,
  "",
  " ",
  "NULL",
  "null",
  "\\N",
  'say "hi"',
  '"',
  '""',
  "a,b",
  ",",
  "a;b\tc|d",
  "one\ntwo",
  "one\r\ntwo",
  "one\rtwo",
  "\n",
  "\r\n",
  " leading and trailing ",
  "=1+1",
  "+15551234567",
  "-5",
  "@SUM(A1)",
  "# no comment",
  "back\\slash\\",
  "it's",
  "naïve ✓ 日本語 😀 e\u0301",
  "\u2028\u2029\u00a0\u200b",
  "\uFEFFmark",
  "-- drop; SELECT 1",
  "longer than a cell ".repeat(100)
]
