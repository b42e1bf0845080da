/** A connection to PostgreSQL: statements, and COPY from and into files. Its errors are failures without secrets. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { createReadStream, createWriteStream, readFileSync } from "node:fs"
import { Socket } from "node:net"
import { finished, pipeline } from "node:stream/promises"
import { Client } from "pg"
import { from, to } from "pg-copy-streams"
import { type PostgresAccess, reaching } from "./address.ts"
import { type PostgresDestination, percentProblem } from "./settings.ts"
import { type Failure, failure } from "../../values/failure.ts"

export interface Server {
  readonly rows: <Row extends object>(
    sql: string,
    parameters?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, ServerError>
  /** Several statements, without parameters. */
  readonly run: (statements: ReadonlyArray<string>) => Effect.Effect<void, ServerError>
  /** `statement`: COPY … FROM STDIN. `size`: of the file. */
  readonly copyFrom: (statement: string, file: string, size: number) => Effect.Effect<void, ServerError>
  /** `statement`: COPY … TO STDOUT. */
  readonly copyTo: (statement: string, file: string) => Effect.Effect<void, ServerError>
}

export class ServerError {
  readonly _tag = "ServerError"
  /** SQLSTATE, or the code of the system's error. */
  readonly code: string
  readonly detail: string
  constructor(cause: unknown, secrets: ReadonlyArray<string>) {
    const {
      code = "",
      detail,
      message
    } = cause as {
      readonly code?: string
      readonly message?: string
      readonly detail?: string
    }
    const text = [message || code || String(cause), detail].filter(Boolean).join("; ")
    this.code = code
    this.detail = secrets.reduce((shown, secret) => shown.replaceAll(secret, "…"), text)
  }
}

/** A small file costs more as a stream than to be read. */
const atOnceMax = 1 << 18
const connectMs = 10_000
/** Another output folder may be loading into the same schema. */
const folderLockMs = 60_000
/** While a change of a table waits for a reader that has it locked, all other readers of the table wait behind it. */
const tableLockMs = 2_000
/** A server or network that gives no answer for so long is given up. Nothing that sluice asks for takes as long. */
const silentMs = 30 * 60_000

export const connect = Effect.fn("postgres.connect")(function* ({
  url
}: Pick<PostgresDestination, "url">): Effect.fn.Return<Server, ServerError, Scope.Scope> {
  const read = url.read()
  if (Result.isFailure(read)) return yield* Effect.fail(new ServerError(new Error(read.failure.what.cause), []))
  const connectionString = Redacted.value(read.success)
  const unreadable = percentProblem(connectionString)
  if (unreadable !== undefined)
    return yield* Effect.fail(new ServerError({ message: `publish.postgres: ${unreadable}`, code: "ERR_ADDRESS" }, []))
  const secrets = passwordsIn(connectionString)
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => new ServerError(cause, secrets) })
  const client = yield* Effect.acquireRelease(
    attempt(() => reaching(connectionString, opened)),
    // The server rolls back what was not committed. A statement that still runs is not waited for.
    (client) => Effect.sync(() => client.connection.stream.destroy())
  )
  return {
    rows: <Row extends object>(sql: string, parameters: ReadonlyArray<unknown> = []) =>
      attempt(async () => (await client.query(sql, [...parameters])).rows as ReadonlyArray<Row>),
    run: (statements) =>
      statements.length === 0 ? Effect.void : attempt(async () => void (await client.query(statements.join(";\n")))),
    copyFrom: (statement, file, size) =>
      attempt(() => {
        const rows = client.query(from(statement))
        if (size > atOnceMax) return pipeline(createReadStream(file, { highWaterMark: 1 << 17 }), rows)
        const { connection } = client
        // What the library writes in parts then is one packet.
        connection.prependOnceListener("copyInResponse", () => {
          connection.stream.cork()
          setImmediate(() => connection.stream.uncork())
        })
        return finished(rows.end(readFileSync(file)))
      }),
    copyTo: (statement, file) =>
      attempt(() => pipeline(client.query(to(statement)), createWriteStream(file, { mode: 0o600 })))
  }
})

const opened = async (access: PostgresAccess): Promise<Client> => {
  const client = new Client({
    ...access,
    application_name: "sluice",
    connectionTimeoutMillis: connectMs,
    keepAlive: true
  })
  // Statements report the end of the connection; without a listener, it would end the process.
  client.on("error", () => {})
  await client.connect()
  const { stream } = client.connection
  if (stream instanceof Socket) stream.setTimeout(silentMs, () => stream.destroy())
  return client
}

const passwordsIn = (connection: string): ReadonlyArray<string> => {
  const found = URL.canParse(connection) ? new URL(connection).password : /password=(\S+)/.exec(connection)?.[1]
  return found ? [connection, found, decodeURIComponent(found)] : [connection]
}

/**
 * What each transaction sets for itself. Nothing is set for the connection, and a pooler may give each transaction another one.
 * Limits of the server or the user would end a long load.
 */
const beginning = (mode: string): ReadonlyArray<string> => [
  `BEGIN ${mode}`,
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL DateStyle = 'ISO'",
  "SET LOCAL IntervalStyle = 'postgres'",
  "SET LOCAL standard_conforming_strings = on",
  "SET LOCAL statement_timeout = 0",
  "SET LOCAL idle_in_transaction_session_timeout = 0",
  `SET LOCAL lock_timeout = ${folderLockMs}`
]

/** Nothing waits longer for a table from here on in the transaction. */
export const limitTableLocks = ({ run }: Server) => run([`SET LOCAL lock_timeout = ${tableLockMs}`])

/** All or nothing; a program that reads sees the state before or the one after. */
export const transaction = <A, E, R>(server: Server, use: Effect.Effect<A, E, R>, mode = "") =>
  server.run(beginning(mode)).pipe(
    Effect.andThen(use),
    Effect.tap(() => server.run(["COMMIT"])),
    Effect.tapError(() => Effect.ignore(server.run(["ROLLBACK"])))
  )

/** The server is starting or restarting, or another transaction was in the way. */
export const isTemporary = ({ code }: ServerError): boolean =>
  /^(08...|57P0[123]|53300|40001|40P01|55P03|ECONNRE(FUSED|SET)|EPIPE|ETIMEDOUT|EAI_AGAIN)$/.test(code) || code === ""

/** Repeats what failed for a reason that passes: four times within about 8 seconds. */
export const patiently = <A, R>(target: string, work: Effect.Effect<A, ServerError | Failure, R>) =>
  work.pipe(
    Effect.retry({
      schedule: Schedule.jittered(Schedule.exponential("500 millis")),
      times: 4,
      while: (error) => error._tag === "ServerError" && isTemporary(error)
    }),
    Effect.mapError((error) =>
      error._tag === "ServerError" ? failure({ _tag: "DestinationFailed", target, detail: error.detail }) : error
    )
  )
