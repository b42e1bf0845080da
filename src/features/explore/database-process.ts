/**
 * The process that opens one published file and runs SQL on it. It is a process of its own because DuckDB counts only a part
 * of the memory that a query takes: `repeat('x', 1000000)` for each of 100,000 rows would end the whole program. This one
 * ends itself when it grows too large, and the server starts another.
 */
import { type DuckDBConnection, type Json, DuckDBInstance } from "@duckdb/node-api"
import { readCatalog, readDictionary, readTables } from "./catalog.ts"
import { limits } from "./limits.ts"
import { type Numbers, lineageOf, tableOf } from "../../stages/publish/models/lineage.ts"
import type { Answer, QueryResult, Request } from "./messages.ts"
import { type Readable, SqlError, namesIn, readableOf } from "./select-only.ts"

const [path, memoryMb = "", download] = process.argv.slice(2)

// Ctrl-C in a terminal reaches this process too; the server ends it when it has ended its answers.
process.on("SIGINT", () => {})
process.on("SIGTERM", () => {})
process.on("disconnect", () => end())

/** DuckDB may be in the middle of a query, so its own clean-up is not waited for. */
const end = () => process.kill(process.pid, "SIGKILL")

setInterval(() => {
  if (process.memoryUsage.rss() > (Number(memoryMb) + limits.processMb) * 1024 * 1024) end()
}, 50)

const open = async (): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(path!, {
    access_mode: "READ_ONLY",
    memory_limit: `${memoryMb}MB`,
    threads: "2",
    // Nothing is written to disk, so a query that needs more memory fails.
    temp_directory: "",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false"
  })
  const connection = await instance.connect()
  if (download !== undefined) await connection.run(`SET allowed_paths = ['${download.replaceAll("'", "''")}']`)
  await connection.run("SET enable_external_access = false; SET lock_configuration = true")
  connection.closeSync()
  return instance
}

const opened = open()
// The first request reports why the file cannot be opened.
opened.catch(() => {})
interface Running {
  connection?: DuckDBConnection
  isCancelled: boolean
}
const running = new Map<number, Running>()

const answer = async (request: Exclude<Request, { readonly kind: "cancel" }>): Promise<unknown> => {
  const own: Running = { isCancelled: false }
  running.set(request.id, own)
  try {
    const connection = (own.connection = await (await opened).connect())
    // Before it had a connection, there was nothing to interrupt.
    if (own.isCancelled) throw new SqlError("sql", "The query was stopped before it began.")
    if (request.kind === "tables") return await readTables(connection)
    if (request.kind === "catalog") return await readCatalog(connection)
    if (request.kind === "dictionary") return await readDictionary(connection)
    const readable = await readableOf(connection, request.sql)
    if (request.kind === "query") return await query(connection, readable)
    if (readable.isPlan) throw new SqlError("refused", "A plan is shown on the page only.")
    const { downloadTo } = await import("./download-file.ts")
    return await downloadTo(connection, readable.query, request.format, request.file)
  } finally {
    running.delete(request.id)
    own.connection?.closeSync()
  }
}

process.on("message", (request: Request) => {
  const { id } = request
  if (request.kind === "cancel") {
    const cancelled = running.get(id)
    if (cancelled) cancelled.isCancelled = true
    return cancelled?.connection?.interrupt()
  }
  const send = (message: Answer) => process.send!(message)
  answer(request).then(
    (value) => send({ id, value }),
    (cause: unknown) => send({ id, error: errorOf(cause) })
  )
})

const errorOf = (cause: unknown): { readonly code: "refused" | "sql" | "memory"; readonly message: string } => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof SqlError) return { code: cause.code, message }
  if (!message.startsWith("Out of Memory Error")) return { code: "sql", message }
  // DuckDB's own text advises settings that are locked here, and a database in memory, which this is not.
  return {
    code: "memory",
    message: `The query takes more than ${memoryMb} MB of memory, the limit of DuckDB here. Read fewer rows or columns, or raise machine.memory_mb in the settings file.`
  }
}

/** The columns of every table and view of the file, which does not change. */
let relations: Promise<ReadonlyMap<string, ReadonlyArray<string>>> | undefined

/** The tables and views that a query reads, and its parts. */
const partsOf = async (
  connection: DuckDBConnection,
  { parsed }: Readable
): Promise<Pick<QueryResult, "parts" | "tables">> => {
  relations ??= connection
    .runAndReadAll(
      "SELECT schema_name || '.' || table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() WHERE NOT internal GROUP BY ALL ORDER BY ALL"
    )
    .then((found) => new Map(found.getRowsJson() as Array<[string, Array<string>]>))
  const known = await relations
  const { named, read } = namesIn(parsed)
  const tables = Array.from(known.keys()).filter((one) => read.has(one.toLowerCase()))
  const listed = (numbers: Numbers = new Map()) => Array.from(numbers, ([column, by]) => [column, ...by])
  const made = lineageOf(parsed, (schema, table) => {
    const path = `${schema || "main"}.${table}`
    return known.has(path) ? tableOf(path, known.get(path)!) : undefined
  })
  return {
    tables: tables.map((one) => one.replace(/^main\./, "")),
    parts: {
      named,
      made: Object.fromEntries(
        Array.from(made, ([column, { numbers, sums }]) => [column, { numbers: listed(numbers), sums: listed(sums) }])
      )
    }
  }
}

/** Runs a checked text and returns its first rows as text. */
const query = async (connection: DuckDBConnection, readable: Readable): Promise<QueryResult> => {
  const reader = await connection.streamAndReadUntil(readable.run, limits.rows + 1)
  const names = reader.columnNames()
  const types = reader.columnTypes().map(String)
  const rows: Array<ReadonlyArray<string | null>> = []
  let cutCells = 0
  let characters = 0
  const shown = (value: Json): string | null => {
    const text = value === null ? null : typeof value === "object" ? JSON.stringify(value) : String(value)
    if (text === null || text.length <= limits.cellCharacters) return text
    cutCells++
    return `${text.slice(0, limits.cellCharacters)}…`
  }
  const found = reader.getRowsJson()
  for (const row of found.slice(0, limits.rows)) {
    if (characters > limits.answerCharacters) break
    const cells = row.map(shown)
    characters += cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
    rows.push(cells)
  }
  return {
    ...(await partsOf(connection, readable)),
    columns: names.map((name, index) => ({ name, type: types[index]! })),
    rows,
    isCut: found.length > rows.length || !reader.done,
    cutCells
  }
}
