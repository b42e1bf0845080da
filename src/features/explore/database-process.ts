/**
 * The process that opens one published file and runs SQL on it. It is a process of its own because DuckDB counts only a part
 * of the memory that a query takes: `repeat('x', 1000000)` for each of 100,000 rows would end the whole program. This one
 * ends itself when it grows too large, and the server starts another.
 */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api"
import { readCatalog } from "./catalog.ts"
import { readDictionary } from "./dictionary.ts"
import { limits } from "./limits.ts"
import type { Answer, DownloadFormat, Request } from "./messages.ts"
import { query } from "./query.ts"
import { SqlError, readableOf } from "./select-only.ts"

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
const running = new Map<number, DuckDBConnection>()

const answer = async (request: Exclude<Request, { readonly kind: "cancel" }>): Promise<unknown> => {
  const connection = await (await opened).connect()
  running.set(request.id, connection)
  try {
    if (request.kind === "catalog") return await readCatalog(connection)
    if (request.kind === "dictionary") return await readDictionary(connection)
    const readable = await readableOf(connection, request.sql)
    if (request.kind === "query") return await query(connection, readable)
    if (readable.isPlan) throw new SqlError("refused", "A plan is shown on the page only.")
    return await writeDownload(connection, readable.query, request.format, request.file)
  } finally {
    running.delete(request.id)
    connection.closeSync()
  }
}

const writeDownload = async (connection: DuckDBConnection, sql: string, format: DownloadFormat, file: string) => {
  const { downloadTo } = await import("./download-file.ts")
  return downloadTo(connection, sql, format, file)
}

process.on("message", (request: Request) => {
  const { id } = request
  if (request.kind === "cancel") return running.get(id)?.interrupt()
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
