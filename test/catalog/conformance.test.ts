/** The rules for every definition, which are found by scanning the folder, as the program does. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { Effect, Layer } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Fields } from "../../src/catalog/fields.ts"
import { violations } from "../../src/catalog/conformance.ts"
import { discover } from "../../src/catalog/discover.ts"
import { bind, rowParameters } from "../../src/catalog/request.ts"
import { type Partition, type Resource, type Strategy } from "../../src/catalog/resource.ts"
import { tablesOf } from "../../src/catalog/tables.ts"
import { normaliserOf } from "../../src/stages/load/normalise/normalise.ts"
import { reservedWords } from "../../src/stores/warehouse/in-memory.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { query } from "../support/compare.ts"
import { newOutput } from "../support/fixtures.ts"
import { type Service, startService } from "../support/service.ts"
import { newFolder } from "../support/sluice.ts"

const catalogue = await discover()
const reserved = await reservedWords()
const strategiesOf = ({ full = [], changes, childOf }: Resource): ReadonlyArray<Strategy> => [
  ...full,
  ...(changes?.newest ? [changes.newest] : []),
  ...(changes?.strategies ?? []),
  ...(childOf ? [childOf.strategy] : []),
  ...(childOf?.incremental ? [childOf.incremental.strategy] : [])
]
const casesOf = (resources: ReadonlyArray<Resource>) => resources.map((resource) => [resource.table, resource] as const)
const bindings = {
  location: "L",
  company: "C",
  id: "P",
  partition: "X",
  size: 10,
  cursor: "c",
  since: 0,
  windowStart: 0,
  windowEnd: 86_400_000
}

describe.each(casesOf(catalogue.resources))("%s", (_, resource) => {
  const tables = tablesOf(resource)

  it("keeps the rules that own definitions are checked against", () => {
    assert.deepStrictEqual(violations(resource, catalogue, reserved), [])
    assert.match(resource.source, /^[ABC] \d/)
  })

  it("turns a record with every field into a row with every column", () => {
    const { row, rejectedRecords, rejectedValues } = normaliserOf(resource)(recordOf(resource), {
      location: "L",
      given: { ...(resource.childOf && { [resource.childOf.column]: "t" }), ...givenByPartition(resource) }
    })
    assert.deepStrictEqual([rejectedValues, rejectedRecords], [[], []])
    const filled = JSON.parse(row!) as Record<string, unknown>
    assert.notProperty(filled, "_extra")
    for (const { name } of tables[0].columns)
      if (!name.startsWith("_") && name !== "location_id") assert.property(filled, name)
    for (const child of tables.slice(1)) {
      const [first] = filled[child.name] as ReadonlyArray<Record<string, unknown>>
      for (const { name } of child.columns)
        if (!name.startsWith("_") && name !== "location_id" && name !== child.parentColumn) assert.property(first, name)
    }
  })
})

describe("a definition", () => {
  it.each(casesOf(catalogue.resources.filter((resource) => strategiesOf(resource).length > 0)))(
    "of %s binds every placeholder of its requests",
    (_, resource) => {
      for (const strategy of strategiesOf(resource)) {
        const request = bind(strategy.request, bindings)
        assert.notInclude(request.path, "{")
        assert.notInclude(JSON.stringify(request.parameters), '"placeholder"')
        if (strategy.windows) assert.match(JSON.stringify(strategy.request.parameters), /windowStart.*windowEnd/)
      }
    }
  )

  it.each(casesOf(catalogue.resources.filter(({ kind }) => kind === "list")))(
    "of the list %s has a strategy for a full read",
    (_, resource) => assert.isNotEmpty(resource.full)
  )

  it.each(casesOf(catalogue.resources.filter(({ detail }) => detail !== undefined)))(
    "of %s, which has a detail, has a request for one record",
    (_, resource) => assert.strictEqual(rowParameters(resource.getOne!.request).length, 1)
  )
})

const givenByPartition = ({ partitions }: Resource) =>
  typeof partitions === "object" ? Object.assign({}, ...Object.values(partitions).map(({ columns }) => columns)) : {}

/** A record with a value in every field. */
const recordOf = (resource: Resource) => sample({ ...resource.fields, ...resource.detail?.fields })
const sample = (fields: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): Array<[string, unknown]> => {
      switch (field.kind) {
        case "column":
          return [[name, field.column === "location_id" ? "L" : values[field.type]]]
        case "object":
          return [[name, { ...sample(field.fields), ...(field.rest && { other: "x" }) }]]
        case "list":
          return [[name, [isScalar(field.fields) ? values["text"] : sample(field.fields)]]]
        case "entries":
          return [[name, { key: isScalar(field.fields) ? sample(field.fields)["value"] : sample(field.fields) }]]
        case "alias":
        case "transport":
          return []
      }
    })
  )
const isScalar = (fields: Fields) => Object.keys(fields).join() === "value"
const values = {
  text: "t",
  instant: "2026-01-31T10:00:00Z",
  date: "2026-01-31",
  decimal: 1.5,
  count: 2,
  flag: true,
  json: { a: 1 }
}

it("a list is read in the order that its request asks for", () => {
  let ordered = 0
  for (const resource of catalogue.resources)
    for (const strategy of [...strategiesOf(resource), ...(resource.backfill?.strategies ?? [])]) {
      const [, order] = /"(asc|ascend|desc|descend)"/.exec(JSON.stringify(strategy.request)) ?? []
      const { paging, stopBefore } = strategy
      const isDescending = (paging.kind === "sortValue" && paging.descending === true) || stopBefore !== undefined
      if (order === undefined && paging.kind !== "sortValue" && stopBefore === undefined) continue
      assert.strictEqual(order?.startsWith("desc"), isDescending, `${resource.table}: ${JSON.stringify(strategy)}`)
      ordered++
    }
  assert.isAbove(ordered, 10)
})

describe("the warehouse of the definitions", () => {
  it.live(
    "is created by DuckDB, keeps its rows when it is prepared again, and meta.columns describes every column once",
    () =>
      Effect.gen(function* () {
        const warehouse = yield* Warehouse
        yield* prepare(catalogue)
        yield* warehouse.run("INSERT INTO crm.pipelines (location_id, id) VALUES ('L', 'p')")
        yield* prepare(catalogue)
        assert.deepStrictEqual(yield* warehouse.rows("SELECT id FROM crm.pipelines"), [{ id: "p" }])
        const [{ n }] = (yield* warehouse.rows(
          `SELECT count(*) AS n FROM duckdb_columns() AS c LEFT JOIN meta.columns AS d USING (table_name, column_name)
         WHERE schema_name = 'crm' AND coalesce(description, '') = '' AND table_name NOT LIKE '%_changes'`
        )) as [{ n: string }]
        assert.strictEqual(n, "0")
        const [{ tables, columns }] = (yield* warehouse.rows(
          "SELECT count(DISTINCT table_name) AS tables, count(*) AS columns FROM meta.columns"
        )) as [{ tables: string; columns: string }]
        const all = catalogue.resources.flatMap((resource) => tablesOf(resource))
        assert.strictEqual(Number(tables), all.length)
        assert.strictEqual(Number(columns), all.flatMap((table) => table.columns).length)
      }).pipe(
        Effect.provide(Layer.fresh(Warehouse.layer(join(newFolder(), "w.duckdb"), { access: "write", memoryMb: 256 })))
      )
  )

  it("changes the type of a column to that of its definition, and keeps the rows", { tags: ["slow"] }, async () => {
    const path = join(await newOutput(), "warehouse.duckdb")
    const prepared = () =>
      Effect.runPromise(
        prepare(catalogue).pipe(Effect.provide(Warehouse.layer(path, { access: "write", memoryMb: 256 })))
      )
    const retype = (schema: string, column: string) =>
      `ALTER TABLE ${schema}.opportunities ALTER ${column} SET DATA TYPE DECIMAL(18,4)`
    await write(
      path,
      ...["crm", "crm_history"].flatMap((schema) => [
        retype(schema, "forecast_probability"),
        retype(schema, "effective_probability"),
        `INSERT INTO ${schema}.opportunities (location_id, id, forecast_probability) VALUES ('L', 'o', 12345678901234.5678)`
      ]),
      "DELETE FROM meta.schema_version"
    )
    await prepared()
    for (const schema of ["crm", "crm_history"])
      assert.deepStrictEqual(
        await query(
          path,
          `SELECT forecast_probability AS p, typeof(p) AS type, typeof(effective_probability) AS other FROM ${schema}.opportunities`
        ),
        [{ p: "12345678901234.5678000", type: "DECIMAL(38,7)", other: "DECIMAL(38,7)" }]
      )
    assert.lengthOf(await query(path, "FROM crm.opportunities_changes"), 2)
  })

  it("has no child rows as of a time when their parent was deleted, and lists each change once", async () => {
    const path = join(await newOutput(), "warehouse.duckdb")
    const at = (day: number) => `TIMESTAMPTZ '2026-01-0${day} 00:00:00+00'`
    // New on the 1st, deleted on the 2nd, changed while deleted on the 3rd, restored on the 4th.
    for (const [day, deleted] of [
      [1, "NULL"],
      [2, at(2)],
      [3, at(2)],
      [4, "NULL"]
    ] as const) {
      const [schema, columns, values] =
        day === 4 ? ["crm", "", ""] : ["crm_history", ", _valid_from, _valid_to", `, ${at(day)}, ${at(day + 1)}`]
      await write(
        path,
        `INSERT INTO ${schema}.contacts (location_id, id, _run_id, _synced_at, _deleted_at${columns}) VALUES ('L', 'c', 'run${day}', ${at(day)}, ${deleted}${values})`,
        `INSERT INTO ${schema}.contact_tags (location_id, contact_id, tag, _synced_at${columns}) VALUES ('L', 'c', 'vip', ${at(day)}${values})`
      )
    }
    const found = await Promise.all(
      [1, 2, 3, 4].map((day) =>
        query(
          path,
          `SELECT (SELECT count(*)::INT FROM crm.contacts_as_of(${at(day)})) AS contacts, (SELECT count(*)::INT FROM crm.contact_tags_as_of(${at(day)})) AS tags`
        )
      )
    )
    assert.deepStrictEqual(
      found.flat(),
      [1, 0, 0, 1].map((n) => ({ contacts: n, tags: n }))
    )
    assert.deepStrictEqual(
      (await query(path, "SELECT change FROM crm.contacts_changes ORDER BY changed_at")).map(({ change }) => change),
      ["new", "deleted", "changed", "revived"]
    )
  })

  it("adds a column that a definition has gained, and keeps the rows", async () => {
    const path = join(await newOutput(), "warehouse.duckdb")
    await write(
      path,
      "INSERT INTO crm.pipelines (location_id, id) VALUES ('L', 'p'); ALTER TABLE crm.pipelines DROP COLUMN name; DELETE FROM meta.schema_version"
    )
    const rows = await Effect.runPromise(
      prepare(catalogue).pipe(
        Effect.andThen(Effect.flatMap(Warehouse, (warehouse) => warehouse.rows("SELECT id, name FROM crm.pipelines"))),
        Effect.provide(Warehouse.layer(path, { access: "write", memoryMb: 256 }))
      )
    )
    assert.deepStrictEqual(rows, [{ id: "p", name: null }])
  })
})

/** Writes as another program would. */
const write = async (path: string, ...statements: ReadonlyArray<string>) => {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  for (const statement of statements) await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

describe("a folder of definitions", () => {
  it.each([
    ["two_in_one.ts", "export const a = { table: 'two_in_one', fields: {} }, b = a", /must export one definition/],
    ["misnamed.ts", "export const a = { table: 'other', fields: {} }", /of table misnamed/],
    [
      "orphan.ts",
      "export const a = { table: 'orphan', fields: {}, childOf: { table: 'nowhere', column: 'x' } }",
      /each row of nowhere, which no file defines/
    ]
  ])("is refused with the file and the reason: %s", async (file, content, reason) => {
    const folder = join(newFolder(), "definitions")
    mkdirSync(folder)
    writeFileSync(join(folder, file), content)
    const error = await discover(folder).catch((cause: unknown) => cause)
    assert.match(String(error), reason)
    assert.include(String(error), file)
  })
})

describe("the sandbox", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService("--limits", "off", "--contacts", "60")
  })
  afterAll(() => service.stop())

  it("responds to at least one strategy of every list with records at the defined place", async () => {
    for (const resource of catalogue.resources.filter(({ kind, enabledBy }) => kind === "list" && !enabledBy))
      assert.isTrue(
        (await Promise.all(resource.full!.map((strategy) => respondsTo(resource, strategy)))).includes(true),
        `${resource.table}: no strategy returns its records`
      )
  })

  it.each(casesOf(catalogue.resources.filter(({ changes }) => changes !== undefined)))(
    "responds to every strategy for changes of %s with records at the defined place",
    async (_, resource) => {
      assert.isNotEmpty(resource.changes!.strategies)
      for (const strategy of resource.changes!.strategies)
        assert.isTrue(await respondsTo(resource, strategy), JSON.stringify(strategy.request))
    }
  )

  /** Whether the first page has a record with a defined field, and the total, at the places that the definition names. */
  const respondsTo = async (resource: Resource, strategy: Strategy) => {
    const [partition, { parameters = {} }]: [string, Partition] =
      typeof resource.partitions === "string"
        ? ["custom_objects.project", {}]
        : Object.entries(resource.partitions ?? { all: {} })[0]!
    const request = bind(
      { ...strategy.request, parameters: { ...strategy.request.parameters, ...parameters } },
      {
        partition,
        location: service.locationId,
        company: service.companyId,
        size: 20,
        since: Date.parse("2020-01-01"),
        windowStart: Date.parse("2020-01-01"),
        windowEnd: Date.now()
      }
    )
    const query = new URLSearchParams(
      Object.entries(request.parameters).map(([name, value]): [string, string] => [name, String(value)])
    )
    const answer = await (request.method === "GET"
      ? service.call("GET", `${request.path}?${query}`)
      : service.call("POST", request.path, request.parameters))
    const inAnswer = (path: string) =>
      path
        .replace("{partition}", partition)
        .split(".")
        .filter((name) => name !== "")
        .reduce<unknown>((inside, name) => (inside as Record<string, unknown> | undefined)?.[name], answer)
    // What has its records elsewhere may have its total in that form alone.
    const isCounted = strategy.total !== undefined && strategy.elsewhere === undefined
    if (isCounted && !Number.isFinite(Number(inAnswer(strategy.total!)))) return false
    const records = inAnswer(strategy.records)
    // One record may be an object instead of a list.
    const first: unknown =
      strategy.paging.kind === "once" ? [records].flat()[0] : (records as [unknown] | undefined)?.[0]
    const fields = Object.keys(Object(first))
    return resource.transform ? fields.length > 0 : fields.some((name) => name in resource.fields)
  }
})
