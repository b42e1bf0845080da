/** One published file, opened in a process of its own that is started again if it ends. */
import { type ChildProcess, fork } from "node:child_process"
import { limits } from "./limits.ts"
import type { Answer, CatalogTable, NamedTable, Dictionary, DownloadFormat, QueryResult, Request } from "./messages.ts"
import { moduleFile } from "../../values/installation.ts"

/** `ended`: another query did not stop, so the process of all was ended. */
export type DatabaseErrorCode = "refused" | "sql" | "memory" | "time" | "stopped" | "failed" | "ended"

/** Why a query has no result, in words for its author. */
export class DatabaseError extends Error {
  readonly code: DatabaseErrorCode
  constructor(code: DatabaseErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

type Unnumbered = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never

interface Waiting {
  readonly done: (value: unknown) => void
  readonly failed: (error: DatabaseError) => void
}

export interface DatabaseOptions {
  readonly path: string
  readonly memoryMb: number
  /** How long a query may take; by default the limit of limits.ts. */
  readonly queryMs?: number
}

export class Database {
  readonly #options: DatabaseOptions
  #process: ChildProcess | undefined
  #waiting = new Map<number, Waiting>()
  #lastId = 0
  #isClosing = false
  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  tables(signal: AbortSignal): Promise<ReadonlyArray<NamedTable>> {
    return this.#request<ReadonlyArray<NamedTable>>({ kind: "tables" }, signal, limits.queryMs)
  }

  catalog(signal: AbortSignal): Promise<ReadonlyArray<CatalogTable>> {
    return this.#request<ReadonlyArray<CatalogTable>>({ kind: "catalog" }, signal, limits.queryMs)
  }

  dictionary(signal: AbortSignal): Promise<Dictionary> {
    return this.#request<Dictionary>({ kind: "dictionary" }, signal, limits.queryMs)
  }

  query(sql: string, signal: AbortSignal): Promise<QueryResult> {
    return this.#request<QueryResult>({ kind: "query", sql }, signal, this.#options.queryMs ?? limits.queryMs)
  }

  /** Ends the process once its queries have ended. */
  close(): void {
    this.#isClosing = true
    if (this.#waiting.size === 0) this.#process?.kill("SIGKILL")
  }

  async #request<A>(request: Unnumbered, signal: AbortSignal, ms: number, attemptsLeft = 3): Promise<A> {
    const child = (this.#process ??= this.#start())
    try {
      return await requestOf<A>(child, this.#waiting, { ...request, id: ++this.#lastId } as Request, signal, ms)
    } catch (cause) {
      const isOther = cause instanceof DatabaseError && cause.code === "ended"
      if (!isOther || this.#isClosing || signal.aborted || attemptsLeft === 0) throw cause
      return await this.#request<A>(request, signal, ms, attemptsLeft - 1)
    } finally {
      if (this.#isClosing) this.close()
    }
  }

  #start(): ChildProcess {
    const waiting = (this.#waiting = new Map<number, Waiting>())
    const child = startProcess(this.#options, waiting)
    child.once("exit", () => {
      if (this.#process === child) this.#process = undefined
    })
    return child
  }
}

/** Writes all rows of a query to `file`, in a process of its own, which may write that file only. Returns their number. */
export const download = async (
  options: DatabaseOptions,
  { sql, format, file }: { readonly sql: string; readonly format: DownloadFormat; readonly file: string },
  signal: AbortSignal
): Promise<number> => {
  const waiting = new Map<number, Waiting>()
  const child = startProcess(options, waiting, format === "xlsx" ? [] : [file])
  try {
    return await requestOf(child, waiting, { id: 1, kind: "download", sql, format, file }, signal, limits.downloadMs, 0)
  } finally {
    child.kill("SIGKILL")
  }
}

const startProcess = (
  { path, memoryMb }: DatabaseOptions,
  waiting: Map<number, Waiting>,
  more: ReadonlyArray<string> = []
): ChildProcess => {
  // In a package, its files are JavaScript.
  const program = moduleFile("features/explore/database-process")
  const child = fork(program, [path, String(memoryMb), ...more], {
    execArgv: ["--max-old-space-size=1024"],
    // None of the secrets of this process; and timestamps are shown in UTC.
    env: { TZ: "UTC", ...pick(["MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "NODE_COMPILE_CACHE"]) },
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  child.on("message", (answer: Answer) => {
    const one = waiting.get(answer.id)
    if ("value" in answer) one?.done(answer.value)
    else one?.failed(new DatabaseError(answer.error.code, answer.error.message))
  })
  const ended = (error: DatabaseError) => {
    for (const { failed } of waiting.values()) failed(error)
  }
  child.once("error", (cause) => ended(new DatabaseError("failed", cause.message)))
  child.once("exit", (code, signal) =>
    ended(
      child.killed
        ? new DatabaseError("ended", "The process of the queries was ended. Run the query again.")
        : signal === "SIGKILL"
          ? new DatabaseError(
              "memory",
              `The query takes more than ${memoryMb + limits.processMb} MB of memory. Read fewer rows or columns.`
            )
          : new DatabaseError("failed", `DuckDB ended unexpectedly (${signal ?? `exit code ${code}`}).`)
    )
  )
  return child
}

/** A query that does not stop when it is interrupted, for example inside one function call, is ended with its process. */
const graceMsOfQueries = 3000

const requestOf = <A>(
  child: ChildProcess,
  waiting: Map<number, Waiting>,
  request: Request,
  stopped: AbortSignal,
  ms: number,
  graceMs: number = graceMsOfQueries
): Promise<A> =>
  new Promise<A>((resolve, reject) => {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(ms)])
    let kill: NodeJS.Timeout | undefined
    const stop = () => {
      child.send({ id: request.id, kind: "cancel" } satisfies Request, () => {})
      kill = setTimeout(() => child.kill("SIGKILL"), graceMs)
    }
    const end = () => {
      clearTimeout(kill)
      signal.removeEventListener("abort", stop)
      waiting.delete(request.id)
    }
    waiting.set(request.id, {
      done: (value) => {
        end()
        resolve(value as A) // The process answers each kind of request with its type.
      },
      failed: (error) => {
        end()
        if (stopped.aborted) reject(new DatabaseError("stopped", "The query was stopped."))
        else if (signal.aborted) reject(new DatabaseError("time", `The query took longer than ${ms / 1000} seconds.`))
        else reject(error)
      }
    })
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
    child.send(request, (cause) => {
      if (cause) waiting.get(request.id)?.failed(new DatabaseError("failed", cause.message))
    })
  })

const pick = (names: ReadonlyArray<string>): NodeJS.ProcessEnv =>
  Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/**
 * Runs at most `max` functions at once, and refuses others. `signal` aborts its function; one that was aborted and has not
 * ended yet is waited for, because the reader who stopped it usually asks for the next at once.
 */
export const slots = (max: number) => {
  const running = new Set<{ readonly signal: AbortSignal; readonly end: Promise<unknown> }>()
  return async <A>(signal: AbortSignal, run: () => Promise<A>): Promise<A> => {
    while (running.size >= max) {
      const ending = [...running].filter(({ signal }) => signal.aborted).map(({ end }) => end)
      if (ending.length === 0)
        throw new DatabaseError("failed", `${max} queries are running. Stop one, or wait for its end.`)
      await Promise.race(ending)
    }
    const result = run()
    const own = { signal, end: result.catch(() => {}).finally(() => running.delete(own)) }
    running.add(own)
    return result
  }
}
