/** PostgreSQL, as the fleet uses it: statements with parameters, in the schema `sluice_fleet`. */
import { PgClient } from "@effect/sql-pg"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { createTables } from "./tables.ts"

/** What PostgreSQL or the connection reported; never the address, which may contain a password. */
export class DatabaseError extends Schema.TaggedError<DatabaseError>()("DatabaseError", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

type Parameter = string | number | boolean | null

export class Database extends Context.Service<
  Database,
  {
    readonly query: <Row extends object>(
      sql: string,
      ...parameters: ReadonlyArray<Parameter>
    ) => Effect.Effect<ReadonlyArray<Row>, DatabaseError>
  }
>()("sluice/fleet/Database") {}

export const query = <Row extends object>(sql: string, ...parameters: ReadonlyArray<Parameter>) =>
  Effect.flatMap(Database, ({ query }) => query<Row>(sql, ...parameters))

export const databaseLayer = (url: Redacted.Redacted, connectionsMax: number) =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Effect.mapError(sql.withTransaction(sql.unsafe(createTables)), databaseError)
      return Database.of({
        query: (text, ...parameters) =>
          inTime(Effect.mapError(sql.unsafe(text, parameters), databaseError)) as Effect.Effect<never, DatabaseError>
      })
    })
  ).pipe(
    Layer.provideMerge(
      PgClient.layer({
        url,
        applicationName: "sluice",
        maxConnections: connectionsMax,
        connectTimeout: "5 seconds",
        startupParameters: { search_path: "sluice_fleet" }
      }).pipe(
        Layer.catchCause((cause) => Layer.effect(SqlClient.SqlClient, Effect.failCause(cause))),
        withDetail
      )
    )
  )

const channel = "sluice_fleet"

/** Says to workers without work that a run may wait. They also look from time to time, so nothing is lost with it. */
export const wakeWorkers = Effect.ignore(query("SELECT pg_notify($1, '')", channel))

/** Runs the effect whenever that is said, and when this begins to listen, because it may have been said before. */
export const onWake = (act: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const notifications = yield* (yield* PgClient.PgClient).listen(channel)
    for (;;) {
      yield* act
      yield* Queue.takeAll(notifications)
    }
  }).pipe(Effect.scoped, Effect.retry(Schedule.spaced("1 second")), Effect.orDie)

const withDetail = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, DatabaseError, R> =>
  Layer.catch(layer, (error) => Layer.effectContext(Effect.fail(databaseError(error))))

const answerMs = 5000

/**
 * After a restart of the server, a statement on an old connection may never be answered, and cannot be interrupted either:
 * it is left to itself.
 */
const inTime = <A>(statement: Effect.Effect<A, DatabaseError>): Effect.Effect<A, DatabaseError> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(statement, { startImmediately: true })
    return yield* Fiber.join(fiber).pipe(
      Effect.timeoutOrElse({
        duration: answerMs,
        orElse: () => Effect.fail(new DatabaseError({ detail: `no answer within ${answerMs / 1000} seconds` }))
      }),
      Effect.ensuring(Effect.forkDetach(Fiber.interrupt(fiber)))
    )
  })

/** A restart of PostgreSQL takes seconds, and no run fails because of it. */
export const patiently = <A, R>(statement: Effect.Effect<A, DatabaseError, R>): Effect.Effect<A, never, R> =>
  statement.pipe(
    Effect.tapError(({ detail }) =>
      Effect.annotateLogs(Effect.logWarning("a statement failed and is repeated"), { detail })
    ),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.orDie
  )

/** The innermost cause has the words of PostgreSQL or of the system. */
const databaseError = (error: unknown): DatabaseError => {
  let inner = error
  while (inner instanceof Object && "cause" in inner && inner.cause instanceof Object) inner = inner.cause
  return new DatabaseError({ detail: inner instanceof Error ? inner.message : String(inner) })
}
