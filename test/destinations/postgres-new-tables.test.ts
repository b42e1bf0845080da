/** What a PostgreSQL server is asked when it has none of the tables yet; the server is a script. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { loadNew } from "../../src/destinations/postgres/new-tables.ts"
import type { ReleaseTable } from "../../src/destinations/postgres/release-tables.ts"
import { type Server, ServerError } from "../../src/destinations/postgres/server.ts"
import { tableStatements } from "../../src/destinations/postgres/tables.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"

const tableOf = (name: string, rows: number): ReleaseTable => ({
  name,
  schema: "main",
  table: name,
  path: `"crm"."${name}"`,
  comment: "A table",
  columns: [
    { name: "location_id", type: "VARCHAR", as: "location_id", sql: "text", comment: "A column" },
    { name: "id", type: "VARCHAR", as: "id", sql: "text", comment: undefined }
  ],
  duckdbKey: ["location_id", "id"],
  key: ["location_id", "id"],
  indexed: ["id"],
  wide: undefined,
  version: "1",
  rows
})
const isNew = { existing: undefined, own: [], isAlone: true }

/** Loads tables whose rows the warehouse has in memory. `refuses`: a message with this text fails with this code. */
const load = (tables: ReadonlyArray<ReleaseTable>, refuses = { text: "nothing", code: "" }, automatic = true) =>
  Effect.gen(function* () {
    const warehouse = yield* Warehouse
    yield* warehouse.run("ATTACH ':memory:' AS crm")
    for (const { rows, table } of tables)
      yield* warehouse.run(
        `CREATE TABLE crm.main."${table}" AS SELECT 'L' AS location_id, range::VARCHAR AS id FROM range(${rows})`
      )
    const asked: Array<string> = []
    const ask = (text: string) =>
      Effect.suspend(() => {
        asked.push(text)
        return text.includes(refuses.text)
          ? Effect.fail(new ServerError({ code: refuses.code, message: "no" }, []))
          : Effect.void
      })
    const server: Server = {
      run: (statements) => ask(statements.join(";\n")),
      rows: <Row extends object>() => Effect.succeed([{ automatic } as Row]),
      copyFrom: ask,
      copyTo: () => Effect.die("not asked")
    }
    const pairs = tables.map((table) => ({ table, statements: tableStatements(table, isNew) }))
    const loaded = yield* loadNew(server, pairs, `${newFolder()}/rows.csv`)
    return { loaded: [...loaded], asked }
  }).pipe(
    Effect.provide(Warehouse.layer(`${newFolder()}/warehouse.duckdb`, { access: "write", memoryMb: 64 })),
    Effect.scoped
  )

describe("tables that a database does not have", () => {
  it.effect("are made by one message with keys and comments, and need no other one if they have no rows", () =>
    Effect.gen(function* () {
      const tables = Array.from({ length: 100 }, (_, index) => tableOf(`t${index}`, index === 7 ? 3 : 0))
      const { asked, loaded } = yield* load(tables)
      assert.sameMembers(
        loaded,
        tables.map(({ name }) => name)
      )
      const [creation, copy, keys, ...rest] = asked
      assert.lengthOf(creation!.match(/CREATE TABLE/g)!, 100)
      assert.lengthOf(creation!.match(/COMMENT ON COLUMN/g)!, 100)
      assert.lengthOf(creation!.match(/ADD PRIMARY KEY/g)!, 99)
      assert.match(copy!, /^COPY "crm"."t7" /)
      assert.match(keys!, /^ALTER TABLE "crm"."t7" ADD PRIMARY KEY \("id", "location_id"\)/)
      assert.deepStrictEqual(rest, ["RELEASE SAVEPOINT sluice_new"])
    })
  )

  it.effect("leave nothing behind and the others complete if PostgreSQL refuses a value or a key", () =>
    Effect.gen(function* () {
      const tables = [tableOf("a", 1), tableOf("b", 1), tableOf("c", 1)]
      for (const refuses of [
        { text: 'COPY "crm"."b"', code: "22021" },
        { text: 'ALTER TABLE "crm"."b"', code: "23505" }
      ]) {
        const { asked, loaded } = yield* load(tables, refuses)
        assert.deepStrictEqual(loaded, ["a", "c"])
        const after = asked.slice(asked.findIndex((one) => one.startsWith("ROLLBACK")))
        assert.match(after[0]!, /^ROLLBACK TO SAVEPOINT sluice_new;\nRELEASE SAVEPOINT sluice_new$/)
        assert.match(after[1]!, /^DROP TABLE "crm"."b";\nSAVEPOINT sluice_new$/)
      }
      assert.deepStrictEqual((yield* load(tables, { text: "CREATE TABLE", code: "42P07" })).loaded, [])
    })
  )

  it.effect("are not complete when the connection ends", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(load([tableOf("a", 1)], { text: "COPY", code: "08006" }))
      assert.strictEqual((error as ServerError).code, "08006")
    })
  )

  it.effect("are analysed where the server does not do so by itself", () =>
    Effect.gen(function* () {
      const analysed = /ANALYZE "crm"."a"/
      assert.notMatch((yield* load([tableOf("a", 1)])).asked.join("\n"), analysed)
      assert.match((yield* load([tableOf("a", 1)], undefined, false)).asked.join("\n"), analysed)
    })
  )
})
