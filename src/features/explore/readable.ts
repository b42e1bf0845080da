/** The text that runs for the text of an author: one SELECT, a PIVOT with its values, or the plan of one of them. */
import type { DuckDBConnection } from "@duckdb/node-api"
import { withPivotValues } from "./pivot.ts"
import { checkSelect } from "./select-only.ts"
import { isWord, tokensOf } from "./tokens.ts"

export interface Readable {
  readonly run: string
  /** The query itself, also where its plan is run. */
  readonly query: string
  readonly isPlan: boolean
}

/** Fails with an SqlError unless the text only reads. */
export const readableOf = async (connection: DuckDBConnection, sql: string): Promise<Readable> => {
  const { words, end } = planWords(sql)
  // Spaces keep the place of an error.
  const query = await withPivotValues(connection, words.replaceAll(/\S/g, " ") + sql.slice(end))
  await checkSelect(connection, query)
  // With ANALYZE, DuckDB runs the query too.
  return { run: words + query.slice(end), query, isPlan: end > 0 }
}

/** The words that ask for a plan, without comments between them, and where they end. */
const planWords = (sql: string) => {
  const [first, second] = tokensOf(sql)
  if (first === undefined || !isWord(first, "explain")) return { words: "", end: 0 }
  const tokens = second && isWord(second, "analyze") ? [first, second] : [first]
  let words = ""
  for (const { text, from } of tokens) words += sql.slice(words.length, from).replaceAll(/[^\n]/g, " ") + text
  return { words, end: words.length }
}
