/** A transaction as its work sees it: statements are gathered until one asks for a count, since each call of DuckDB takes time. */
import type { DuckDBConnection } from "@duckdb/node-api"
import * as Effect from "effect/Effect"
import type { Failure } from "../../values/failure.ts"

export interface Transaction {
  /** Adds statements, which run before the next one that returns something, or at the end. */
  readonly run: (...statements: ReadonlyArray<string>) => void
  /** Runs a statement, and returns the number of rows that it wrote. */
  readonly write: (sql: string) => Effect.Effect<number, Failure>
  /** Whether a relation has rows. Most of the cost of a small batch would be planning statements that find none. */
  readonly isAny: (relation: string) => Effect.Effect<boolean, Failure>
}

/** Uses nothing else of the warehouse, which waits for its end, and may run again from the beginning. */
export type TransactionWork = (tx: Transaction) => Effect.Effect<unknown, Failure>

type Attempt = <A>(run: () => Promise<A>) => Effect.Effect<A, Failure>

/** Runs the work to its commit; whoever calls it rolls back what fails. */
export const runTransaction = Effect.fnUntraced(function* (
  connection: DuckDBConnection,
  work: TransactionWork,
  attempt: Attempt
) {
  const waiting = ["BEGIN"]
  const read = (sql: string) => attempt(() => connection.runAndReadAll([...waiting.splice(0), sql].join(";\n")))
  yield* work({
    run: (...statements) => void waiting.push(...statements),
    write: (sql) => Effect.map(read(sql), (result) => Number(result.value(0, 0))),
    isAny: (relation) => Effect.map(read(`SELECT 1 FROM ${relation} LIMIT 1`), (rows) => rows.currentRowCount > 0)
  })
  // One statement needs no transaction, and none at all needs nothing.
  const [first, only, ...others] = waiting
  const isOne = first === "BEGIN" && others.length === 0 && !only?.includes(";\n")
  const last = isOne ? waiting.slice(1) : [...waiting, "COMMIT"]
  if (last.length > 0) yield* attempt(() => connection.run(last.join(";\n")))
})
