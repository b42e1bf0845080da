/**
 * A PIVOT that does not name its values makes DuckDB create a type for them, so it is not one SELECT. It becomes one when the
 * values are read first, by a query that is checked like every other, and then named.
 */
import type { DuckDBConnection } from "@duckdb/node-api"
import { literal } from "../../stores/warehouse/sql.ts"
import { SqlError, checkSelect } from "./select-only.ts"
import { type Token, isWord, tokensOf } from "./tokens.ts"

const valuesMax = 500

/** The text with the values that it pivots on; the same text if it is not such a PIVOT. */
export const withPivotValues = async (connection: DuckDBConnection, sql: string): Promise<string> => {
  const found = pivotIn(sql)
  if (found === undefined) return sql
  let named = ""
  let end = 0
  for (const { from, to, isNamed } of found.items) {
    if (isNamed) continue
    const expression = sql.slice(from, to)
    const values = await valuesOf(connection, found.before, found.source, expression)
    named += `${sql.slice(end, from)}${/^\w+$/.test(expression) ? expression : `(${expression})`} IN (${values.map(literal).join(", ")})`
    end = to
  }
  return named + sql.slice(end)
}

const valuesOf = async (connection: DuckDBConnection, before: string, source: string, expression: string) => {
  const sql = `${before}SELECT value::VARCHAR FROM (SELECT DISTINCT (${expression}) AS value FROM ${source}) WHERE value IS NOT NULL ORDER BY value LIMIT ${valuesMax + 1}`
  await checkSelect(connection, sql)
  const values = (await connection.runAndReadAll(sql)).getRows().map(([value]) => String(value))
  const named = `ON ${expression} IN ('…', '…')`
  if (values.length === 0)
    throw new SqlError("refused", `${expression} has no values to pivot on. Name them: ${named}.`)
  if (values.length > valuesMax)
    throw new SqlError(
      "refused",
      `${expression} has more than ${valuesMax} values. Name those that you need: ${named}.`
    )
  return values
}

interface Item {
  readonly from: number
  readonly to: number
  /** Whether the text names its values. */
  readonly isNamed: boolean
}

/** The outermost PIVOT: what stands before it, what it pivots, and what it pivots on. */
const pivotIn = (sql: string) => {
  const tokens = tokensOf(sql)
  const start = tokens.findIndex((token) => isWord(token, "pivot", "pivot_wider"))
  if (start < 0 || (start > 0 && !isWord(tokens[0]!, "with"))) return undefined
  const rest = tokens.slice(start + 1)
  const after = rest.findIndex((token) => isWord(token, "using", "group", "order", "limit", "offset", ";"))
  const clause = after < 0 ? rest : rest.slice(0, after)
  // A join of what is pivoted has its own ON.
  const on = clause.findLastIndex((token) => isWord(token, "on"))
  const items = on < 1 ? [] : itemsOf(clause.slice(on + 1))
  return items.length === 0
    ? undefined
    : { before: sql.slice(0, tokens[start]!.from), source: sql.slice(clause[0]!.from, clause[on - 1]!.to), items }
}

const itemsOf = (tokens: ReadonlyArray<Token>): ReadonlyArray<Item> => {
  const items: Array<Array<Token>> = [[]]
  for (const token of tokens)
    if (isWord(token, ",")) items.push([])
    else items.at(-1)!.push(token)
  return items.flatMap((item) =>
    item.length === 0
      ? []
      : [{ from: item[0]!.from, to: item.at(-1)!.to, isNamed: item.some((token) => isWord(token, "in")) }]
  )
}
