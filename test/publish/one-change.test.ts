/** A release after a run that changed exactly one thing: every table of it is that of the warehouse, and nothing else moved. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync, realpathSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { boolean, count, id, text, values } from "../../src/catalog/fields.ts"
import { publishedTables } from "../../src/catalog/published-tables.ts"
import { get } from "../../src/catalog/request.ts"
import { defineList } from "../../src/catalog/resource.ts"
import type { Manifest } from "../../src/output/manifest.ts"
import { type PublishOptions, publish } from "../../src/stages/publish/publish.ts"
import { contentOf } from "../support/content.ts"
import { changeVersions, recordChangedKeys, recordRelease } from "../../src/stores/warehouse/meta/content-versions.ts"
import { commentStatements, prepare, versionStatements } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"
import { verified } from "./verify.ts"

const list = (table: string, more: object) =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
    fields: { id: id("Id"), name: text("Name"), isOpen: boolean("Open"), ...more }
  })
/** Of this many rows, a release replaces those that changed; of fewer, all. */
const catalogue = {
  resources: [
    list("many", { tags: values("many_tags", "Tags", "tag", text("Tag")) }),
    list("few", {}),
    { ...list("numbered", { number: count("Number") }), key: ["id", "number"] }
  ],
  familyByTable: new Map<string, string>()
}
const tables = publishedTables(catalogue)
const schemas = { current: "main", history: "crm_history" }
const rows = 600

const open = (folder: string): Layer.Layer<Warehouse, unknown> =>
  Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256 })
const released = (folder: string, options: Partial<PublishOptions> = {}) =>
  publish(
    {
      folder: join(folder, "published"),
      formats: ["duckdb", "csv"],
      run: "r",
      schemaVersion: "1",
      statements: {
        shared: catalogue.resources.flatMap((resource) => versionStatements(resource, schemas)),
        own: commentStatements(catalogue, schemas)
      },
      ...options
    },
    tables
  ).pipe(Effect.tap(() => recordRelease()))

let base: string
beforeAll(async () => {
  base = newFolder()
  const fill = Effect.gen(function* () {
    yield* prepare(catalogue)
    yield* (yield* Warehouse).run(
      `INSERT INTO crm.many (location_id, id, name) SELECT 'L', 'i' || n, 'name, "' || n FROM range(${rows}) AS t(n);
       INSERT INTO crm.many (location_id, id, name) VALUES ('M', 'i1', 'of another location');
       INSERT INTO crm.many_tags (location_id, many_id, tag) SELECT 'L', 'i' || n, 't' FROM range(${rows}) AS t(n);
       INSERT INTO crm_history.many (location_id, id, name, _valid_from, _valid_to) SELECT 'L', 'i' || n, 'old', now(), now() FROM range(${rows}) AS t(n);
       INSERT INTO crm.numbered (location_id, id, number) SELECT 'L', 'i' || n % 7, nullif(n, 9) FROM range(${rows}) AS t(n);
       INSERT INTO crm.few (location_id, id, name) VALUES ('L', 'a', NULL), ('L', 'b', '');`
    )
    yield* released(base)
  })
  await Effect.runPromise(Effect.provide(fill, open(base)))
})
afterAll(() => rmSync(base, { recursive: true }))
/** With the times of its files to the nanosecond, by which a release knows that nobody has changed them. */
const copyOfBase = (folder: string) => execFileSync("cp", ["-a", `${base}/.`, folder])

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "published/manifest.json"), "utf8"))

/** What differs between the warehouse and its release, by table and copy; each checksum of the manifest is compared too. */
const differences = Effect.fnUntraced(function* (folder: string) {
  const warehouse = yield* Warehouse
  const release = realpathSync(join(folder, "published"))
  const manifest = manifestIn(folder)
  const found: Array<string> = []
  yield* warehouse.run(`ATTACH '${release}/crm.duckdb' AS served (READ_ONLY)`)
  for (const { name } of tables)
    for (const schema of ["crm", "crm_history"] as const) {
      const original = `${schema}.${name}`
      const listed = manifest.tables!.find((one) => one.schema === schema && one.table === name)!
      const columns = Object.entries(listed.columns).map(([name, type]) => ({ name, type }))
      const { rows, sum } = yield* contentOf(original, columns)
      if (rows !== listed.rows || sum !== listed.sum) found.push(`the manifest of ${original}`)
      const texts = columns.map(({ name, type }) => `"${name}"::${type}::VARCHAR`).join(", ")
      const csv = `read_csv('${release}/csv/${name}.csv', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false)`
      const copies = [
        `served.${schema === "crm" ? "main" : schema}.${name}`,
        ...(schema === "crm" && rows > 0 ? [csv] : [])
      ]
      for (const copy of copies) {
        const [one, other] = [`(SELECT ${texts} FROM ${copy})`, `(SELECT ${texts} FROM ${original})`]
        const differing = `SELECT 1 FROM (${one} EXCEPT ALL ${other}) UNION ALL (SELECT 1 FROM (${other} EXCEPT ALL ${one}))`
        if ((yield* warehouse.rows(differing)).length > 0) found.push(copy.replace(release, ""))
      }
    }
  yield* warehouse.run("DETACH served")
  return found
})

/** Everything in a release but the rows: what its manifest says of them, columns, comments, views and macros. */
const describedIn = Effect.fnUntraced(function* (folder: string) {
  const warehouse = yield* Warehouse
  yield* warehouse.run(`ATTACH '${realpathSync(join(folder, "published"))}/crm.duckdb' AS served (READ_ONLY)`)
  const found: Array<unknown> = [manifestIn(folder).tables]
  for (const select of [
    "schema_name, table_name, column_name, data_type, comment FROM duckdb_columns()",
    "schema_name, table_name, comment FROM duckdb_tables()",
    "schema_name, view_name, comment, sql FROM duckdb_views()",
    "schema_name, function_name, macro_definition FROM duckdb_functions()"
  ])
    found.push(yield* warehouse.rows(`SELECT ${select} WHERE database_name = 'served' ORDER BY ALL`))
  yield* warehouse.run("DETACH served")
  return found
})

/** As the load does: the keys of the records whose rows, child rows or versions changed. */
const changing = (resource: string, keys: ReadonlyArray<string>, ...statements: ReadonlyArray<string>) => [
  ...statements,
  ...changeVersions([resource]),
  recordChangedKeys(
    resource,
    `(SELECT 'L' AS location_id, unnest([${keys.map((key) => `'${key}'`).join(", ")}]) AS key)`
  )
]
const changes: ReadonlyArray<
  readonly [what: string, statements: ReadonlyArray<string>, rewritten: ReadonlyArray<string>]
> = [
  [
    "a new row",
    changing("many", ["new"], "INSERT INTO crm.many (location_id, id, name) VALUES ('L', 'new', 'n')"),
    ["many", "many_tags"]
  ],
  [
    "a changed row",
    changing("many", ["i7"], "UPDATE crm.many SET name = 'changed' WHERE id = 'i7'"),
    ["many", "many_tags"]
  ],
  [
    "a row that is marked as deleted",
    changing("many", ["i7"], "UPDATE crm.many SET _deleted_at = TIMESTAMPTZ '2026-01-01 00:00:00+00' WHERE id = 'i7'"),
    ["many", "many_tags"]
  ],
  ["a row that is removed", changing("many", ["i7"], "DELETE FROM crm.many WHERE id = 'i7'"), ["many", "many_tags"]],
  [
    "a row whose key another location has too",
    changing("many", ["i1"], "UPDATE crm.many SET name = 'changed' WHERE id = 'i1' AND location_id = 'L'"),
    ["many", "many_tags"]
  ],
  [
    "a child row",
    changing("many", ["i7"], "INSERT INTO crm.many_tags (location_id, many_id, tag) VALUES ('L', 'i7', 'u')"),
    ["many", "many_tags"]
  ],
  [
    "a version",
    changing(
      "many",
      ["i7"],
      "INSERT INTO crm_history.many (location_id, id, name, _valid_from, _valid_to) VALUES ('L', 'i7', 'older', now(), now())"
    ),
    ["many", "many_tags"]
  ],
  [
    "a row whose key has a number, and one without",
    changing(
      "numbered",
      ["i1\u001f8", "i2"],
      "UPDATE crm.numbered SET name = 'changed' WHERE number = 8 OR number IS NULL"
    ),
    ["numbered"]
  ],
  ["a row of a small table", changing("few", ["a"], "UPDATE crm.few SET is_open = true WHERE id = 'a'"), ["few"]],
  ["the last row of a table", changing("few", ["a", "b"], "DELETE FROM crm.few"), ["few"]],
  [
    "more than a fifth of the rows",
    changing(
      "many",
      Array.from({ length: 200 }, (_, n) => `i${n}`),
      "UPDATE crm.many SET name = 'new' WHERE substr(id, 2)::INTEGER < 200 AND location_id = 'L'"
    ),
    ["many", "many_tags"]
  ]
]

describe("a release after a run that changed", () => {
  it.live.each(changes)("%s", ([, statements, rewritten]) => {
    const folder = newFolder()
    copyOfBase(folder)
    return Effect.gen(function* () {
      const inode = (table: string) => statSync(join(folder, `published/csv/${table}.csv`)).ino
      const csvs = tables.map(({ name }) => [name, inode(name)] as const)
      yield* (yield* Warehouse).transaction(statements)
      const { isNew } = yield* released(folder)
      assert.isTrue(isNew)
      assert.deepStrictEqual(yield* differences(folder), [])
      verified(join(folder, "published"))
      yield* released(join(folder, "anew"), { formats: ["duckdb"], full: true })
      assert.deepStrictEqual(yield* describedIn(folder), yield* describedIn(join(folder, "anew")))
      const moved = csvs.flatMap(([name, before]) => (inode(name) === before ? [] : [name]))
      assert.deepStrictEqual(moved, rewritten)
      assert.isFalse((yield* released(folder)).isNew, "nothing has changed since")
    }).pipe(Effect.provide(open(folder)))
  })

  it.live("nothing is the one before, and is compared with the tables again", () => {
    const folder = newFolder()
    copyOfBase(folder)
    return Effect.gen(function* () {
      const before = manifestIn(folder)
      assert.deepStrictEqual(yield* differences(folder), [])
      assert.isFalse((yield* released(folder)).isNew)
      const { confirmedAt, ...rest } = manifestIn(folder)
      const { confirmedAt: earlier, ...same } = before
      assert.deepStrictEqual(rest, same)
      assert.isAtLeast(Date.parse(confirmedAt!), Date.parse(earlier!))
    }).pipe(Effect.provide(open(folder)))
  })

  it.live("has also what another place got before, and not this one", () => {
    const [folder, other] = [newFolder(), newFolder()]
    copyOfBase(folder)
    return Effect.gen(function* () {
      const place = { folder: join(other, "published") }
      const renamed = (id: string) => changing("many", [id], `UPDATE crm.many SET name = 'changed' WHERE id = '${id}'`)
      yield* released(folder, place)
      // It misses one release, or two.
      for (const missed of [["i7"], ["i8", "i9"]]) {
        for (const id of missed) {
          yield* (yield* Warehouse).transaction(renamed(id))
          yield* released(folder)
        }
        yield* (yield* Warehouse).transaction(renamed(`i1${missed.length}`))
        yield* released(folder, place)
        assert.deepStrictEqual(yield* differences(other), [])
      }
    }).pipe(Effect.provide(open(folder)))
  })

  it.live("a definition has the comments and views of now in its DuckDB file, whichever rows changed with it", () => {
    const folder = newFolder()
    copyOfBase(folder)
    return Effect.gen(function* () {
      const { rows, run, transaction } = yield* Warehouse
      const statements = (text: string) => ({
        shared: [`COMMENT ON TABLE main.few IS '${text}'`],
        own: [`CREATE OR REPLACE VIEW main.shown AS SELECT '${text}' AS text`]
      })
      const [, [, row]] = changes as [unknown, (typeof changes)[number]]
      for (const [n, changed] of [[], row, []].entries()) {
        yield* transaction(changed)
        // The last one changes no definition, and a row.
        yield* released(folder, { statements: statements(`text ${Math.min(n, 1)}`) })
        assert.deepStrictEqual(yield* differences(folder), [])
        yield* run(`ATTACH '${realpathSync(join(folder, "published"))}/crm.duckdb' AS served (READ_ONLY)`)
        const found = yield* rows(
          "SELECT comment, (SELECT text FROM served.main.shown) AS text FROM duckdb_tables() WHERE database_name = 'served' AND schema_name = 'main' AND table_name = 'few'"
        )
        yield* run("DETACH served")
        const expected = `text ${Math.min(n, 1)}`
        assert.deepStrictEqual(found, [{ comment: expected, text: expected }])
      }
    }).pipe(Effect.provide(open(folder)))
  })
})
