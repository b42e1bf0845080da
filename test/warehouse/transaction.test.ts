/** What a transaction sends to DuckDB, for drawn work: compared with the same statements one after the other. */
import type { DuckDBConnection } from "@duckdb/node-api"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Transaction, runTransaction } from "../../src/stores/warehouse/transaction.ts"
import { randomFrom } from "../support/random.ts"

/** A database that knows what is committed: each statement, or what is between BEGIN and COMMIT. */
const database = (rowsOf: (sql: string) => number) => {
  const committed: Array<string> = []
  let open: Array<string> | undefined
  const run = (sql: string) => {
    const statements = sql.split(";\n")
    for (const statement of statements) {
      if (statement === "BEGIN") open = []
      else if (statement === "COMMIT") {
        committed.push(...(open ?? ["no transaction"]))
        open = undefined
      } else if (open !== undefined) open.push(statement)
      else committed.push(statements.length > 1 ? `alone: ${statement}` : statement)
    }
    return statements.at(-1)!
  }
  const connection = {
    run: async (sql: string) => void run(sql),
    runAndReadAll: async (sql: string) => {
      const rows = rowsOf(run(sql))
      return { value: () => BigInt(rows), currentRowCount: Math.min(rows, 1) }
    }
  }
  return { connection: connection as unknown as DuckDBConnection, committed, isOpen: () => open !== undefined }
}

it.effect("a transaction commits all of its statements at once, in their order, and answers what each has found", () =>
  Effect.gen(function* () {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomFrom(seed)
      const below = (n: number) => Math.floor(random() * n)
      const rowsOf = (sql: string) => sql.length % 3
      const { committed, connection, isOpen } = database(rowsOf)
      const expected: Array<string> = []
      const work = Effect.fnUntraced(function* (tx: Transaction) {
        for (let step = below(4); step > 0; step--) {
          const kind = below(4)
          const sql = `${"x".repeat(below(4))}${step}`
          if (kind === 0) {
            assert.strictEqual(yield* tx.write(`write ${sql}`), rowsOf(`write ${sql}`))
            expected.push(`write ${sql}`)
          } else if (kind === 1) {
            expected.push(`SELECT 1 FROM ${sql} LIMIT 1`)
            assert.strictEqual(yield* tx.isAny(sql), rowsOf(expected.at(-1)!) > 0)
          } else {
            // A statement may be several, which belong together as well.
            const given = Array.from({ length: below(3) }, (_, n) => [
              `run ${sql} ${n}`,
              ...(kind === 3 ? [`and ${n}`] : [])
            ])
            tx.run(...given.map((texts) => texts.join(";\n")))
            expected.push(...given.flat())
          }
        }
      })
      yield* runTransaction(connection, work, (run) => Effect.promise(run))
      assert.deepStrictEqual(committed, expected, `seed ${seed}`)
      assert.isFalse(isOpen(), `seed ${seed}`)
    }
  })
)
