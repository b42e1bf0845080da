/** What every format of files promises, for each that there is. */
import { Limits, limitsOf } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Writable } from "node:stream"
import { rowsOfTable } from "../../src/stages/publish/put.ts"
import { formatNames, loadFormat } from "../../src/stores/formats/formats.ts"
import { writeToPipe } from "../../src/stores/formats/pipe.ts"
import { storedTables } from "../../src/stores/warehouse/columns.ts"
import { contentOf } from "../support/content.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { rangesOf, storedOrder } from "../../src/stores/warehouse/parts.ts"
import { newOutput } from "./output.ts"
import {
  addManyThings,
  addThings,
  nastyTexts,
  publishThings,
  replaceThings,
  things,
  typedThing,
  warehouseAt
} from "./things.ts"

const typed = { ...typedThing, data: '{"a": [1, "zwei"], "b": null}' }
const fill = Effect.gen(function* () {
  yield* addManyThings(41_000)
  yield* addThings([...nastyTexts.map((note, index) => ({ id: `n${index}`, name: "nasty", note })), typed])
})

describe.each(formatNames)("%s", { tags: ["slow"] }, (name) => {
  it.effect("writes all rows, and a pipe receives the bytes of the file", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* fill
      const format = yield* loadFormat(name)
      const stored = yield* storedTables
      const rows = rowsOfTable(things, stored)
      const path = join(output, format.fileOf("things"))
      mkdirSync(dirname(path), { recursive: true })
      assert.strictEqual(yield* storedOrder(format.write(rows, path)), 41_001 + nastyTexts.length)

      const pieces: Array<Buffer> = []
      const out = new Writable({
        write: (piece: Buffer, _, done) => {
          pieces.push(piece)
          done()
        }
      })
      const parts = yield* Effect.provideService(rangesOf(rows.from), Limits, limitsOf({ pipe: { partRows: 7000 } }))
      assert.isAbove(parts.length, 5)
      yield* writeToPipe({ table: "things", parts, columns: rows.columns }, format, out)
      if (format.writePart) assert.isTrue(Buffer.concat(pieces).equals(readFileSync(path)), "the pipe has other bytes")

      if (!format.reading) return
      const { areTexts, from, problem } = format.reading
      const names = rows.columns.map((column) => column.name)
      assert.deepStrictEqual(
        yield* contentOf(from([path], names), rows.columns, areTexts),
        yield* contentOf(rows.from, rows.columns)
      )
      assert.strictEqual(problem && (yield* problem(path, names)), undefined)
      if (problem) assert.isDefined(yield* problem(path, names.toReversed()))
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("updates its file to the rows that a new one has", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      const format = yield* loadFormat(name)
      yield* fill
      yield* publishThings(output, { formats: ["duckdb", name] })
      yield* replaceThings(["id7", "id40999", "n3", "new"], "changed")
      yield* publishThings(output, { formats: ["duckdb", name], run: "run-2" })
      yield* publishThings(join(output, "anew"), { formats: ["duckdb", name], full: true })
      const [updated, anew] = [output, join(output, "anew")].map((folder) =>
        join(folder, "published", name, format.fileOf("things"))
      ) as [string, string]
      if (format.reading) {
        const { columns } = (yield* storedTables).get(`crm."things"`)!
        const content = (path: string) => {
          const { areTexts, from } = format.reading!
          const names = columns.map((column) => column.name)
          return contentOf(from([path], names), columns, areTexts)
        }
        assert.deepStrictEqual(yield* content(updated), yield* content(anew))
      } else
        assert.deepStrictEqual(
          readFileSync(updated, "utf8").split("\n").sort(),
          readFileSync(anew, "utf8").split("\n").sort()
        )
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})

describe("JSON Lines", () => {
  it.effect("have the values of each row, as a reader that knows JSON alone reads them", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([...nastyTexts.map((note, index) => ({ id: `n${index}`, name: "nasty", note })), typed])
      yield* publishThings(output, { formats: ["ndjson"] })
      const text = readFileSync(join(output, "published/ndjson/things.ndjson"), "utf8")
      assert.isTrue(text.endsWith("}\n"))
      const lines = text.trimEnd().split("\n")
      const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepStrictEqual(
        rows.slice(0, nastyTexts.length).map(({ note }) => note),
        nastyTexts
      )
      assert.include(lines.at(-1), '"visits":-9007199254740993')
      assert.include(lines.at(-1), '"amount":-12345678901234.5678000')
      const { active, data, day, happened_at, note } = rows.at(-1)!
      assert.deepStrictEqual(
        { active, data, day, happened_at, note },
        {
          active: true,
          data: { a: [1, "zwei"], b: null },
          day: "2026-02-28",
          happened_at: "2026-01-01T00:00:00.123Z",
          note: null
        }
      )
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("of a table without rows are an empty file", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([])
      yield* publishThings(output, { formats: ["ndjson"] })
      assert.strictEqual(readFileSync(join(output, "published/ndjson/things.ndjson"), "utf8"), "")
      assert.deepStrictEqual(yield* (yield* Warehouse).rows("SELECT count(*)::INT AS n FROM crm.things"), [{ n: 0 }])
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})
