/**
 * Which SQL may run. DuckDB itself refuses changes of a file that is opened read-only, and every other file; but a SELECT
 * can call functions that configure DuckDB: `enable_logging(storage_path := …)` makes every later statement fail, and can
 * end the process. So the text must be one SELECT, and its table functions must be known to be harmless.
 */
import type { DuckDBConnection } from "@duckdb/node-api"
import { selected } from "../../stores/warehouse/sql.ts"

/** Why a text does not run, in words for its author. */
export class SqlError extends Error {
  readonly code: "refused" | "sql"
  constructor(code: "refused" | "sql", message: string) {
    super(message)
    this.code = code
  }
}

/** The text that runs for the text of an author: one SELECT, or the plan of one. */
export interface Readable {
  readonly run: string
  /** The query itself, also where its plan is run. */
  readonly query: string
  readonly isPlan: boolean
  /** What DuckDB's parser makes of it, with names in small letters. */
  readonly parsed: Parsed
}

const space = String.raw`(?:\s|--[^\n]*(?:\n|$)|/\*[\s\S]*?\*/)`
const planWords = new RegExp(`^(${space}*)(explain)\\b(?:(${space}+)(analyze)\\b)?`, "i")

/** Fails with an SqlError unless the text only reads. */
export const readableOf = async (connection: DuckDBConnection, sql: string): Promise<Readable> => {
  const [words = "", before = "", explain = "", between = "", analyze = ""] = planWords.exec(sql) ?? []
  const rest = sql.slice(words.length)
  // Spaces keep the place of an error. With ANALYZE, DuckDB runs the query too.
  const query = blank(words) + rest
  const parsed = await checkedSelect(connection, query)
  // Without the comments, whose ends DuckDB may see elsewhere: what runs is the two words and what was checked.
  return {
    run: blank(before) + explain + blank(between) + analyze + rest,
    query,
    isPlan: words !== "",
    parsed
  }
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ")

/** Fails with an SqlError unless the text is one SELECT that cannot configure DuckDB. */
const checkedSelect = async (connection: DuckDBConnection, sql: string): Promise<Parsed> => {
  const [[text]] = (await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [sql])).getRows() as [
    [string]
  ]
  const parsed = selected<Serialized>(text, inSmallLetters)
  // DuckDB's own message for the text shows the line.
  if (parsed.error && parsed.error_type === "parser") await connection.prepare(sql)
  if (parsed.error)
    throw new SqlError(
      "refused",
      "Only SELECT, FROM, PIVOT, UNPIVOT, DESCRIBE, SHOW, SUMMARIZE and EXPLAIN of one of them run here. A PIVOT names its values: ON column IN ('…', '…')."
    )
  const { statements } = parsed
  if (statements.length !== 1)
    throw new SqlError(
      "refused",
      statements.length === 0
        ? "There is no query to run."
        : `Run one statement at a time: there are ${statements.length}.`
    )
  const refused = functionsIn(statements, "FUNCTION").find((name) => changing.has(name))
  if (refused !== undefined) throw new SqlError("refused", `The function ${refused} cannot be used here.`)
  const called = functionsIn(statements, "TABLE_FUNCTION")
  if (called.length === 0) return parsed
  const macros = await connection.runAndReadAll(
    "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table_macro' AND NOT internal"
  )
  const known = new Set([...harmless, ...macros.getRows().map(([name]) => String(name))])
  const unknown = called.find((name) => !known.has(name))
  if (unknown !== undefined) throw new SqlError("refused", `The table function ${unknown} cannot be used here.`)
  return parsed
}

interface Parsed {
  readonly error: false
  readonly statements: ReadonlyArray<unknown>
}
type Serialized = Parsed | { readonly error: true; readonly error_type: string }

/** DuckDB finds a name in whatever letters. */
const inSmallLetters = (key: string, value: unknown): unknown => {
  if (!/(^alias|_names?|_alias)$/.test(key)) return value
  const small = (one: unknown) => (typeof one === "string" ? one.toLowerCase() : one)
  return Array.isArray(value) ? value.map(small) : small(value)
}

/** Functions of a value that write. */
const changing: ReadonlySet<string> = new Set(["write_log", "nextval", "setseed"])

/** Table functions that read nothing but their arguments and the catalog. */
const harmless: ReadonlyArray<string> = [
  "range",
  "generate_series",
  "unnest",
  "repeat",
  "repeat_row",
  "json_each",
  "json_tree",
  "duckdb_columns",
  "duckdb_constraints",
  "duckdb_databases",
  "duckdb_functions",
  "duckdb_keywords",
  "duckdb_schemas",
  "duckdb_settings",
  "duckdb_tables",
  "duckdb_types",
  "duckdb_views",
  "pragma_table_info",
  "pragma_version"
]

/** What a node of a parsed statement may have. */
interface Node {
  readonly type?: unknown
  readonly function_name?: string
  readonly function?: { readonly function_name?: string }
  readonly column_names?: ReadonlyArray<string>
  readonly schema_name?: string
  readonly table_name?: string
}

/** Without recursion, because a text can nest thousands of expressions. */
function* nodesIn(statements: ReadonlyArray<unknown>): Generator<Node> {
  const left: Array<unknown> = [...statements]
  for (let node = left.pop(); left.length > 0 || node !== undefined; node = left.pop()) {
    if (typeof node !== "object" || node === null) continue
    yield node
    for (const value of Object.values(node)) if (typeof value === "object" && value !== null) left.push(value)
  }
}

const functionsIn = (statements: ReadonlyArray<unknown>, type: "FUNCTION" | "TABLE_FUNCTION") =>
  Array.from(nodesIn(statements)).flatMap((node) => {
    const called = type === "FUNCTION" ? node : node.function
    return node.type === type && called?.function_name !== undefined ? [called.function_name] : []
  })

/** The tables and views, of which DuckDB's own list has no views, and the columns that a query names. */
export const namesIn = ({ statements }: Parsed) => {
  const nodes = Array.from(nodesIn(statements))
  return {
    read: new Set(
      nodes.flatMap(({ schema_name: schema, table_name: table }) => (table ? `${schema || "main"}.${table}` : []))
    ),
    named: [...new Set(nodes.flatMap(({ column_names: names }) => names?.at(-1) ?? []))]
  }
}
