/** Models that appear, go, and become tables or views from one release to the next: each release has those of its night. */
import { assert, it } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { Effect } from "effect"
import { join } from "node:path"
import { modelOf } from "../../src/stages/publish/models/model.ts"
import { orderOf } from "../../src/stages/publish/models/order.ts"
import { randomFrom } from "../support/random.ts"
import { newOutput } from "./output.ts"
import { addThings, publishThings, warehouseAt } from "./things.ts"

interface Drawn {
  readonly name: string
  readonly isView: boolean
  readonly value: number
}

const modelsOf = (drawn: ReadonlyArray<Drawn>) =>
  orderOf(
    drawn.map(({ isView, name, value }) =>
      modelOf({
        file: `${name}.sql`,
        text: `SELECT ${value} AS value`,
        isView,
        description: `The ${name}.`,
        columns: { value: { description: "Its value", personalData: "none" } }
      })
    ),
    () => true
  )

/** The models of a release, with their kinds, values and comments. */
const modelsIn = async (output: string) => {
  const instance = await DuckDBInstance.create(join(output, "published", "crm.duckdb"), { access_mode: "READ_ONLY" })
  const connection = await instance.connect()
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  try {
    const found = await read(
      `SELECT table_name, false, comment FROM duckdb_tables() WHERE schema_name = 'bi'
       UNION ALL SELECT view_name, true, comment FROM duckdb_views() WHERE schema_name = 'bi' ORDER BY 1`
    )
    const withValues: Array<unknown> = []
    for (const [name, isView, comment] of found)
      withValues.push([name, isView, comment, (await read(`FROM bi."${String(name)}"`))[0]?.[0]])
    return withValues
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

it.effect("the models of a release are those of its night, whatever they were before", () => {
  const output = newOutput()
  return Effect.gen(function* () {
    const random = randomFrom(4)
    yield* addThings([{ id: "a", name: "of a" }])
    for (let night = 0; night < 5; night++) {
      const drawn = ["one", "three", "two"].flatMap((name): ReadonlyArray<Drawn> =>
        random() < 0.2 ? [] : [{ name, isView: random() < 0.5, value: Math.floor(random() * 3) }]
      )
      const release = yield* publishThings(output, {
        formats: ["duckdb"],
        run: `run-${night}`,
        models: modelsOf(drawn)
      })
      assert.deepStrictEqual(release.problems, [])
      assert.deepStrictEqual(
        yield* Effect.promise(() => modelsIn(output)),
        drawn.map(({ isView, name, value }) => [name, isView, `The ${name}.`, value])
      )
    }
  }).pipe(Effect.provide(warehouseAt(output)))
})
